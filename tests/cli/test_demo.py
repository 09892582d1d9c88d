"""The demo shows every ending for real."""

import json
import re
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from support.run_dirs import made_run

from kotef.cli import demo_scenes
from kotef.cli.main import main
from kotef.report.html import write_page
from kotef.runs.public_record import RecordWriter


def test_the_demo_shows_an_honest_end_without_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "kept"
    done = CliRunner().invoke(main, ["demo", "--case", "impossible", "--keep", str(kept)])
    assert done.exit_code == 0, done.output
    assert "blocked: tests/test_format.py:5 expects `readable(3661) == '1:01:01'`" in done.output
    assert "change the line that is wrong" in (kept / "impossible" / ".sdd" / "issues.md").read_text()


@pytest.mark.matrix
def test_the_demo_shows_every_ending_without_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "kept"
    done = CliRunner().invoke(main, ["demo", "--keep", str(kept)])
    assert done.exit_code == 0, done.output
    assert "No key, no model, no network: a search or a script edits, pytest judges" in done.output
    assert "verified (by search)" in done.output
    assert "return total // 10" in (kept / "solved" / "shop" / "cart.py").read_text()
    assert (kept / "solved" / ".sdd" / "backlog" / "tickets" / "closed" / "01-discount.md").exists()
    assert "blocked: tests/test_format.py:5 expects `readable(3661) == '1:01:01'`" in done.output
    assert "change the line that is wrong" in (kept / "impossible" / ".sdd" / "issues.md").read_text()
    _deleting_the_failing_test_is_refused_and_explained(kept / "cheat", done.output)


def _deleting_the_failing_test_is_refused_and_explained(root: Path, output: str) -> None:
    """What the scene whose scripted model deletes the failing test must leave."""
    (result,) = (json.loads(path.read_text()) for path in root.glob(".sdd/runs/*/result.json"))
    assert (result["outcome"], result["exitCode"], result["failureHistory"]["attempts"]) == (
        "bounded_attempts_exceeded",
        3,
        3,
    )
    assert output.count("  put back before judging: tests/test_cart.py\n  attempt ") == 3
    assert "the run is refused, exit status 3; its entry says why" in output
    entry = (root / ".sdd" / "issues.md").read_text()
    assert "put back to the state before the run, because it judges the work: tests/test_cart.py" in entry
    command = ["git", "status", "--porcelain", "--", "tests", "shop"]
    changed = subprocess.run(command, cwd=root, capture_output=True, check=True)
    assert changed.stdout == b"", "tests and code are as they were"


@pytest.mark.parametrize(("case", "who"), [("solved", "a search"), ("impossible", "a search"), ("cheat", "a script")])
def test_one_case_of_the_demo_can_be_named_and_the_first_line_says_who_edits(
    case: str, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = []

    def play(scene: demo_scenes.Scene, root: Path, *, kept: bool) -> SimpleNamespace:
        played.append((scene.case, root.name, kept))
        return SimpleNamespace(outcome=scene.ends[0])

    monkeypatch.setattr(demo_scenes, "play", play)
    done = CliRunner().invoke(main, ["demo", "--case", case])
    assert (done.exit_code, played) == (0, [(case, case, False)])
    assert f"No key, no model, no network: {who} edits, pytest judges, and every file is real." in done.output


def test_the_demo_opens_the_report_of_each_ending_and_leaves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(scene: demo_scenes.Scene, root: Path, *, kept: bool) -> SimpleNamespace:
        assert kept, "what is shown is not deleted"
        root.mkdir(parents=True)
        run = made_run(root)
        write_page(run)
        RecordWriter(run.path, run.record).update()
        return SimpleNamespace(outcome=scene.ends[0])

    monkeypatch.setattr(demo_scenes, "play", play)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("CI", "true")
    done = CliRunner().invoke(main, ["demo", "--open"])
    assert done.exit_code == 0, done.output
    shown = re.findall(r"the report is (\S+)", done.output)
    assert [Path(path).parents[3].name for path in shown] == ["solved", "impossible", "cheat", "deaf"]
    assert all(Path(path).exists() for path in shown)
    assert f"The workspaces are in {Path(shown[0]).parents[4]}" in done.output


def test_the_demo_never_writes_into_a_directory_with_something_in_it(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x\n")
    done = CliRunner().invoke(main, ["demo", "--keep", str(tmp_path)])
    assert done.exit_code == 2
    assert "not empty" in done.output
