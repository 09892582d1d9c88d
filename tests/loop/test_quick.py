"""Judging is quick: what is known is not judged again, and what is red still is looked at first."""

from pathlib import Path

import pytest
from support.loop import BUG, DONE, FIX, UNITTEST, Agent, Ran, edit, kotef

GOAL = "make add add"
TARGET = f"{UNITTEST} -k '*test_calc.Add.test_add'"
WRONG = edit("calc.py", "a - b", "a * b")
OTHER = """\
import unittest

import calc


class Other(unittest.TestCase):
    def test_other(self):
        self.assertEqual(calc.add(0, 0), 0)
"""
MORE = """\
import unittest

import calc


class More(unittest.TestCase):
    def test_three(self):
        self.assertEqual(calc.add(1, 2), 3)

    def test_zero(self):
        self.assertEqual(calc.add(0, 7), 8)
"""


@pytest.fixture
def project(unittest_project: Path) -> Path:
    """The tests here are about runners: their ids, their lines, their files."""
    return unittest_project


@pytest.fixture
def slow(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose suite counts as one that takes long."""
    monkeypatch.setattr("kotef.nodes.run_checks.QUICK", 0.0)
    (project / "test_other.py").write_text(OTHER)
    return project


def commands(ran: Ran) -> list[str]:
    return [event["command"] for event in ran.events if event["event"] == "check_started"]


def entry(ran: Ran, visit: int) -> dict[str, object]:
    return next(entry for entry in ran.result["failureHistory"]["entries"] if entry["visit"] == visit)


def test_while_a_target_is_red_the_rest_of_a_slow_suite_is_not_run(slow: Path, run) -> None:
    ran = run(slow, Agent(coder=[WRONG, DONE]), GOAL, "--check", UNITTEST, "--max-attempts", "1")
    assert commands(ran)[1:] == [TARGET]
    assert (ran.code, ran.result["missing"], ran.result["checks"][0]["partial"]) == (3, [], True)
    assert "whether others broke is unknown" in ran.result["evidence"]
    assert ran.result["checks"][0]["command"] == UNITTEST
    assert "the rest was not run" in ran.stdout


def test_the_history_entry_is_the_one_of_a_full_run(slow: Path, run, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = (GOAL, "--check", UNITTEST, "--max-attempts", "1")
    first = entry(run(slow, Agent(coder=[WRONG, DONE]), *arguments), 1)
    (slow / "calc.py").write_text(BUG)
    monkeypatch.setattr("kotef.nodes.run_checks.QUICK", 60.0)
    whole_run = run(slow, Agent(coder=[WRONG, DONE]), *arguments)
    whole = entry(whole_run, 1)
    assert whole_run.result["checks"][0]["partial"] is False
    assert {**first, "log": ""} == {**whole, "log": ""}


def test_once_the_targets_are_green_the_whole_suite_judges(slow: Path, run) -> None:
    breaks = edit("calc.py", "return a - b", "return a + b if a else 1")
    ran = run(slow, Agent(coder=[breaks, DONE, edit("calc.py", " if a else 1", ""), DONE]), GOAL, "--check", UNITTEST)
    assert (ran.code, ran.result["visits"]) == (0, 2)
    assert commands(ran)[1:3] == [TARGET, UNITTEST]
    assert "test_other.py::Other::test_other" in entry(ran, 1)["tests"]


def test_a_visit_with_known_regressions_is_better_than_one_where_they_are_unknown(slow: Path, run) -> None:
    """The first fixes the target and breaks another; the second leaves the target red: nobody knows what it broke."""
    breaks = edit("calc.py", "return a - b", "return a + b if a else 1")
    worse = edit("calc.py", "return a + b if a else 1", "return 7")
    agent = Agent(coder=[breaks, DONE, worse, DONE])
    ran = run(slow, agent, GOAL, "--check", UNITTEST, "--max-attempts", "2")
    kept = [event for event in ran.events if event["event"] == "restored"]
    assert (ran.code, ran.result["treeVisit"] in (0, 1), len(kept)) == (3, True, 1)


def test_the_same_tree_is_judged_once_and_no_cache_forgets(project: Path, run) -> None:
    """A run that failed is left at its start; the next one on it takes its baseline over."""
    arguments = (GOAL, "--check", UNITTEST, "--max-attempts", "1")
    first = run(project, Agent(coder=[DONE]), *arguments).result
    again = run(project, Agent(coder=[FIX, DONE]), *arguments)
    assert again.code == 0
    assert f"baseline reused from {first['runId']}, judged 20" in again.stdout
    assert len(commands(again)) == 1, "the visit only"
    assert again.result["targets"] == first["targets"] == ["test_calc.py::Add::test_add"]
    (project / "calc.py").write_text(BUG)
    fresh = run(project, Agent(coder=[FIX, DONE]), *arguments, "--no-cache")
    assert (fresh.code, len(commands(fresh))) == (0, 2)
    assert "baseline reused" not in fresh.stdout


def test_another_goal_chooses_its_own_targets_from_a_reused_baseline(project: Path, run) -> None:
    (project / "test_other.py").write_text(OTHER.replace("0), 0)", "0), 1)"))
    first = run(project, Agent(coder=[DONE]), "x", "--check", UNITTEST, "--max-attempts", "1").result
    again = run(project, Agent(coder=[FIX, DONE]), "make test_add pass", "--check", UNITTEST, "--max-attempts", "1")
    assert len(first["targets"]) == 2
    assert (again.code, again.result["targets"]) == (0, ["test_calc.py::Add::test_add"])
    assert "baseline reused" in again.stdout


def test_a_broken_environment_is_never_taken_over(project: Path, run) -> None:
    for _ in range(2):
        ran = run(project, Agent(), GOAL, "--check", "no-such-tool-anywhere --now")
        assert (ran.code, ran.result["reason"]) == (5, "command_not_found")
        assert "baseline reused" not in ran.stdout


def test_a_red_attempt_tells_how_it_compares_with_the_one_before(project: Path, run) -> None:
    (project / "test_more.py").write_text(MORE)
    agent = Agent(coder=[FIX, DONE, DONE])
    ran = run(project, agent, "all of it", "--check", UNITTEST, "--max-attempts", "2")
    one, two = entry(ran, 1), entry(ran, 2)
    assert "compared with the state before the run: 1 of 3 still fails, none new" in str(one["summary"])
    assert "compared with the attempt before: 1 of 1 still fails, none new" in str(two["summary"])
    assert one["fingerprint"] == two["fingerprint"]
    second_plan = agent.requests("planner")[1].text
    assert "1 of 3 still fails, none new" in second_plan, "the planner is told"
    assert "1 of 3 still fails, none new" in agent.requests("coder")[-1].text, "and the coder"


def test_no_file_of_the_workspace_remembers_a_baseline(project: Path, run) -> None:
    run(project, Agent(coder=[DONE]), GOAL, "--check", UNITTEST, "--max-attempts", "1")
    assert kotef(project, "runs").stdout
    assert not list(project.rglob("baselines"))
