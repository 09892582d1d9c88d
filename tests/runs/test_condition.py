"""What a run does now follows from its events alone."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.runs.condition import State, condition
from kotef.runs.events import FIELDS

STARTED = {"event": "run_started", "run": "r1"}
ENDED = {"event": "run_finished", "outcome": "verified", "reason": "verified", "exit_code": 0, "seconds": 1.0}


def line(event: str, **facts: Any) -> dict[str, Any]:
    return {"event": event, **facts}


@pytest.mark.parametrize(
    ("events", "state", "doing"),
    [
        ([], "idle", ""),
        ([STARTED], "verifying", ""),
        ([STARTED, line("check_started", visit=0, command="pytest -q")], "verifying", "pytest -q"),
        ([STARTED, line("verified", visit=0)], "planning", ""),
        ([STARTED, line("model_call", visit=1, node="planner")], "planning", "planner"),
        ([STARTED, line("model_call", visit=1, node="review")], "verifying", "review"),
        ([STARTED, line("model_call", visit=1, node="coder")], "streaming", ""),
        ([STARTED, line("model_call", visit=1, node="compaction")], "streaming", "compaction"),
        (
            [STARTED, line("tool_started", visit=1, tool="grep", arguments="x")],
            "tool_running",
            "grep x",
        ),
        ([STARTED, line("trying", visit=1, coder="search", what="3 edits")], "tool_running", "search: 3 edits"),
        ([STARTED, line("asked", visit=1, question="2 or 3?")], "waiting_for_input", "2 or 3?"),
        ([STARTED, line("coder_finished", visit=1)], "verifying", ""),
        ([STARTED, ENDED], "idle", ""),
        ([STARTED, {**ENDED, "outcome": "crashed", "exit_code": 1}], "error", ""),
        ([STARTED, {**ENDED, "outcome": "bounded_attempts_exceeded", "exit_code": 3}], "idle", ""),
    ],
)
def test_each_event_says_what_is_at_work(events: list, state: str, doing: str) -> None:
    now = condition(events)
    assert (now.state, now.doing) == (state, doing)


def test_a_run_that_nobody_works_on_and_that_has_no_ending_was_killed() -> None:
    killed = condition([STARTED, line("check_started", visit=0, command="x")], alive=False)
    assert (killed.state, killed.doing) == ("error", "")
    assert condition([STARTED, ENDED], alive=False).state == "idle"
    assert condition([], alive=False).state == "idle", "nothing is known of it yet"


def test_tokens_and_cost_add_up_and_the_attempt_is_the_highest() -> None:
    answer = {"node": "coder", "tokens_in": 10, "tokens_out": 2, "cost": 0.5, "estimated": False}
    now = condition([STARTED, line("model_answer", visit=2, **answer), line("model_answer", visit=1, **answer)])
    assert (now.attempt, now.tokens_in, now.tokens_out, now.cost) == (2, 20, 4, 1.0)


def test_a_resumed_run_has_no_ending_any_more() -> None:
    now = condition([STARTED, ENDED, {"event": "run_resumed", "run": "r1", "outcome": "verified"}])
    assert (now.state, now.outcome, now.exit_code) == ("planning", "", None)


@given(st.lists(st.sampled_from(sorted(set(FIELDS) - {"model_call", "model_answer", "ended", "run_finished"}))))
def test_whatever_comes_in_whatever_order_there_is_a_state(names: list[str]) -> None:
    facts = {
        **dict.fromkeys(("run", "command", "tool", "arguments", "coder", "what", "question"), "x"),
        "visit": 1,
    }
    assert condition([line(name, **facts) for name in names]).state in get_args(State)
