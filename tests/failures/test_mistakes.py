"""When is a row of failed calls worth a nudge, and when the end of the visit?"""

from collections.abc import Sequence
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.events import MistakeRecoveryEvent
from kotef.failures.mistakes import THRESHOLD, MistakeRecovery, judge
from kotef.failures.tool_calls import MistakeKind, ToolUse

KINDS: tuple[MistakeKind, ...] = get_args(MistakeKind)


def visit(turns: Sequence[Sequence[MistakeKind | None]]) -> list[ToolUse]:
    """One call for each kind; None is a success."""
    return [
        ToolUse(number, "tool", {}, "said", mistake=kind, failure="tool_error" if kind else None)
        for number, turn in enumerate(turns, 1)
        for kind in turn
    ]


def verdicts(turns: Sequence[Sequence[MistakeKind | None]]) -> list[str | None]:
    """What is decided after each turn."""
    calls = visit(turns)
    return [judge([call for call in calls if call.turn <= number]).verdict for number in range(1, len(turns) + 1)]


X: MistakeKind = "exec_error"


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([[X], ["schema_reject"], ["permission_denied"]], [None, None, "nudge"]),
        ([[X], [X], [X], [X], [X], [X]], [None, None, "nudge", None, None, "stop"]),
        ([[X], [X], [None], [X], [X]], [None] * 5),
        ([[X], [X], [X], [None], [X], [X], [X]], [None, None, "nudge", None, None, None, "nudge"]),
        ([[X, X, X, X, X, X]], ["nudge"]),
        ([[X, X, X, X, X, X], [X, X, X]], ["nudge", "stop"]),
        ([[X, X, X, None]], [None]),
    ],
    ids=["different kinds", "twice", "a success", "a success after it", "one turn", "two turns", "success at the end"],
)
def test_the_third_failure_in_a_row_decides(turns, expected) -> None:
    assert verdicts(turns) == expected


TURNS = st.lists(st.lists(st.sampled_from([None, *KINDS]), min_size=1, max_size=5), max_size=15)


@given(TURNS)
@example_count(200)
def test_a_stop_comes_only_after_a_nudge_and_without_a_success_between(turns) -> None:
    told = False
    for turn, verdict in zip(turns, verdicts(turns), strict=True):
        if None in turn:
            told = False
        assert verdict != "stop" or told
        told = told or verdict == "nudge"


@given(TURNS)
@example_count(100)
def test_what_ended_well_is_never_answered(turns) -> None:
    assert judge(visit([*turns, [None]])).verdict is None


@given(TURNS)
@example_count(100)
def test_no_row_of_failures_goes_unanswered(turns) -> None:
    """Whatever came before: six turns of failures stop the visit."""
    assert "stop" in verdicts([*turns, *([[X]] * (2 * THRESHOLD))])


def test_the_event_says_what_the_schema_of_the_log_says() -> None:
    event = judge(visit([[X], ["schema_reject"], [X]])).event
    assert event.model_dump() == {
        "failure_kinds": (X, "schema_reject", X),
        "count": 3,
        "escalated": False,
        "can_continue": True,
    }
    assert set(MistakeRecoveryEvent.field_names) == {"visit", *MistakeRecovery.model_fields}


def test_a_command_that_ends_red_neither_counts_nor_clears() -> None:
    red = ToolUse(3, "run_command", {}, "exit 1", failure="test_failure")
    calls = [*visit([[X], [X]]), red, ToolUse(4, "tool", {}, "said", mistake=X, failure="tool_error")]
    assert judge(calls[:3]).kinds == (X, X)
    assert judge(calls).verdict == "nudge"
