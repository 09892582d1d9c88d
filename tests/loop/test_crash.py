"""A defect of kotef itself ends a run as everything else does: a status, a result, one entry, and its traceback."""

from pathlib import Path

import pytest
from support.loop import UNITTEST, kotef

from kotef.nodes import planner


def test_a_crash_leaves_its_traceback_one_line_and_one_entry(
    unittest_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("nobody thought of this")

    with monkeypatch.context() as defect:
        defect.setattr(planner, "decide", broken)
        ran = kotef(unittest_project, "run", "make add add", "--check", UNITTEST, "--coder", "search")
    assert (ran.code, ran.result["outcome"], ran.result["exitCode"]) == (1, "crashed", 1)
    trace = (ran.run_dir / "traceback.txt").read_text()
    assert trace.startswith("Traceback")
    assert "ZeroDivisionError: nobody thought of this" in trace
    lines = ran.stdout.splitlines()
    assert f"  traceback: .sdd/runs/{ran.run_dir.name}/traceback.txt" in lines
    (advice,) = [line for line in lines if line.startswith("  next:")]
    assert "report this defect" in advice
    assert "traceback.txt" in advice
    assert "Traceback (most recent" not in ran.stdout + ran.stderr
    assert [(entry["outcome"], entry["state"]) for entry in ran.issues] == [("crashed", "open")]
    assert "traceback.txt" in ran.issues[0]["follow_up"]
    assert kotef(unittest_project, "resume", "--last").code == 0, "what is mended goes on"
