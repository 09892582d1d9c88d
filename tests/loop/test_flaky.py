"""Chance is told from failure, before the run and after an edit."""

from pathlib import Path

import pytest
from support import loop
from support.loop import BUG, DONE, FIX, PYTEST, Agent, edit, unchanged

GOAL = "make add add"
SEEN = "SEEN = []\n\n\n" + BUG
LEAKY = "import calc\n\n\ndef test_a_uses():\n    calc.add(0, 0)\n    {}\n\n\ndef test_b_starts_fresh():\n    assert not calc.SEEN\n"


@pytest.fixture
def project(unittest_project: Path) -> Path:
    """The tests here are about runners: their ids, their lines, their files."""
    return unittest_project


@pytest.fixture(autouse=True)
def _as_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "RERUNS", ())


@pytest.fixture
def leaky(project: Path) -> Path:
    """One test leaves something behind that another trips over."""
    (project / "calc.py").write_text(SEEN)
    (project / "test_state.py").write_text(LEAKY.format("calc.SEEN.append(1)"))
    return project


@pytest.fixture
def sound(project: Path) -> Path:
    """The same tests, but nothing leaks yet."""
    (project / "calc.py").write_text(SEEN)
    (project / "test_state.py").write_text(LEAKY.format("pass"))
    return project


def test_a_test_flaky_before_the_run_is_neither_a_target_nor_in_the_way(leaky: Path, run) -> None:
    ran = run(leaky, Agent(coder=[FIX, DONE]), GOAL, "--check", PYTEST)
    assert (ran.code, ran.result["outcome"]) == (0, "verified")
    assert ran.result["flaky"] == ["test_state.py::test_b_starts_fresh"]
    assert ran.result["preexisting"] == ["test_state.py::test_b_starts_fresh"]
    assert ran.result["targets"] == ["test_calc.py::Add::test_add"]
    assert ran.result["fixed"] == ["test_calc.py::Add::test_add"]
    assert "Flaky" in (ran.run_dir / "report.md").read_text()
    assert "failed with the others, passed alone: test_state.py::test_b_starts_fresh" in ran.stdout


def test_reruns_0_takes_every_failure_at_its_word(leaky: Path, run) -> None:
    ran = run(leaky, Agent(coder=[FIX, DONE]), GOAL, "--check", PYTEST, "--reruns", "0", "--max-attempts", "1")
    assert (ran.code, ran.result["flaky"]) == (3, [])
    assert "test_state.py::test_b_starts_fresh" in ran.result["targets"]
    assert not [event for event in ran.events if event["event"] == "rerun"]


def test_a_flaky_test_that_is_all_that_was_named_is_the_target(leaky: Path, run) -> None:
    stable = edit("calc.py", "SEEN = []", "SEEN = ()")
    ran = run(leaky, Agent(coder=[stable, DONE]), "fix test_b_starts_fresh", "--check", PYTEST, "--max-attempts", "1")
    assert ran.result["targets"] == ["test_state.py::test_b_starts_fresh"]


def test_an_edit_that_leaks_state_is_red_and_says_flaky(sound: Path, run) -> None:
    leaks = edit("calc.py", "    return a - b", "    SEEN.append(a)\n    return a + b")
    ran = run(sound, Agent(coder=[leaks, DONE]), GOAL, "--check", PYTEST, "--max-attempts", "1")
    assert (ran.code, ran.result["outcome"]) == (3, "bounded_attempts_exceeded")
    assert ran.result["flaky"] == ran.result["broken"] == ["test_state.py::test_b_starts_fresh"]
    judged = [event for event in ran.events if event["event"] == "verified"][-1]
    assert judged["detail"] == "flaky"
    assert "passes alone" in judged["summary"]
    assert "test_state.py::test_b_starts_fresh" in judged["summary"]
    assert "flaky" in [entry["detail"] for entry in ran.result["failureHistory"]["entries"]]


def test_a_regression_that_fails_alone_as_well_is_no_matter_of_chance(sound: Path, run) -> None:
    breaks = edit("calc.py", "SEEN = []", "SEEN = [1]")
    ran = run(sound, Agent(coder=[breaks, DONE]), GOAL, "--check", PYTEST, "--max-attempts", "1")
    assert (ran.code, ran.result["flaky"]) == (3, [])
    assert [event for event in ran.events if event["event"] == "verified"][-1]["detail"] == "regression"


def test_unittest_names_are_run_again_as_well(project: Path, run) -> None:
    (project / "calc.py").write_text(SEEN.replace("a - b", "a + b"))
    (project / "test_state.py").write_text(
        "import unittest\n\nimport calc\n\n\nclass S(unittest.TestCase):\n    def test_a(self):\n        calc.add(0, 0)\n\n"
        "    def test_b(self):\n        self.assertFalse(calc.SEEN)\n"
    )
    leaks = edit("calc.py", "    return a + b", "    SEEN.append(a)\n    return a + b")
    agent = Agent(coder=[leaks, DONE])
    ran = run(project, agent, "log every sum", "--check", "python -m unittest -q", "--max-attempts", "1")
    assert ran.result["flaky"] == ["test_state.py::S::test_b"]
    assert [event for event in ran.events if event["event"] == "verified"][-1]["detail"] == "flaky"


def test_a_check_that_says_nothing_of_single_tests_is_believed(leaky: Path, run) -> None:
    (leaky / "Makefile").write_text(f"test:\n\t{PYTEST}\n")
    with unchanged(leaky):
        ran = run(leaky, Agent(coder=[DONE]), GOAL, "--check", "make test", "--max-attempts", "1")
    assert (ran.code, ran.result["flaky"]) == (3, [])
