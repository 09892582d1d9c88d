"""Every row of `decide`, and that no model has a part in it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.checks.types import Check
from kotef.checks.verification import CheckVerdict, Verification
from kotef.failures.history import FailureEntry, FailureHistory
from kotef.failures.outcomes import Outcome
from kotef.failures.visit_history import Visit
from kotef.nodes.decide import NEEDS_REVIEW, Ending, decide, no_progress
from kotef.nodes.next_step_advice import way_out
from kotef.sdd.spec import Spec
from kotef.settings import Limits
from kotef.state import AgentState, Edits, Spent, Task, Usage
from kotef.workspace import Snapshots

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


def trail(*reds: set[str], trees: Sequence[str] = ()) -> dict[int, Visit]:
    """Visits from 0 on with these red units, each on a tree of its own unless named, one fingerprint for a set."""
    return {
        number: Visit(
            visit=number,
            tree=trees[number] if trees else f"t{number}",
            red=tuple(sorted(red)),
            fingerprints=("+".join(sorted(red)),) if red else (),
        )
        for number, red in enumerate(reds)
    }


def state(visits: int = 0, /, *, attempts: int | None = None, **channels: Any) -> AgentState:
    """The state after so many visits, each spent with a failure of its own on a tree of its own."""
    spent = visits if attempts is None else attempts
    limits = channels.pop("limits", Limits())
    task = Task(run_id="r", goal=channels.pop("goal", "g"), spec=Spec(), checks=(CHECK,), limits=limits)
    history = FailureHistory().with_failures(entry(n, f"f{n}") for n in range(1, spent + 1))
    base: dict[str, Any] = {
        "task": task,
        "failure_history": history,
        "visits": trail(*({f"f{n}"} for n in range(visits + 1))),
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
            visits=trail({"a", "b"}, {"a"}, {"a"}, {"a"}),
        ),
        ("stuck", "stuck"),
        id="the same failure three times",
    ),
    pytest.param(
        state(3, limits=Limits(max_attempts=9), visits=trail({"a"}, {"a"}, {"b"}, {"b"})),
        None,
        id="the same failure twice, with another between",
    ),
    pytest.param(
        state(3, limits=Limits(max_attempts=9), visits=trail({"c"}, {"a"}, {"a", "b"}, {"a", "b", "c"})),
        ("stuck", "stuck"),
        id="a set of failures that grows twice",
    ),
    pytest.param(
        state(
            4,
            limits=Limits(max_attempts=9),
            visits=trail({"a"}, {"b"}, {"c"}, {"b"}, {"c"}, trees=["s", "A", "B", "A", "B"]),
        ),
        ("stuck", "stuck"),
        id="back and forth between two trees",
    ),
    pytest.param(
        state(3, limits=Limits(max_attempts=9), visits=trail({"a"}, {"b"}, {"c"}, {"d"}, trees=["s", "A", "A", "A"])),
        ("stuck", "stuck"),
        id="no change of the tree twice, whatever failed",
    ),
    pytest.param(
        state(2, limits=Limits(max_attempts=9), visits=trail({"a"}, {"a"}, {"a"}, trees=["t"] * 3)),
        None,
        id="never stuck below the default bound",
    ),
    pytest.param(
        state(3, visits=trail({"a"}, {"a"}, {"a"}, {"a"}, trees=["t"] * 4)),
        ("bounded_attempts_exceeded", "bounded_attempts_exceeded"),
        id="with the default bound the attempts are spent, stuck or not",
    ),
    pytest.param(
        state(1, edits=Edits(visit=1, coder="model", stopped_by="model_error", detail="down")),
        ("model_unavailable", "model_error"),
        id="a dead endpoint, recorded by a version that kept no fault",
    ),
    pytest.param(
        state(1, edits=Edits(visit=1, coder="model", stopped_by="model_error", fault="silent", detail="down")),
        ("model_unavailable", "silent"),
        id="a dead endpoint",
    ),
    pytest.param(
        state(1, attempts=0, edits=Edits(visit=1, coder="search", stopped_by="search_time", detail="2 s")),
        ("stuck", "search_time_over"),
        id="a search that ran out of its own time",
    ),
    pytest.param(
        state(1, attempts=0, edits=Edits(visit=1, coder="search", stopped_by="none_is_right", detail="neither")),
        ("blocked", "none_is_right"),
        id="a person refused every edit that passes",
    ),
    pytest.param(
        state(1, attempts=0, edits=Edits(visit=1, coder="fixers,search", stopped_by="exhausted", detail="x")),
        ("stuck", "nothing_left_to_try"),
        id="no coder could do anything",
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


def test_what_is_lacking_is_said_only_where_the_checks_are_green_and_there_is_no_model() -> None:
    exhausted = Edits(visit=1, coder="fixers,search", stopped_by="exhausted", detail="x")
    green = verification(0, passed=True)

    def said(now: AgentState, model: str = "") -> str:
        task = now["task"].model_copy(update={"model": model})
        ending = decide({**now, "task": task})
        return ending.sentence if ending else ""

    lacking = "every check is already green, and without a model only failures can be worked on"
    assert said(state(0, edits=exhausted, test_results=green)).startswith(lacking)
    assert lacking not in said(state(0, edits=exhausted, test_results=green), model="m")
    assert lacking not in said(state(0, edits=exhausted))


@pytest.mark.parametrize("outcome", ["stuck", "bounded_attempts_exceeded"])
def test_a_run_that_code_alone_could_not_finish_is_advised_to_name_a_model(tmp_path: Path, outcome: Outcome) -> None:
    def advice(coder: str, model: str = "") -> str:
        now = state(1)
        task = now["task"].model_copy(update={"coder": coder, "model": model})
        return way_out({**now, "task": task}, Ending(outcome, outcome, "it ended"), (), Snapshots(tmp_path, tmp_path))

    suggested = "or let a model try (`--model`)"
    assert advice("fixers,search").endswith(suggested)
    assert suggested not in advice("fixers,search,model", model="m")
    assert suggested not in advice("fixers,aider"), "an agent edits"


def newest(*reds: set[str], trees: Sequence[str] = ()) -> str:
    """What the nudge after the last of these visits would say."""
    return no_progress(state(len(reds) - 1, visits=trail(*reds, trees=trees)))


def test_what_counts_as_no_progress() -> None:
    assert "changed no file" in newest({"x"}, {"a"}, {"b"}, trees="sAA")
    assert "judged before" in newest({"x"}, {"a"}, {"b"}, {"a"}, trees="sABA")
    assert "judged before" in newest({"x"}, {"a"}, {"x"}, trees="sAs"), "back to the state before the run"
    assert "judged before" in newest({"x"}, {"x", "y"}, {"x"}, trees="sAs"), "though fewer fail than after the detour"
    assert "same failures" in newest({"x"}, {"a"}, {"a"})
    assert "same failures" in newest({"a"}, {"a"}), "the failure before the run counts as well"
    assert "fixed nothing" in newest({"x"}, {"a"}, {"a", "b"})
    assert "b" in newest({"x"}, {"a"}, {"a", "b"}).partition(": ")[2], "what is new is named"


def test_what_counts_as_progress() -> None:
    assert not newest({"x"}, {"a"}, {"b"}), "another failure on another tree"
    assert not newest({"x"}, {"a", "b"}, {"a"}), "one fewer"
    assert not newest({"x"}, {"a", "b"}, {"a"}, trees="sAA"), "one fewer, though by chance"
    assert not newest({"x"}, {"a"}, {"b"}, {"c"}, trees="sABA"), "an old tree that fails otherwise"
    assert not newest({"x"}), "nothing was tried"


def test_what_is_known_in_part_only_is_not_compared() -> None:
    part = {n: each.model_copy(update={"whole": False}) for n, each in trail({"a"}, {"a"}, {"a", "b"}).items()}
    assert not no_progress(state(2, visits=part))
    assert not no_progress(state(1, visits=part))


def test_where_not_everything_ran_what_was_red_before_the_run_is_compared() -> None:
    """A long suite is judged by the tests that were red; whether others broke meanwhile is not known."""
    visits = trail({"a", "b"}, {"a", "z"}, {"a"})
    visits[2] = visits[2].model_copy(update={"ran_all": False, "fingerprints": visits[1].fingerprints})
    assert "same failures" in no_progress(state(2, visits=visits)), "that z was not run is no progress"
    visits = trail({"a", "b"}, {"a", "b"}, {"a"})
    visits[2] = visits[2].model_copy(update={"ran_all": False})
    assert not no_progress(state(2, visits=visits))


def test_what_was_edited_and_put_back_is_said_to_be_no_change() -> None:
    visits = trail({"a"}, {"a"}, trees="ss")
    visits[1] = visits[1].model_copy(update={"changed": ("tests/test_a.py",)})
    assert "put back" in no_progress(state(1, visits=visits))


class Played(NamedTuple):
    """A run on a random history: how it ended, and after which visits the planner was nudged."""

    ending: Ending
    visits: dict[int, Visit]
    nudged: list[int]


UNITS = st.sets(st.sampled_from("abcd"), min_size=1)
STEPS = st.lists(st.tuples(UNITS, st.sampled_from("sABC")), min_size=21, max_size=21)


def play(steps: Sequence[tuple[set[str], str]], bound: int) -> Played:
    """The planner's part of a run, visit by visit, until code ends it."""
    visits = trail(*(red for red, _ in steps), trees=[tree for _, tree in steps])
    nudged = []
    for number in range(len(steps)):
        known = {n: visits[n] for n in range(number + 1)}
        now = state(number, visits=known, limits=Limits(max_attempts=bound))
        if ending := decide(now):
            return Played(ending, known, nudged)
        if no_progress(now):
            nudged.append(number)
    raise AssertionError("no ending")


@example_count(60)
@given(steps=STEPS, bound=st.integers(1, 20))
def test_every_history_ends_within_its_attempts_and_stuck_comes_after_a_nudge(
    steps: list[tuple[set[str], str]], bound: int
) -> None:
    ending, visits, nudged = play(steps, bound)
    last = max(visits)
    assert last <= bound
    if ending.outcome == "bounded_attempts_exceeded":
        assert last == bound
    else:
        assert ending.outcome == "stuck"
        assert 3 <= last < bound, "stuck saves attempts, and only above the default bound"
        assert last - 1 in nudged, "the planner was nudged, and its plan had an attempt"


@example_count(60)
@given(steps=STEPS, bound=st.integers(4, 20))
def test_no_run_is_stuck_while_fewer_and_fewer_fail(steps: list[tuple[set[str], str]], bound: int) -> None:
    ending, visits, _ = play(steps, bound)
    if ending.outcome == "stuck":
        for number in (max(visits) - 1, max(visits)):
            fewer = set(visits[number].red) < set(visits[number - 1].red)
            seen = [(each.tree, each.red) for each in visits.values() if each.visit < number]
            assert not fewer or (visits[number].tree, visits[number].red) in seen, "back and forth is no progress"


@given(st.lists(st.text("ABC", min_size=1, max_size=1), min_size=12, max_size=12))
def test_a_run_that_mends_one_test_after_the_other_is_left_alone(trees: list[str]) -> None:
    """Eleven tests red, one fewer after each attempt, on whatever trees."""
    names = [f"t{number}" for number in range(12)]
    for number in range(11):
        visits = trail(*(set(names[n:]) for n in range(number + 1)), trees=trees)
        assert decide(state(number, visits=visits, limits=Limits(max_attempts=20))) is None
        assert not no_progress(state(number, visits=visits))


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
