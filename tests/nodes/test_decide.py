"""Every row of `decide`, and that no model has a part in it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.checks.model import Check
from kotef.checks.verification import CheckVerdict, Verification
from kotef.failures.history import FailureEntry, FailureHistory
from kotef.nodes.decide import NEEDS_REVIEW, decide, no_progress
from kotef.sdd.spec import Spec
from kotef.settings import Limits
from kotef.state import AgentState, Edits, Spent, Task, Usage

CHECK = Check(name="pytest", command="pytest -q", role="test", origin="option")


def entry(visit: int, fingerprint: str = "f", **fields: Any) -> FailureEntry:
    base = {"check": "pytest", "command": "pytest -q", "exit_code": 1, "kind": "test_failure", "summary": "red"}
    return FailureEntry(visit=visit, fingerprint=fingerprint, **(base | fields))


def verification(visit: int, *, passed: bool, detail: str = "", environment: str = "") -> Verification:
    verdict = CheckVerdict(
        name="pytest",
        command="pytest -q",
        role="test",
        required=True,
        exit_code=0 if passed else 1,
        passed=passed,
        satisfied=passed,
        advisory=False,
        executed=3,
    )
    return Verification(
        visit=visit,
        tree=f"t{visit}",
        passed=passed,
        detail=detail,
        summary="three tests",
        checks=(verdict,),
        environment=environment,
    )


def state(visits: int = 0, *, attempts: int | None = None, **channels: Any) -> AgentState:
    """The state after so many visits, each spent with a failure of its own on a tree of its own."""
    spent = visits if attempts is None else attempts
    limits = channels.pop("limits", Limits())
    task = Task(run_id="r", goal=channels.pop("goal", "g"), spec=Spec(), checks=(CHECK,), limits=limits)
    history = FailureHistory().with_failures(entry(n, f"f{n}") for n in range(1, spent + 1))
    base: dict[str, Any] = {
        "task": task,
        "failure_history": history,
        "usage": Usage(),
        "snapshots": {n: f"t{n}" for n in range(visits + 1)},
        "tried": frozenset(),
        "baseline": verification(0, passed=False),
        "test_results": verification(visits, passed=False),
    }
    if visits:
        base["edits"] = Edits(visit=visits, coder="model", stopped_by="finished")
    return {**base, **channels}  # type: ignore[typeddict-item]


def spent(**figures: Any) -> Usage:
    return Usage(by_call={"1/coder/0": Spent(**figures)})


ROWS = [
    pytest.param(state(0), None, id="a red baseline goes on"),
    pytest.param(state(1), None, id="an attempt is left"),
    pytest.param(
        state(1, attempts=0, test_results=verification(1, passed=True)), ("verified", "verified"), id="verified"
    ),
    pytest.param(
        state(0, test_results=verification(0, passed=True)), None, id="a green baseline with a goal is no success"
    ),
    pytest.param(
        state(0, goal="", test_results=verification(0, passed=True)),
        ("verified", "already_green"),
        id="a task that is only its checks",
    ),
    pytest.param(
        state(1, attempts=0, test_results=verification(1, passed=True, detail=NEEDS_REVIEW)),
        None,
        id="green, but nothing proves the goal yet",
    ),
    pytest.param(
        state(0, test_results=verification(0, passed=False, environment="command_not_found")),
        ("environment_broken", "command_not_found"),
        id="a broken environment at the baseline",
    ),
    pytest.param(
        state(1, test_results=verification(1, passed=False, environment="command_not_found")),
        None,
        id="later it was the edit's doing, and costs the attempt",
    ),
    pytest.param(
        state(3, usage=spent(tokens_in=2_000_000)), ("budget_exceeded", "max_tokens"), id="tokens before attempts"
    ),
    pytest.param(state(1, usage=spent(calls=300)), ("budget_exceeded", "max_calls"), id="calls"),
    pytest.param(
        state(1, limits=Limits(max_cost=1.0), usage=spent(cost=1.5)), ("budget_exceeded", "max_cost"), id="money"
    ),
    pytest.param(state(1, usage=spent(seconds=3600)), ("budget_exceeded", "max_time"), id="time"),
    pytest.param(
        state(1, edits=Edits(visit=1, coder="model", stopped_by="time", detail="59 of 60")),
        ("budget_exceeded", "max_time"),
        id="the coder was stopped by the run's time",
    ),
    pytest.param(
        state(1, edits=Edits(visit=1, coder="model", stopped_by="step_cap")), None, id="a visit's own cap ends a visit"
    ),
    pytest.param(state(3), ("bounded_attempts_exceeded", "bounded_attempts_exceeded"), id="attempts"),
    pytest.param(
        state(
            3, failure_history=FailureHistory().with_failures([entry(1), entry(2), entry(3, detail="review_refused")])
        ),
        ("bounded_attempts_exceeded", "review_refused"),
        id="checks green, review refused",
    ),
    pytest.param(
        state(
            3,
            limits=Limits(max_attempts=9),
            failure_history=FailureHistory().with_failures([entry(1), entry(2), entry(3)]),
        ),
        ("stuck", "stuck"),
        id="the same failure three times",
    ),
    pytest.param(
        state(2, limits=Limits(max_attempts=9), snapshots={0: "t", 1: "t", 2: "t"}),
        None,
        id="never stuck below the default bound",
    ),
    pytest.param(
        state(1, edits=Edits(visit=1, coder="model", stopped_by="model_error", detail="down")),
        ("model_unavailable", "model_error"),
        id="a dead endpoint",
    ),
    pytest.param(
        state(
            1,
            attempts=0,
            test_results=verification(1, passed=True),
            edits=Edits(visit=1, coder="model", stopped_by="model_error"),
        ),
        ("verified", "verified"),
        id="whatever stopped the coder, the tree is judged",
    ),
]


@pytest.mark.parametrize(("given_state", "expected"), ROWS)
def test_row(given_state: AgentState, expected: tuple[str, str] | None) -> None:
    ending = decide(given_state)
    assert (ending and (ending.outcome, ending.reason)) == expected
    assert ending is None or ending.sentence


def test_what_counts_as_no_progress() -> None:
    same = FailureHistory().with_failures([entry(1), entry(2)])
    assert "changed no file" in no_progress(state(2, snapshots={0: "a", 1: "b", 2: "b"}))
    assert "judged before" in no_progress(
        state(3, failure_history=same.with_failures([entry(3)]), snapshots={0: "a", 1: "b", 2: "c", 3: "b"})
    )
    assert "same failures" in no_progress(state(2, failure_history=same))
    assert not no_progress(state(2)), "another failure on another tree is progress"
    assert not no_progress(state(0))


@given(attempts=st.integers(0, 25), bound=st.integers(1, 20))
def test_the_bound_holds_whatever_the_numbers(attempts: int, bound: int) -> None:
    ending = decide(state(attempts, limits=Limits(max_attempts=bound)))
    if attempts >= bound:
        assert ending is not None
    else:
        assert ending is None or ending.outcome == "stuck"


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc")), max_size=60))
def test_the_history_is_idempotent_and_bounded(pairs: list[tuple[int, str]]) -> None:
    """A crash may record a verification twice; the entries are bounded, the count of attempts is not."""
    entries = [entry(visit, name, check=name) for visit, name in pairs]
    once = FailureHistory().with_failures(entries)
    assert once.with_failures(entries) == once
    assert once.attempts == len({visit for visit, _ in pairs if visit > 0})
    assert len(once.entries) <= 20
    assert list(once.entries) == sorted(once.entries, key=lambda each: each.visit)
