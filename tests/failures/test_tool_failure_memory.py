"""Which failed calls are remembered, and how are they shown?"""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.failures.tool_calls import Category, ToolUse
from kotef.failures.tool_failure_memory import (
    KEPT,
    MAX_BYTES,
    MAX_DESCRIPTION,
    ToolFailure,
    WrongApproach,
    added,
    remember,
    render,
)

CATEGORIES: tuple[Category, ...] = get_args(Category)


def failed(turn: int, path: str = "a.py", category: Category = "edit_mismatch", tool: str = "edit_file") -> ToolUse:
    return ToolUse(turn, tool, {"path": path}, f"{path}, edit 1 of 1: search is not found", "exec_error", category)


def worked(turn: int, path: str = "a.py", tool: str = "edit_file") -> ToolUse:
    return ToolUse(turn, tool, {"path": path}, f"edited {path}")


def records(*calls: ToolUse, before: int = 0, earlier: tuple[ToolFailure, ...] = ()) -> tuple[ToolFailure, ...]:
    return remember(earlier, calls, (), before=before)


def test_a_record_names_the_path_and_the_turn_of_the_run() -> None:
    (record,) = records(failed(3, "src/cart.py"), before=12)
    assert (record.category, record.tool, record.turn) == ("edit_mismatch", "edit_file", 15)
    assert record.description == "src/cart.py: edit 1 of 1: search is not found"
    assert "- [edit_mismatch] edit_file: src/cart.py: edit 1 of 1: search is not found (turn 15)" in render([record])


def test_a_long_path_keeps_its_end_and_a_long_command_its_beginning() -> None:
    (record,) = records(failed(1, "a/very/long/way/" * 10 + "cart.py"))
    assert "cart.py: edit 1 of 1" in record.description
    red = ToolUse(
        1, "run_command", {"command": "pytest " + "x" * 200}, "exit 1 (0.1 s)\nAssertionError: no", failure="tool_error"
    )
    assert records(red)[0].description.startswith("pytest xxx")


@pytest.mark.parametrize(
    ("output", "telling"),
    [
        (
            "exit 1 (0.2 s)\nFAILED test_a.py::test_add - assert 1 == 2\n=== 1 failed in 0.02s ===",
            "test_add",
        ),
        ("exit 2 (0.2 s)\nsomething odd\nthe last word", "the last word"),
        ("exit 3 (0.1 s)\n1\n2\nlast words\n[view_truncated_output tr_1 shows what was kept]", "last words"),
    ],
)
def test_of_a_red_command_the_telling_line_is_kept(output: str, telling: str) -> None:
    (record,) = records(ToolUse(1, "run_command", {"command": "make"}, output, failure="test_failure"))
    assert record.description.startswith("make: ")
    assert telling in record.description


def test_only_failures_are_remembered() -> None:
    empty_search = ToolUse(1, "grep", {"pattern": "x"}, "no line matches x in .")
    assert records(empty_search, worked(2)) == ()


def test_a_retry_that_works_in_the_same_turn_is_forgiven_and_in_the_next_is_not() -> None:
    assert records(failed(1), worked(1)) == ()
    assert len(records(failed(1), worked(2))) == 1
    assert len(records(failed(1), worked(1, "b.py"))) == 1, "another file is no retry"


def test_the_same_failure_within_two_turns_is_one() -> None:
    assert [record.turn for record in records(*(failed(turn) for turn in (1, 2, 3, 4)))] == [1, 4]


def test_a_wrong_approach_comes_from_the_detectors_alone() -> None:
    made = remember((), [failed(1)], [WrongApproach(2, "grep", "the same call, 3 times")], before=10)
    assert [(record.category, record.tool, record.turn) for record in made] == [
        ("edit_mismatch", "edit_file", 11),
        ("wrong_approach", "grep", 12),
    ]


def test_a_warning_and_the_stop_after_it_are_one_wrong_approach() -> None:
    twice = [WrongApproach(3, "grep", "the same call, 3 times"), WrongApproach(4, "grep", "the same call, 4 times")]
    assert [record.turn for record in remember((), [], twice, before=0)] == [3]


def test_a_full_memory_replaces_its_like_or_loses_the_oldest() -> None:
    full = records(*(failed(turn, f"{turn}.py", tool=f"tool{turn}") for turn in range(1, KEPT + 1)))
    like = ToolFailure(tool="tool4", category="edit_mismatch", description="new", turn=50)
    assert [record.tool for record in added(full, like)] == [
        *(f"tool{n}" for n in (1, 2, 3, 5, 6, 7, 8, 9, 10)),
        "tool4",
    ]
    other = ToolFailure(tool="tool4", category="tool_error", description="new", turn=50)
    assert added(full, other)[0].tool == "tool2"


RECORDS = st.builds(
    ToolFailure,
    tool=st.sampled_from(["a", "b", "edit_file", "x" * 90]),
    category=st.sampled_from(CATEGORIES),
    description=st.text(max_size=MAX_DESCRIPTION),
    turn=st.integers(1, 5000),
)


@given(st.lists(RECORDS, max_size=40))
@example_count(150)
def test_the_memory_is_bounded_and_has_the_newest(made) -> None:
    kept: tuple[ToolFailure, ...] = ()
    for record in made:
        kept = added(kept, record)
        assert kept[-1] == record
        assert len(kept) <= KEPT
    assert len(render(kept).encode()) <= MAX_BYTES
    assert len(kept) == min(len(made), KEPT)


CALLS = st.lists(
    st.builds(
        ToolUse,
        turn=st.integers(1, 60),
        tool=st.sampled_from(["edit_file", "run_command", "mcp"]),
        arguments=st.dictionaries(st.sampled_from(["path", "command", "other"]), st.text(max_size=120), max_size=2),
        result=st.text(max_size=300),
        mistake=st.sampled_from([None, "exec_error"]),
        failure=st.sampled_from([None, *CATEGORIES[:-1]]),
    ),
    max_size=30,
).map(lambda calls: sorted(calls, key=lambda call: call.turn))


def test_letters_of_several_bytes_have_their_price() -> None:
    made = [
        ToolFailure(tool="edit_file", category="tool_error", description="字" * 80, turn=turn) for turn in range(1, 11)
    ]
    shown = render(made)
    assert len(shown.encode()) <= MAX_BYTES
    assert "(turn 10)" in shown
    assert "(turn 1)" not in shown, "the oldest have no room"


@given(CALLS, st.integers(0, 1000))
@example_count(150)
def test_turns_only_go_up_and_text_of_strangers_stays_on_its_line(calls, before) -> None:
    kept = remember((), calls, (), before=before)
    turns = [record.turn for record in kept]
    assert turns == sorted(turns)
    assert all(turn > before for turn in turns)
    assert len(render(kept).splitlines()) == (len(kept) + 2 if kept else 0)
    assert kept == remember((), calls, (), before=before), "the same calls, the same memory"
    assert all(record.description.isprintable() for record in kept)
