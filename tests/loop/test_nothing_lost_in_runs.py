"""A failed run whose coder deleted everything restores it; a verified run names what is gone."""

from pathlib import Path

import pytest
from support.belongings import CLEAN, REPOSITORIES, belongings, furnish
from support.confined import need
from support.loop import CHECK, DONE, FIX, Agent, git, kotef
from support.openai_server import Reply, call, calls

ASKED = ("make add add", "--check", CHECK, "--max-attempts", "1")
EVERYTHING = "chmod -R u+rwx . 2>/dev/null; rm -rf * .[!.]*"
LEVELS = ("off", *(pytest.param(level, marks=pytest.mark.hostile) for level in ("bwrap", "landlock")))


def shell(root: Path, script: str) -> Reply:
    """A command that runs a script, so that the command policy does not see the script's words."""
    (root / ".scripts").mkdir(exist_ok=True)
    (root / ".scripts" / "all.sh").write_text(script)
    return calls(call("run_command", command="sh .scripts/all.sh"))


@pytest.mark.parametrize("level", LEVELS)
def test_a_failed_run_restores_everything_that_its_coder_deleted(
    project: Path, run, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if level != "off":
        need("landlock" if level == "landlock" else "bwrap", project)
    monkeypatch.setenv("KOTEF_SANDBOX", level)
    furnish(project)
    deleting = shell(project, EVERYTHING)
    before, head = belongings(project), git(project, "rev-parse", "HEAD")

    ran = run(project, Agent(coder=[deleting, DONE]), *ASKED)

    assert (ran.code, ran.result["outcome"]) == (3, "bounded_attempts_exceeded"), ran.stdout
    after = belongings(project)
    differ = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert differ <= {CLEAN, f"{CLEAN}/.git"}, ran.stdout
    assert git(project, "rev-parse", "HEAD") == head
    said = ran.stdout.replace("\n", " ")
    assert f"{CLEAN}/" in said, "the terminal names what is not restored"
    assert "all edits are undone" not in said
    assert "so the edits are undone, except for the paths above (1 path)" in said


def test_all_edits_are_undone_is_printed_only_if_nothing_differs(project: Path, run) -> None:
    (project / ".gitignore").write_text("__pycache__/\n.env\n")
    (project / ".env").write_text("SECRET=1\n")
    (project / ".env").chmod(0o600)
    ran = run(project, Agent(coder=[shell(project, "echo x > .env; chmod 755 . ; rm -rf calc.py"), DONE]), *ASKED)
    assert (project / ".env").read_text() == "SECRET=1\n"
    said = ran.stdout.replace("\n", " ")
    assert "all edits are undone" in said
    assert "put back: .env; the replaced content is in" in said


def test_refs_stash_and_hooks_of_repositories_inside_are_put_back_after_a_command(project: Path, run) -> None:
    furnish(project)
    hook = "echo x > $(git rev-parse --git-dir)/hooks/post-commit"
    rewriting = f"git add -A; git stash clear; git branch -f other HEAD; git branch no; {hook}"
    deleting = shell(
        project, f"for r in {' '.join(REPOSITORIES)}; do (cd $r && {rewriting}; rm -rf .git/objects .git/refs); done"
    )
    before = {path: facts for path, facts in belongings(project).items() if path.endswith("/.git")}
    ran = run(project, Agent(coder=[deleting, FIX, DONE]), *ASKED)
    assert ran.result["outcome"] == "verified", ran.stdout
    assert {path: facts for path, facts in belongings(project).items() if path.endswith("/.git")} == before
    assert not list(project.glob("**/hooks/post-commit"))
    assert "git are the user's" in " ".join(each.get("text", "") for each in ran.events)


def test_a_verified_run_names_lost_work_and_undo_restores_it(project: Path, run) -> None:
    furnish(project)
    (project / "kept.py").write_text("uncommitted = 1\n")
    (project / "kept.py").chmod(0o640)
    script = "rm -rf kept.py sub/untracked.txt empty inner/deep; echo x > .env; echo x > wt/a.txt; chmod 777 src"
    deleting = shell(project, script)
    before = belongings(project)
    ran = run(project, Agent(coder=[deleting, FIX, DONE]), *ASKED)
    assert ran.result["outcome"] == "verified", ran.stdout
    said = " ".join(ran.stdout.split())
    assert "uncommitted work from before the run is gone from kept.py" in said
    changed = "changed by the run outside its snapshots (ignored by git, or in a repository inside the workspace)"
    assert f"{changed}: .env, " in said
    assert "sub/untracked.txt, wt/a.txt" in said
    assert f"kotef undo {ran.run_dir.name}" in said.replace("- ", "-")

    undone = kotef(project, "undo", "--last")

    assert undone.code == 0, undone.stderr
    assert belongings(project) == before


@pytest.mark.examples(1)
@pytest.mark.parametrize("name", [".gitattributes", ".gitignore", "pkg/.gitignore"])
def test_a_pipe_that_would_block_git_is_moved_away_and_the_run_continues(tmp_path: Path, name: str) -> None:
    root = tmp_path / "project"
    (root / "pkg").mkdir(parents=True)
    (root / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (root / "pkg" / "mine.txt").write_text("mine\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")

    check = "python -c 'import calc; assert calc.add(1, 1) == 2'"
    evil = f"sh -c 'rm -f pkg/mine.txt; mkfifo {name}' {{brief}}"
    ran = kotef(root, "run", "make add add", "--check", check, "--coder", evil, "--max-attempts", "1")

    assert (ran.code, ran.result["outcome"]) == (3, "bounded_attempts_exceeded"), ran.stderr
    assert not (root / name).exists()
    assert (root / "pkg" / "mine.txt").read_text() == "mine\n"
    assert f"{name} was a special file" in ran.stdout
