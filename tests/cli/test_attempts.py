"""Any attempt of a run can be seen, put in place and taken back, and nobody's work is lost by it."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.loop import BUG, CHECK, DONE, FIXED, TEST, Agent, Ran, edit, git, kotef, write
from support.openai_server import OpenAIServer, Reply, Request, call, calls
from support.terminal import at_a_terminal

from kotef.cli.main import main
from kotef.files import state_dir
from kotef.workspace import workspace_lock

GOAL = "make add add"
CRLF = b"one\r\ntwo\r\n"
BINARY = bytes(range(256)) * 8


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A dirty repository with one of everything a tree can hold."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "calc.py").write_text(BUG)
    (root / "test_calc.py").write_text(TEST)
    (root / ".gitignore").write_text("__pycache__/\n*.local\n")
    (root / "tool.sh").write_text("#!/bin/sh\n")
    (root / "tool.sh").chmod(0o755)
    (root / "windows.txt").write_bytes(CRLF)
    (root / "image.bin").write_bytes(BINARY)
    (root / "link").symlink_to("calc.py")
    (root / "old").mkdir()
    (root / "old" / "gone.txt").write_text("to be deleted\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    (root / "tool.sh").write_text("#!/bin/sh\n# not committed\n")
    (root / "draft.txt").write_text("not tracked\n")
    (root / "secret.local").write_text("ignored\n")
    return root


def shell(script: str) -> Reply:
    """The coder runs a command, as a program may change what no tool can."""
    return calls(call("run_command", command=f"python -c {json.dumps(script)}"))


EVERYTHING = (
    "import os,pathlib as p; p.Path('tool.sh').chmod(0o644); p.Path('windows.txt').write_bytes(b'one' + bytes([13,10]));"
    "p.Path('image.bin').write_bytes(bytes(range(255,-1,-1))); p.Path('link').unlink(); os.symlink('tool.sh', 'link');"
    "p.Path('old/gone.txt').unlink(); p.Path('old').rmdir(); p.Path('draft.txt').write_text('x'); "
    "p.Path('new dir').mkdir(); p.Path('new dir/ü.txt').write_text('new'); p.Path('secret.local').unlink()"
)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, root: Path) -> Callable[..., Ran]:
    """`run(*replies)`: a run whose coder says these; red unless one of them mends the bug."""

    def go(*replies: Reply, arguments: tuple[str, ...] = (GOAL,), attempts: int = 2) -> Ran:
        with OpenAIServer(Agent(coder=replies)) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            monkeypatch.setenv("KOTEF_MODEL", "scripted")
            bound = ("--max-attempts", str(attempts))
            return kotef(root, "run", *arguments, "--coder", "model", "--check", CHECK, *bound)

    return go


@pytest.fixture
def ran(run: Callable[..., Ran]) -> Ran:
    """Two attempts: the first changes everything there is, the second adds one line."""
    made = run(shell(EVERYTHING), DONE, edit("calc.py", "a - b", "a * b"), DONE)
    assert made.code == 3
    return made


@pytest.fixture
def green(run: Callable[..., Ran]) -> Ran:
    """A verified run of one attempt."""
    made = run(edit("calc.py", "a - b", "a + b"), write("notes.txt", "why\n"), DONE)
    assert made.code == 0
    return made


def everything(root: Path) -> dict[str, tuple[str, object]]:
    """Every file but git's and kotef's own runs: its kind and mode, and its content."""

    def look(path: Path) -> tuple[str, object]:
        if path.is_symlink():
            return "link", path.readlink()
        return "x" if path.stat().st_mode & 0o100 else "-", path.read_bytes()

    return {str(path.relative_to(root)): look(path) for path in sorted(files(root))}


def files(root: Path) -> Iterator[Path]:
    for path in root.rglob("*"):
        parts = path.relative_to(root).parts
        ours = {".git", "__pycache__"}.intersection(parts) or parts[:2] in ((".sdd", "runs"), (".sdd", "issues.md"))
        if not ours and (path.is_symlink() or path.is_file()):
            yield path


def test_an_attempt_is_put_in_place_and_the_run_undone_byte_for_byte(root: Path, ran: Ran) -> None:
    before = everything(root)
    assert (root / "calc.py").read_text() == BUG, "no attempt was better than before"

    first = kotef(root, "apply", ran.run_dir.name, "--attempt", "1")
    assert first.code == 0, first.stderr
    assert f"to go back: kotef apply {ran.run_dir.name} --saved 1" in first.stdout
    assert (root / "link").readlink() == Path("tool.sh")
    assert not os.access(root / "tool.sh", os.X_OK)
    assert (root / "windows.txt").read_bytes() == b"one\r\n"
    assert (root / "image.bin").read_bytes() == bytes(range(255, -1, -1))
    assert (root / "new dir" / "ü.txt").read_text() == "new"
    assert not (root / "old").exists()
    one = everything(root)

    assert kotef(root, "apply", "--last", "--attempt", "2").code == 0
    assert (root / "calc.py").read_text() == BUG.replace("a - b", "a * b")

    undone = kotef(root, "undo", ran.run_dir.name[:12])
    assert undone.code == 0, undone.stderr
    assert everything(root) == before
    assert not (root / "new dir").exists()

    again = kotef(root, "undo", "--last")
    assert again.code == 0
    assert "nothing to do" in again.stdout

    assert kotef(root, "apply", "--last", "--saved", "2").code == 0
    assert everything(root) == one, "what stood there before the second apply"
    assert git(root, "log", "--oneline").count("\n") == 1, "no commit was made"


def test_a_deleted_file_that_git_ignores_comes_back(root: Path, ran: Ran) -> None:
    (root / "secret.local").unlink(missing_ok=True)
    undone = kotef(root, "undo", "--last", "--json")
    assert json.loads(undone.stdout)["broughtBack"] == ["secret.local"]
    assert (root / "secret.local").read_text() == "ignored\n"


def test_a_file_that_git_ignores_is_not_overwritten_but_named(root: Path, ran: Ran) -> None:
    (root / "secret.local").write_text("newer\n")
    undone = kotef(root, "undo", "--last")
    assert undone.code == 0
    said = undone.stdout.replace("\n", " ")
    assert "changed by someone else, and left as they are: secret.local; copies from before the run are in" in said
    assert (root / "secret.local").read_text() == "newer\n"


def test_the_patch_goes_through_a_pipe_into_git_apply(root: Path, ran: Ran, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(root, copy, symlinks=True)
    for attempt in ("1", "2"):
        shown = CliRunner().invoke(main, ["diff", "--attempt", attempt, "--root", str(root)]).stdout_bytes
        assert b"\x1b" not in shown
        assert b"-two\r\n" in shown, "line ends are as they are"
        subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=copy, input=shown, check=True)
        kotef(root, "apply", "--last", "--attempt", attempt)
        assert everything(copy) == everything(root)
        subprocess.run(["git", "apply", "-R", "--whitespace=nowarn", "-"], cwd=copy, input=shown, check=True)


def test_diff_shows_the_attempt_the_run_left_else_its_last(root: Path, ran: Ran, run: Callable[..., Ran]) -> None:
    assert ran.result["treeVisit"] == 0
    last = json.loads(kotef(root, "diff", "--json").stdout)
    assert last["attempt"] == 2
    assert {"path": "calc.py", "added": 1, "removed": 1} in last["files"]
    assert {"path": "image.bin", "added": None, "removed": None} in last["files"]
    assert last["patch"].startswith("diff --git a/calc.py")

    kotef(root, "undo", "--last")
    fixed = run(edit("calc.py", "a - b", "a + b"), DONE)
    assert fixed.code == 0
    stat = kotef(root, "diff", fixed.run_dir.name, "--stat").stdout
    assert stat.splitlines() == [" calc.py | +1 -1", " 1 file changed, +1 -1"]


def test_a_verified_run_is_undone_and_had_again(root: Path, green: Ran) -> None:
    assert kotef(root, "undo", "--last").code == 0
    assert (root / "calc.py").read_text() == BUG
    assert not (root / "notes.txt").exists()
    assert (root / "tool.sh").read_text().endswith("# not committed\n"), "what was not committed stays"
    assert kotef(root, "apply", "--last", "--attempt", "1").code == 0
    assert (root / "calc.py").read_text() == FIXED
    assert (root / "notes.txt").read_text() == "why\n"


def test_a_ticket_that_the_run_closed_is_open_again(root: Path, run: Callable[..., Ran]) -> None:
    place = root / ".sdd" / "backlog" / "tickets"
    (place / "open").mkdir(parents=True)
    ticket = f"# Ticket: 01 Add\n\n## Objective & DoD\n\nadd adds\n\n- [ ] `{CHECK}` passes\n"
    (place / "open" / "01-add.md").write_text(ticket)
    ran = run(edit("calc.py", "a - b", "a + b"), DONE, arguments=("--ticket", "1"))
    assert ran.code == 0
    closed = (place / "closed" / "01-add.md").read_text()

    assert kotef(root, "undo", "--last").code == 0
    assert (place / "open" / "01-add.md").read_text() == ticket
    assert not (place / "closed").exists()
    assert (root / "calc.py").read_text() == BUG

    assert kotef(root, "apply", "--last", "--saved", "1").code == 0
    assert (place / "closed" / "01-add.md").read_text() == closed
    assert kotef(root, "apply", "--last", "--attempt", "1").code == 0
    assert (place / "closed" / "01-add.md").exists(), "putting the files in place moves no ticket"


@pytest.mark.examples(1)
@pytest.mark.parametrize("command", [("undo",), ("apply", "--attempt", "1")])
def test_what_a_person_changed_after_the_run_is_not_touched(root: Path, green: Ran, command: tuple[str, ...]) -> None:
    (root / "calc.py").write_text("mine\n")
    (root / "notes.txt").unlink()
    before = everything(root)

    refused = kotef(root, *command, "--last")

    assert refused.code == 2
    assert "changed since run" in refused.stderr
    assert "calc.py; nothing was touched" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert everything(root) == before

    forced = kotef(root, *command, "--last", "--force")
    assert forced.code == 0
    for turn in range(3):  # every way back that is printed is open, without force
        forced = kotef(root, *forced.stdout.split("to go back: kotef ")[1].split())
        assert forced.code == 0
        assert (everything(root) == before) == (turn % 2 == 0), "nothing is lost by force either"


def test_the_way_back_from_an_undone_kill_is_open_until_somebody_edits(root: Path, green: Ran) -> None:
    (green.run_dir / "result.json").unlink()
    before = everything(root)
    back = kotef(root, "undo", "--last", "--force").stdout.split("to go back: kotef ")[1].split()
    assert kotef(root, *back).code == 0
    assert everything(root) == before
    (root / "calc.py").write_text("mine\n")
    refused = kotef(root, *back[:-1], "2")
    assert (refused.code, (root / "calc.py").read_text()) == (2, "mine\n")


def test_files_that_the_run_never_touched_are_nobodys_business(root: Path, green: Ran) -> None:
    (root / "windows.txt").write_text("mine\n")
    (root / "fresh.txt").write_text("mine too\n")
    assert kotef(root, "undo", "--last").code == 0
    assert (root / "windows.txt").read_text() == "mine\n"
    assert (root / "fresh.txt").read_text() == "mine too\n"


def test_what_a_person_changed_during_the_run_is_left(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the model thinks about its edit, a person saves a file."""
    agent = Agent(coder=[edit("calc.py", "a - b", "a + b"), DONE])

    def answer(request: Request, number: int) -> Reply:
        if "edit_file" in request.tools and not agent.asked["coder"]:
            (root / "draft.txt").write_text("a person goes on\n")
        return agent(request, number)

    with OpenAIServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("KOTEF_MODEL", "scripted")
        ran = kotef(root, "run", GOAL, "--coder", "model", "--check", CHECK)
    assert ran.code == 0, ran.stdout
    undone = kotef(root, "undo", "--last")
    assert undone.code == 0
    assert "draft.txt was changed by someone else during the run" in undone.stdout
    assert (root / "calc.py").read_text() == BUG
    assert (root / "draft.txt").read_text() == "a person goes on\n"


def test_a_later_run_on_the_same_file_comes_first(root: Path, ran: Ran, run: Callable[..., Ran]) -> None:
    earlier = ran.run_dir.name
    later = run(edit("calc.py", "a - b", "a + b"), DONE)
    assert later.code == 0
    refused = kotef(root, "undo", earlier)
    assert refused.code == 2
    assert "calc.py" in refused.stderr
    assert kotef(root, "undo", later.run_dir.name).code == 0
    assert kotef(root, "undo", earlier).code == 0


def test_a_run_that_was_killed_is_only_undone_by_force(root: Path, green: Ran) -> None:
    (green.run_dir / "result.json").unlink()
    refused = kotef(root, "undo", "--last")
    assert refused.code == 2
    assert "was killed, so its edits cannot be distinguished from yours: calc.py, notes.txt" in refused.stderr
    assert kotef(root, "undo", "--last", "--force").code == 0
    assert (root / "calc.py").read_text() == BUG
    assert not (root / "notes.txt").exists()


def test_what_cannot_be_kept_first_is_never_replaced(root: Path, green: Ran) -> None:
    """A person ignores the file the run made: no snapshot holds it any more."""
    (root / "notes.txt").write_text("mine now\n")
    (root / ".git" / "info" / "exclude").write_text("notes.txt\n")
    git(root, "status")
    refused = kotef(root, "apply", "--last", "--attempt", "1", "--force")
    assert refused.code == 2
    assert "notes.txt cannot be kept" in refused.stderr
    assert (root / "notes.txt").read_text() == "mine now\n"


@pytest.mark.examples(1)
@pytest.mark.parametrize("command", [("diff",), ("undo", "--last"), ("apply", "--last", "--attempt", "1")])
def test_while_a_run_is_at_work_nothing_is_touched(root: Path, green: Ran, command: tuple[str, ...]) -> None:
    with workspace_lock(root, "20260131-101500-aaaa"):
        busy = kotef(root, *command)
    assert busy.code == 2
    assert "run 20260131-101500-aaaa" in busy.stderr
    assert (root / "calc.py").read_text() == FIXED


@pytest.mark.examples(1)
@pytest.mark.parametrize("without_git", [False, True])
def test_without_the_snapshots_the_patches_do(root: Path, run: Callable[..., Ran], without_git: bool) -> None:
    if without_git:
        shutil.rmtree(root / ".git")
    green = run(
        edit("calc.py", "a - b", "a - b + 1"), DONE, edit("calc.py", "a - b + 1", "a + b"), shell(EVERYTHING), DONE
    )
    assert green.code == 0
    after = everything(root)
    kept = kotef(root, "diff", "--attempt", "1").stdout
    shutil.rmtree(state_dir(root) / "store.git")

    assert kotef(root, "diff", "--attempt", "1").stdout == kept
    undone = kotef(root, "undo", "--last")
    assert undone.code == 0, undone.stderr
    assert "this is from its patches" in undone.stdout
    assert (root / "calc.py").read_text() == BUG
    assert (root / "image.bin").read_bytes() == BINARY
    assert (root / "windows.txt").read_bytes() == CRLF
    assert (root / "link").readlink() == Path("calc.py")
    assert os.access(root / "tool.sh", os.X_OK)
    assert kotef(root, "apply", "--last", "--attempt", "2").code == 0
    assert everything(root) == after
    assert kotef(root, "apply", "--last", "--attempt", "1").code == 0
    assert "a - b + 1" in (root / "calc.py").read_text()


def test_what_the_patches_cannot_give_is_said(root: Path, green: Ran) -> None:
    shutil.rmtree(state_dir(root) / "store.git")
    (root / "calc.py").write_text("mine\n")
    refused = kotef(root, "undo", "--last")
    assert refused.code == 2
    assert "the snapshots of run" in refused.stderr
    assert "none of its patches fits" in refused.stderr
    (green.run_dir / "visit-1.patch").unlink()
    for command in (("undo", "--last"), ("diff",)):
        gone = kotef(root, *command)
        assert gone.code == 2
        assert "visit-1.patch" in gone.stderr
    assert (root / "calc.py").read_text() == "mine\n"


def test_without_git_all_of_it_works(root: Path, run: Callable[..., Ran]) -> None:
    shutil.rmtree(root / ".git")
    before = everything(root)
    assert run(edit("calc.py", "a - b", "a + b"), DONE).code == 0
    after = everything(root)
    assert kotef(root, "undo").code == 0
    assert everything(root) == before
    assert kotef(root, "apply", "--last", "--attempt", "1").code == 0
    assert everything(root) == after


WRONG = [
    (("apply",), "which run?"),
    (("undo", "2026", "--last"), "both"),
    (("undo", "no-such-run"), "no run is named"),
    (("apply", "--last"), "which attempt?"),
    (("apply", "--last", "--attempt", "1", "--saved", "1"), "--attempt and --saved cannot be combined"),
    (("apply", "--last", "--attempt", "7"), "has no attempt 7; it has attempt 1"),
    (("apply", "--last", "--saved", "7"), "no saved state 7"),
    (("diff", "--attempt", "7"), "has no attempt 7; it has attempt 1"),
    (("apply", "--last", "--attempt", "0"), "--attempt 0: expected a whole number of at least 1"),
]


def test_what_cannot_be_done_is_said_in_one_line(root: Path, green: Ran) -> None:
    for command, said in WRONG:
        refused = kotef(root, *command)
        assert refused.code == 2
        assert said in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
    assert (root / "calc.py").read_text() == FIXED


def test_a_forged_record_leads_nowhere(root: Path, green: Ran) -> None:
    """The run directory lies in the workspace; a coder without a sandbox can write there."""
    (green.run_dir / "visit-0.json").write_text('{"tree": "--output=/tmp/x"}')
    assert kotef(root, "undo", "--last").code == 2
    (green.run_dir / "saved-x.json").write_text("[]")
    (green.run_dir / "left.json").write_text('{"tree": 1}')
    (green.run_dir / "visit-0.json").write_text("[]")
    assert kotef(root, "diff").code == 2
    assert (root / "calc.py").read_text() == FIXED


def test_on_a_terminal_the_patch_is_coloured_and_cannot_steer_it(root: Path, run: Callable[..., Ran]) -> None:
    run(write("evil.txt", "\x1b]0;owned\x07 and more\n"), edit("calc.py", "a - b", "a + b"), DONE)
    shown = at_a_terminal(["diff"], root, {})
    assert "\x1b[32m+    return a + b\x1b[0m" in shown
    assert "\x1b]0;" not in shown
    assert "]0;owned and more" in shown
