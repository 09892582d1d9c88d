"""Whatever the coder's commands do to the user's git or work, without a sandbox: it is as before, or named with the way back."""

import subprocess
from pathlib import Path

import pytest
from support.confined import need
from support.loop import CHECK, DONE, FIX, FIXED, Agent, Ran, contents, git
from support.openai_server import Reply, call, calls

ASKED = ("make add add", "--check", CHECK, "--max-attempts", "1")


def shell(root: Path, script: str) -> Reply:
    """A command that runs a script: the policy knows its words no more than it would those of a Makefile."""
    (root.parent / "script.sh").write_text(script)
    return calls(call("run_command", command=f"sh {root.parent}/script.sh"))


@pytest.fixture
def work(project: Path) -> Path:
    """A project with a second branch, a tag, a stash, something staged, uncommitted and untracked."""
    (project / "kept.py").write_text("one = 1\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "second")
    git(project, "branch", "feature")
    git(project, "tag", "v1")
    for number in (1, 2):
        (project / "kept.py").write_text(f"stashed = {number}\n")
        git(project, "stash", "push", "-q", "-m", f"stash {number}")
    (project / "kept.py").write_text("staged = 1\n")
    git(project, "add", "kept.py")
    (project / "kept.py").write_text("uncommitted = 1\n")
    (project / "untracked.txt").write_text("mine\n")
    return project


def state(root: Path) -> dict[str, str]:
    asked = {
        "HEAD": ("rev-parse", "HEAD"),
        "branch": ("symbolic-ref", "HEAD"),
        "refs": ("for-each-ref",),
        "index": ("ls-files", "--stage"),
        "stash": ("stash", "list", "--format=%H %gs"),
        "reflog": ("reflog", "--format=%H %gs"),
        "config": ("config", "--local", "--list"),
    }
    facts = {name: git(root, *command) for name, command in asked.items()}
    git(root, "fsck", "--no-dangling", "--connectivity-only")
    return facts


COMMIT = "git -c user.name=x -c user.email=x@localhost commit -q"
HISTORY = {
    "amend": f"{COMMIT} --allow-empty --amend -m other",
    "commit": f"git add -A; {COMMIT} -m everything",
    "delete branch": "git branch -D feature; git tag -d v1",
    "update ref": "git update-ref refs/heads/main $(git rev-parse HEAD~1); git update-ref refs/heads/evil HEAD",
    "detach": "git checkout -q --detach HEAD~1 2>/dev/null || git update-ref --no-deref HEAD HEAD~1",
    "branch in a branch": "git branch -D feature; git branch feature/a HEAD~1",
    "drop stash": "git stash drop -q; git stash clear",
    "gc": f"git stash clear; git branch -D feature; {COMMIT} --allow-empty --amend -m other; "
    "git reflog expire --expire=now --expire-unreachable=now --all; git gc -q --prune=now",
    "index": "git rm -q --cached kept.py; git add -N untracked.txt",
    "rm": "rm -rf .git",
    "objects": "rm -rf .git/objects .git/refs .git/HEAD",
}


@pytest.mark.examples(2)
@pytest.mark.parametrize("script", HISTORY.values(), ids=HISTORY)
def test_branches_stashes_index_and_objects_are_as_before_the_run(work: Path, run, script: str) -> None:
    before = state(work)
    ran = run(work, Agent(coder=[shell(work, script), FIX, DONE]), *ASKED)
    assert (ran.code, ran.result["outcome"]) == (0, "verified")
    assert state(work) == before
    said = [event["text"] for event in ran.events if event["event"] == "notice"]
    assert any("put back after a command" in text for text in said)


WORK = {
    "rm": "rm -rf kept.py untracked.txt",
    "everything": "rm -rf * .git*",
    "clean": "git clean -fdxq",
    "reset": "git reset -q --hard",
    "stash": "git stash -uq; git stash drop -q",
    "checkout": "git checkout -q -- . ; git clean -fdq",
}


@pytest.mark.examples(2)
@pytest.mark.parametrize("script", WORK.values(), ids=WORK)
def test_uncommitted_work_survives_a_run_that_fails(work: Path, run, script: str) -> None:
    before, history = contents(work), state(work)
    ran = run(work, Agent(coder=[shell(work, script), DONE]), *ASKED)
    assert ran.code == 3, ran.stderr
    assert contents(work) == before
    assert state(work) == history


def test_a_verified_run_names_the_uncommitted_work_it_took_away_and_the_way_back(work: Path, run) -> None:
    ran = run(work, Agent(coder=[shell(work, "git reset -q --hard; rm untracked.txt"), FIX, DONE]), *ASKED)
    assert (ran.code, (work / "calc.py").read_text()) == (0, FIXED)
    (said,) = [text for text in ran.result["notices"] if "uncommitted work from" in text]
    assert "kept.py, untracked.txt" in said
    way = said.split("`")[1]
    assert way.startswith("git --git-dir=")
    for path, text in (("kept.py", "uncommitted = 1\n"), ("untracked.txt", "mine\n")):
        command = way.replace("PATH", path)
        assert subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout == text


def test_uncommitted_work_that_a_run_builds_on_is_not_called_lost(work: Path, run) -> None:
    ran = run(work, Agent(coder=[FIX, DONE]), *ASKED)
    assert not [text for text in ran.result["notices"] if "uncommitted work from" in text]


def test_what_a_user_does_between_commands_is_not_undone(work: Path, run) -> None:
    def coder(_: object, number: int) -> Reply:
        if number == 1:
            git(work, "branch", "mine")
        return (
            calls(call("run_command", command="true")),
            calls(call("run_command", command="git status")),
            FIX,
            DONE,
        )[number]

    ran = run(work, Agent(coder=coder), *ASKED)
    assert ran.code == 0
    assert "mine" in git(work, "branch")
    assert not [event for event in ran.events if "put back after" in event.get("text", "")], "git status is no change"


def test_a_worktree_has_its_own_head_and_shares_the_branches(work: Path, run, tmp_path: Path) -> None:
    place = tmp_path / "tree"
    git(work, "worktree", "add", "-q", str(place), "feature")
    before = state(place)
    script = f"{COMMIT} --allow-empty -m other; git branch -D v 2>/dev/null; git stash clear; git branch -D main"
    ran: Ran = run(place, Agent(coder=[shell(place, script), FIX, DONE]), *ASKED)
    assert ran.code == 0, ran.stderr
    assert state(place) == before


@pytest.mark.examples(1)
@pytest.mark.parametrize("script", [HISTORY["rm"], "mv .git .git2", WORK["everything"], "rm -rf .git .sdd"])
def test_at_the_landlock_level_too(work: Path, run, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """There nothing keeps a command from `.git`: rules of Landlock only ever add."""
    need("landlock", work)
    monkeypatch.setenv("KOTEF_SANDBOX", "landlock")
    before = state(work)
    wipe = calls(call("run_command", command="sh .scripts/wipe.sh"))
    (work / ".scripts").mkdir()
    (work / ".scripts" / "wipe.sh").write_text(f"{script}\n")
    ran = run(work, Agent(coder=[wipe, FIX, DONE]), *ASKED)
    assert ran.result["outcome"] in {"verified", "bounded_attempts_exceeded"}, ran.stdout
    assert state(work) == before
    assert (work / "untracked.txt").exists() or "untracked.txt" in ran.stdout
