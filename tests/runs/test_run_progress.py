"""What a run is doing is told by its events alone, so the status line and whoever follows elsewhere say the same."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.run_events import events, recorded

from kotef.events import RecordedEvent
from kotef.runs.progress import RunProgress, State
from kotef.runs.run_history import RunHistory

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


def happened(*events: tuple[str, dict[str, Any]]) -> RunProgress:
    """One event a second."""
    told = (recorded(name, 100.0 + at, **facts) for at, (name, facts) in enumerate(events))
    return RunHistory.of(told).progress


ENDED = {"outcome": "verified", "reason": "verified", "exit_code": 0}


@pytest.mark.parametrize(
    ("event", "state", "what"),
    [
        (("setup_started", {"command": "make deps"}), "verifying", "make deps"),
        (("check_started", {"visit": 0, "command": "pytest"}), "verifying", "pytest"),
        (("verified", {"visit": 0}), "planning", ""),
        (("model_call", {"visit": 1, "node": "planner"}), "planning", "asking the model"),
        (("model_call", {"visit": 1, "node": "coder"}), "streaming", "asking the model"),
        (("model_call", {"visit": 1, "node": "review"}), "verifying", "asking the model to review"),
        (("model_call", {"visit": 1, "node": "compaction"}), "streaming", "asking the model for a summary"),
        (("coder_started", {"visit": 1, "coder": "search"}), "tool_running", "search"),
        (("tool_started", CALL), "tool_running", "view_file a.py"),
        (("trying", {"visit": 1, "coder": "search", "what": "3 edits"}), "tool_running", "search: 3 edits"),
        (("coder_finished", {"visit": 1}), "verifying", ""),
        (("asked", QUESTION), "waiting_for_input", "may it?"),
        (("ended", {"outcome": "verified", "reason": "verified", "sentence": "All is well"}), "planning", ""),
        (("run_finished", ENDED), "idle", ""),
        (("run_finished", {**ENDED, "outcome": "bounded_attempts_exceeded", "exit_code": 3}), "idle", ""),
        (("run_finished", {**ENDED, "outcome": "model_unavailable", "exit_code": 7}), "error", ""),
        (("run_finished", {**ENDED, "outcome": "crashed", "exit_code": 1}), "error", ""),
    ],
)
def test_the_newest_event_says_the_state_and_the_step(
    event: tuple[str, dict[str, Any]], state: State, what: str
) -> None:
    now = happened(("run_started", STARTED), event)
    assert (now.state, now.what) == (state, what)


def test_before_it_begins_a_run_is_idle_and_once_it_is_killed_an_error() -> None:
    assert RunProgress().lost() == RunProgress(), "nothing is known of it yet"
    assert RunProgress().state == "idle"
    killed = happened(("run_started", STARTED), ("tool_started", CALL)).lost()
    assert (killed.state, killed.what, killed.tools, killed.outcome) == ("error", "", (), "")
    assert killed.sentence == "killed before it ended"
    ended = happened(("run_started", STARTED), ("run_finished", ENDED))
    assert ended.lost() == ended


def test_after_an_answer_it_goes_on_with_what_the_question_interrupted() -> None:
    before = (("run_started", STARTED), ("tool_started", CALL), ("asked", QUESTION))
    now = happened(*before, ("answered", {**QUESTION, "answer": "no"}))
    assert (now.state, now.what) == ("tool_running", "view_file a.py")


def test_the_attempt_is_the_one_that_is_planned_already_and_never_an_earlier_one() -> None:
    planning = ("model_call", {"visit": 2, "node": "planner"})
    assert happened(("run_started", STARTED), planning).attempt == 2
    assert happened(("run_started", STARTED), planning, ("restored", {"visit": 1})).attempt == 2


def test_a_resumed_run_has_no_ending_any_more() -> None:
    told = ("ended", {"outcome": "stuck", "reason": "stuck", "sentence": "It went round in circles"})
    ended = happened(("run_started", STARTED), told, ("run_finished", {**ENDED, "outcome": "stuck", "exit_code": 3}))
    assert (ended.outcome, ended.exit_code, ended.sentence) == ("stuck", 3, "It went round in circles")
    again = ended.after(recorded("run_resumed", 200.0, run="r1"))
    assert (again.state, again.outcome, again.reason, again.sentence) == ("planning", "", "", "")
    assert again.exit_code is None


def test_the_clock_stands_while_a_person_is_asked_and_while_nobody_works_on_it() -> None:
    asked = (("run_started", STARTED), ("check_started", {"command": "x"}), ("asked", QUESTION))
    assert happened(*asked).seconds(1000.0) == 2.0
    answered = happened(*asked, ("answered", {**QUESTION, "answer": "no"}))
    assert answered.seconds(106.0) == 5.0
    killed = (("run_started", STARTED), ("check_started", {"command": "x"}))
    resumed = recorded("run_resumed", 500.0, run="r1")
    assert happened(*killed).after(resumed).seconds(503.0) == 4.0


def test_calls_that_run_side_by_side_are_told_until_each_has_ended() -> None:
    other = {**CALL, "arguments": "b.py"}
    both = happened(("tool_started", CALL), ("tool_started", other), ("tool_started", CALL))
    assert len(both.tools) == 3
    one = both.after(recorded("tool_finished", **CALL))
    assert [call.arguments for call in one.tools] == ["b.py", "a.py"]


def test_tokens_and_cost_go_on_over_a_resume() -> None:
    spent = ("model_answer", {"tokens_in": 10, "tokens_out": 5, "cost": 0.5})
    doing = happened(("run_started", STARTED), spent, ("run_resumed", {"run": "r1"}), spent)
    assert (doing.tokens_in, doing.tokens_out, doing.tokens, doing.cost) == (20, 10, 30, 1.0)


RECORDED = st.builds(RecordedEvent, number=st.integers(1), time=st.floats(0, 1e9), event=events())


@given(st.lists(RECORDED, max_size=12))
def test_whatever_happened_there_is_one_of_the_known_states_and_time_never_runs_backwards(
    found: list[RecordedEvent],
) -> None:
    doing = RunProgress()
    for event in found:
        doing = doing.after(event)
        assert doing.state in get_args(State)
        assert doing.seconds(doing.last) >= 0
