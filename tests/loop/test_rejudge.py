"""What do the rules of now say of what a run's checks printed?"""

import json
from pathlib import Path
from typing import Any

import pytest
from support.loop import DONE, FIX, UNITTEST, Agent, edit, kotef, unchanged, write

from kotef.classification import Diagnosis

ARGUMENTS = ("make add right", "--check", UNITTEST)
NEW_TEST = """\
import unittest
from calc import add
class More(unittest.TestCase):
    def test_more(self):
        self.assertEqual(add(1, 1), 2)
"""


@pytest.fixture
def project(unittest_project: Path) -> Path:
    """The tests here are about runners: their ids, their lines, their files."""
    return unittest_project


def rejudged(root: Path) -> tuple[int, dict[str, Any]]:
    with unchanged(root):
        done = kotef(root, "rejudge", "--json")
    return done.code, json.loads(done.stdout)


def test_by_the_same_rules_every_visit_is_judged_as_it_was(project: Path, run: Any) -> None:
    done = run(
        project, Agent([edit("calc.py", "a - b", "a * b"), DONE, edit("calc.py", "a * b", "a + b"), DONE]), *ARGUMENTS
    )
    assert done.code == 0
    code, found = rejudged(project)
    assert code == 0
    assert found["same"]
    assert [visit["now"]["passed"] for visit in found["visits"]] == [False, False, True]
    assert all(check["now"]["fingerprint"] for check in found["checks"] if not check["now"]["passed"])
    assert "baseline: failed: red, as then" in kotef(project, "rejudge").stdout


def test_a_new_test_that_proved_the_goal_proves_it_still(project: Path, run: Any) -> None:
    (project / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    script = [write("test_more.py", NEW_TEST), DONE]
    done = run(project, Agent(script, reviewer=[]), "add a test", "--check", UNITTEST, "--max-attempts", "1")
    assert done.code == 3, "it passes on the old code as well, so that it proves nothing"
    assert rejudged(project)[0] == 0


def test_another_rule_shows_as_a_difference_and_nothing_is_run(
    project: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(project, Agent([FIX, DONE]), *ARGUMENTS)

    def other(*_: Any, **__: Any) -> Diagnosis:
        return Diagnosis(kind="runtime_error", detail="another", summary="s", fingerprint="0" * 12)

    def forbidden(*_: Any, **__: Any) -> None:
        raise AssertionError("a command was run")

    monkeypatch.setattr("kotef.checks.runner.classify", other)
    monkeypatch.setattr("kotef.runs.executor.run_check", forbidden)
    code, found = rejudged(project)
    assert code == 3
    baseline = found["checks"][0]
    assert (baseline["visit"], baseline["then"]["kind"]) == (0, "test_failure")
    assert (baseline["now"]["kind"], baseline["now"]["detail"]) == ("runtime_error", "another")
    shown = kotef(project, "rejudge")
    assert shown.code == 3
    assert "→ failed: runtime_error/another" in shown.stdout
    assert "some verdicts differ" in shown.stdout


def test_a_verdict_that_is_otherwise_is_shown(project: Path, run: Any) -> None:
    done = run(project, Agent([FIX, DONE]), *ARGUMENTS)
    place = done.run_dir / "judged-1.json"
    judging = json.loads(place.read_bytes())
    judging["changed"] = []
    place.write_text(json.dumps(judging))
    code, found = rejudged(project)
    assert code == 3
    visit = found["visits"][1]
    assert (visit["then"]["passed"], visit["now"]["passed"]) == (True, False)
    assert visit["now"]["detail"] == "no_proof_of_work"


def test_outputs_that_are_gone_or_damaged_are_named(project: Path, run: Any) -> None:
    done = run(project, Agent([FIX, DONE]), *ARGUMENTS)
    (done.run_dir / "judged-1.json").write_text("{")
    code, found = rejudged(project)
    assert code == 0
    assert found["notices"] == ["the outputs of visit 1 cannot be read"]
    (done.run_dir / "judged-0.json").unlink()
    said = kotef(project, "rejudge")
    assert said.code == 2
    assert "has kept no outputs to judge" in said.stderr


def test_what_is_kept_is_its_owners_alone(project: Path, run: Any) -> None:
    done = run(project, Agent([FIX, DONE]), *ARGUMENTS)
    assert (done.run_dir / "judged-1.json").stat().st_mode & 0o777 == 0o600
