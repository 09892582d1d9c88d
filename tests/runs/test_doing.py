"""What a run is doing is told by its events alone, so the status line and whoever follows elsewhere say the same."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.runs.doing import Doing, State, doing_after
from kotef.runs.events import FIELDS

CALL = {"visit": 1, "tool": "view_file", "arguments": "a.py"}
QUESTION = {"visit": 1, "question": "may it?"}
STARTED = {
    "run": "r1",
    "goal": "",
    "ticket": None,
    "checks": [],
    "coder": "",
    "model": "",
    "sandbox": "",
    "network": False,
}


def happened(*events: tuple[str, dict[str, Any]]) -> Doing:
    """One event a second."""
    return doing_after({"event": name, "t": 100.0 + at, **facts} for at, (name, facts) in enumerate(events))


@pytest.mark.parametrize(
    ("event", "state"),
    [
        (("check_started", {"command": "pytest"}), "verifying"),
        (("verified", {"visit": 0}), "planning"),
        (("model_call", {"node": "planner"}), "planning"),
        (("model_call", {"node": "coder"}), "streaming"),
        (("model_call", {"node": "review"}), "verifying"),
        (("tool_started", CALL), "tool_running"),
        (("trying", {"coder": "search", "what": "x"}), "tool_running"),
        (("coder_finished", {"visit": 1}), "verifying"),
        (("asked", QUESTION), "waiting_for_input"),
        (("run_finished", {"outcome": "verified", "exit_code": 0}), "idle"),
        (("run_finished", {"outcome": "bounded_attempts_exceeded", "exit_code": 3}), "idle"),
        (("run_finished", {"outcome": "model_unavailable", "exit_code": 7}), "error"),
        (("run_finished", {"outcome": "crashed", "exit_code": 1}), "error"),
    ],
)
def test_the_newest_event_says_the_state(event: tuple[str, dict[str, Any]], state: State) -> None:
    assert happened(("run_started", STARTED), event).state == state


def test_before_it_begins_a_run_is_idle_and_once_it_is_killed_an_error() -> None:
    assert Doing().state == "idle"
    killed = happened(("run_started", STARTED), ("tool_started", CALL)).lost()
    assert (killed.state, killed.tools, killed.outcome) == ("error", (), "")


def test_after_an_answer_it_goes_on_with_what_the_question_interrupted() -> None:
    before = (("run_started", STARTED), ("tool_started", CALL), ("asked", QUESTION))
    assert happened(*before, ("answered", {**QUESTION, "answer": "no"})).state == "tool_running"


def test_the_clock_stands_while_a_person_is_asked_and_while_nobody_works_on_it() -> None:
    asked = (("run_started", STARTED), ("check_started", {"command": "x"}), ("asked", QUESTION))
    assert happened(*asked).seconds(1000.0) == 2.0
    answered = happened(*asked, ("answered", {**QUESTION, "answer": "no"}))
    assert answered.seconds(106.0) == 5.0
    killed = (("run_started", STARTED), ("check_started", {"command": "x"}))
    resumed = {"event": "run_resumed", "t": 500.0, "run": "r1"}
    assert happened(*killed).after(resumed).seconds(503.0) == 4.0


def test_calls_that_run_side_by_side_are_told_until_each_has_ended() -> None:
    other = {**CALL, "arguments": "b.py"}
    both = happened(("tool_started", CALL), ("tool_started", other), ("tool_started", CALL))
    assert len(both.tools) == 3
    one = both.after({"event": "tool_finished", **CALL})
    assert [call.arguments for call in one.tools] == ["b.py", "a.py"]


def test_tokens_and_cost_go_on_over_a_resume() -> None:
    spent = ("model_answer", {"tokens_in": 10, "tokens_out": 5, "cost": 0.5})
    doing = happened(("run_started", STARTED), spent, ("run_resumed", {"run": "r1"}), spent)
    assert (doing.tokens, doing.cost) == (30, 1.0)


VALUES = {
    str: st.text(max_size=8),
    int: st.integers(0, 9),
    float: st.floats(0, 9),
    bool: st.booleans(),
    list[str]: st.lists(st.text(max_size=3), max_size=2),
}
EVENTS = st.sampled_from(sorted(FIELDS)).flatmap(
    lambda name: st.fixed_dictionaries(
        {
            "event": st.just(name),
            "t": st.floats(0, 1e9),
            **{key: VALUES.get(kind, st.none()) for key, kind in FIELDS[name].items()},
        }
    )
)


@given(st.lists(EVENTS, max_size=12))
def test_whatever_happened_there_is_one_of_the_known_states_and_time_never_runs_backwards(events: list[dict]) -> None:
    doing = Doing()
    for event in events:
        doing = doing.after(event)
        assert doing.state in get_args(State)
        assert doing.seconds(doing.last) >= 0
