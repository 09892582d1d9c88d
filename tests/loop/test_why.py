"""Why a test fails is the same line on the screen of a run, in `kotef check`, in the issue entry and in JUnit."""

from pathlib import Path

from support.loop import DONE, UNITTEST, Agent, kotef, one_bug

WHY = "test_calc.py::Add::test_add: AssertionError: -1 != 5 (test_calc.py:8)"
MESSAGE = "AssertionError: -1 != 5"


def test_a_failing_test_has_one_line_everywhere(unittest_project: Path, run) -> None:
    root = unittest_project
    ran = run(root, Agent(coder=[DONE]), "make add add", "--check", UNITTEST, "--max-attempts", "1")
    assert ran.code == 3
    assert f"    ✗ {WHY}\n" in ran.stdout, ran.stdout
    assert f"    {WHY}\n" in kotef(root, "check", "--check", UNITTEST, "--no-compare").stdout
    assert MESSAGE in kotef(root, "issues", "show").stdout
    assert MESSAGE in kotef(root, "report", "--format", "junit").stdout
    (finished,) = [event for event in ran.events if event["event"] == "check_finished" and event["visit"] == 1]
    assert finished["failures"] == [WHY]


def test_where_no_test_is_named_the_complaint_is(tmp_path: Path, run) -> None:
    root = one_bug(tmp_path / "project")
    check = "echo 'calc.py:2:5: F821 undefined name `second`'; exit 1"
    ran = run(root, Agent(coder=[DONE]), "make it lint", "--check", check, "--max-attempts", "1")
    assert "calc.py:2: F821 undefined name" in ran.stdout or "F821 undefined name `second`" in ran.stdout
