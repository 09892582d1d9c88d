"""A plan made by code says what it is about: which tests, which command, or what the verdict says."""

from typing import Any

import pytest

from kotef.failures.history import FailureEntry, FailureHistory
from kotef.nodes.planner import plan_by_code
from kotef.sdd.spec import Spec
from kotef.settings import Limits
from kotef.state import AgentState, Task, Usage


def planned(**facts: Any) -> str:
    known = {"visit": 0, "check": "pytest", "command": "pytest -q", "exit_code": 1, "kind": "test_failure"}
    entry = FailureEntry(**(known | {"summary": "red\nmore", "fingerprint": "f"} | facts))
    state: AgentState = {
        "task": Task(run_id="r", goal="g", spec=Spec(), checks=(), limits=Limits()),
        "failure_history": FailureHistory(entries=(entry,)),
        "usage": Usage(),
        "snapshots": {},
        "tried": frozenset(),
        "visits": {},
    }
    (step,) = plan_by_code(state, 1).steps
    assert (step.addresses, step.failure) == ("f", "red\nmore")
    return step.description


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        (("a",), "make a pass"),
        (("a", "b"), "make a and b pass"),
        (("a", "b", "c"), "make a, b and c pass"),
        (("a", "b", "c", "d", "e"), "make a, b, c and 2 more pass"),
        ((), "make `pytest -q` succeed"),
    ],
)
def test_a_step_names_the_tests_it_is_about(tests: tuple[str, ...], said: str) -> None:
    assert planned(tests=tests) == said


def test_what_no_command_reported_is_told_by_what_it_is() -> None:
    verdict = {"check": "verdict", "command": "", "exit_code": 0}
    assert planned(**verdict, tests=("a", "b")) == "make a and b run and pass again"
    assert planned(**verdict) == "meet the verdict: red"
    assert planned(**(verdict | {"check": "put_back"})) == "solve it without what was red"
    assert planned(**(verdict | {"check": "review"})) == "answer the review: red"
