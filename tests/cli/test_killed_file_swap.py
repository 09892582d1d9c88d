"""A run killed in its second look left other contents in place: every command puts that right before it does its work."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.loop import BUG, CHECK, DONE, FIX, FIXED, TEST, Agent, Ran, git, kotef
from support.openai_server import OpenAIServer

from kotef.workspace import SWAP_MARK, Snapshots, begin_file_swap, workspace_lock


@pytest.fixture
def killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """A run that mended the bug and was killed before that was judged, while the old code stood in for the new."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "calc.py").write_text(BUG)
    (root / "test_calc.py").write_text(TEST)
    (root / ".gitignore").write_text("__pycache__/\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    with OpenAIServer(Agent(coder=[FIX, DONE])) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("KOTEF_MODEL", "scripted")
        ran = kotef(root, "run", "make add add", "--check", CHECK, "--coder", "model")
    assert ran.code == 0
    before = json.loads((ran.run_dir / "visit-0.json").read_text())["tree"]
    for name in ("result.json", "report.md", "left.json", "visit-1.json"):
        (ran.run_dir / name).unlink()
    snapshots = Snapshots.open(root)
    begin_file_swap(ran.run_dir, snapshots, tree=snapshots.take(), other=before, paths=["calc.py"], texts={}, unheld={})
    assert (root / "calc.py").read_text() == BUG
    return ran


COMMANDS: dict[str, tuple[str, ...]] = {
    "check": ("check", "--check", CHECK),
    "diff": ("diff",),
    "apply": ("apply", "--last", "--attempt", "1"),
    "undo": ("undo", "--last", "--force"),
    "run": ("run", "another thing", "--check", CHECK, "--coder", "fixers"),
}


@pytest.mark.examples(1)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_puts_the_real_files_back_first_and_says_so(killed: Ran, name: str) -> None:
    was = killed.run_dir
    done = kotef(killed.root, *COMMANDS[name])

    assert not (was / SWAP_MARK).exists()
    assert f"run {was.name} was killed during a second judgement; 1 file put back" in done.stdout + done.stderr
    assert (killed.root / "calc.py").read_text() == (BUG if name == "undo" else FIXED)


def test_check_judges_the_real_files(killed: Ran) -> None:
    assert kotef(killed.root, "check", "--check", CHECK, "--no-compare").code == 0


def test_an_attempt_that_was_killed_unjudged_can_be_seen_and_put_in_place(killed: Ran) -> None:
    shown = kotef(killed.root, "diff", "--attempt", "1")
    (killed.root / "calc.py").write_text(BUG)
    placed = kotef(killed.root, "apply", "--last", "--attempt", "1", "--force")

    assert "+    return a + b" in shown.stdout
    assert (placed.code, (killed.root / "calc.py").read_text()) == (0, FIXED)


def test_what_somebody_wrote_since_is_left_and_named(killed: Ran) -> None:
    (killed.root / "calc.py").write_text("mine = 1\n")

    done = kotef(killed.root, "diff")

    assert "kept changes made since: calc.py" in done.stderr
    assert (killed.root / "calc.py").read_text() == "mine = 1\n"


def test_a_run_at_work_is_not_disturbed(killed: Ran) -> None:
    with workspace_lock(killed.root, "another"):
        done = kotef(killed.root, "diff")

    assert done.code == 2
    assert "is working here" in done.stderr
    assert (killed.run_dir / SWAP_MARK).exists()


@pytest.mark.examples(1)
@pytest.mark.parametrize("spoil", [lambda mark: mark.write_text("{"), lambda mark: mark.write_text("[]")])
def test_a_mark_that_cannot_be_read_stops_the_command_with_a_way_out(killed: Ran, spoil: Callable[[Path], int]) -> None:
    spoil(killed.run_dir / SWAP_MARK)

    done = kotef(killed.root, "check", "--check", CHECK)

    assert done.code == 5
    assert "correct the files by hand" in done.stderr
