"""What is going round in circles, and what only looks like it?"""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.failures.loop_detection import ToolLoop, Tools, loop_in
from kotef.failures.tool_calls import ToolUse

TOOLS = Tools(
    editors=frozenset({"write_file"}),
    polls=frozenset({"read_command"}),
    acts=frozenset({"write_file", "run_command"}),
    exact=frozenset({"view_file", "grep"}),
)


def look(turn: int, path: str = "a.py", result: str = "1\tx = 1", words: str = "") -> ToolUse:
    return ToolUse(turn, "view_file", {"path": path}, result, words=words)


def write(turn: int, content: str, path: str = "a.py") -> ToolUse:
    return ToolUse(turn, "write_file", {"path": path, "content": content}, f"wrote {path}")


def ran(turn: int, result: str, command: str = "pytest") -> ToolUse:
    return ToolUse(turn, "run_command", {"command": command}, result, failure="test_failure")


def found(calls: Sequence[ToolUse], *, warned: int = 0) -> ToolLoop | None:
    return loop_in(calls, TOOLS, warned=warned)


def kinds(calls: Sequence[ToolUse]) -> list[str | None]:
    """What is found after each call."""
    loops = (found(calls[: number + 1]) for number in range(len(calls)))
    return [loop.kind if loop else None for loop in loops]


def test_the_same_call_with_the_same_result_is_a_doom_loop_at_the_third_time() -> None:
    assert kinds([look(turn) for turn in range(1, 5)]) == [None, None, "doom_loop", "doom_loop"]


def test_results_are_the_same_when_only_times_and_addresses_differ() -> None:
    calls = [
        ran(turn, f"exit 1 ({turn}.4 s)\nat 0x7f{turn}0aa1b2 10:11:0{turn} /tmp/run-{turn}/a.py broke")
        for turn in (1, 2, 3)
    ]
    loop = found(calls)
    assert loop is not None
    assert (loop.kind, loop.tool, loop.turn) == ("doom_loop", "run_command", 3)


def test_a_result_that_moves_is_no_doom_loop_but_four_identical_calls_are() -> None:
    calls = [ran(turn, f"{20 - turn} failed") for turn in range(1, 6)]
    assert kinds(calls) == [None, None, None, "doom_loop", "doom_loop"]


def test_what_was_done_until_the_warning_counts_no_more() -> None:
    calls = [look(turn) for turn in range(1, 7)]
    assert [bool(found(calls[:number], warned=3)) for number in (3, 4, 5, 6)] == [False, False, False, True]
    assert found([*calls[:5], look(6, "b.py")], warned=3) is None, "it left the loop"


@given(st.integers(1, 4), st.integers(0, 30))
@example_count(60)
def test_a_loop_without_end_is_found_again_soon_after_any_warning(period: int, warned: int) -> None:
    calls = [look(turn, f"{turn % period}.py", f"1\t{turn % period}") for turn in range(1, warned + 4 * 3 + 1)]
    assert found(calls, warned=warned)


@pytest.mark.parametrize("period", [2, 3, 4])
def test_a_cycle_is_found_when_it_closes_for_the_third_time(period: int) -> None:
    calls = [look(turn, f"{turn % period}.py", f"1\t{turn % period}") for turn in range(1, 3 * period + 1)]
    assert kinds(calls) == [None] * (3 * period - 1) + ["cycle"]


def test_a_cycle_whose_results_move_is_work() -> None:
    calls = [call for turn in range(1, 20, 2) for call in (write(turn, f"v{turn}"), ran(turn + 1, f"{turn} failed"))]
    assert kinds(calls) == [None] * len(calls)


def test_red_tests_between_edits_are_no_loop_even_if_they_stay_as_they_are() -> None:
    calls = [call for turn in range(1, 20, 2) for call in (write(turn, f"v{turn}"), ran(turn + 1, "1 failed: test_a"))]
    assert kinds(calls) == [None] * len(calls)


def test_the_same_content_written_three_times_is_a_repeat_whatever_is_done_between() -> None:
    calls = [
        write(1, "A"),
        ran(2, "2 failed"),
        write(3, "B"),
        ran(4, "3 failed"),
        write(5, "A"),
        look(6),
        write(7, "A"),
    ]
    assert kinds(calls) == [None] * 6 + ["content_repeat"]


def test_what_was_never_written_is_no_repeated_content() -> None:
    refused = replace(write(1, "A"), result="not written", failure="tool_error")
    calls = [refused, look(2, "b.py", "b"), replace(refused, turn=3), look(4, "c.py", "c"), replace(refused, turn=5)]
    assert kinds(calls) == [None] * 5


def test_the_same_words_are_a_repeat_only_while_nothing_new_is_found_out() -> None:
    words = "I will now look at the file once more to understand what is going on."
    same = [look(turn, "a.py" if turn % 2 else "./a.py", words=words) for turn in (1, 2, 3)]
    assert kinds(same) == [None, None, "content_repeat"]
    new = [look(turn, f"{turn}.py", f"1\t{turn}", words=words) for turn in (1, 2, 3)]
    assert kinds(new) == [None] * 3
    assert kinds([look(turn, "a.py" if turn % 2 else "./a.py", words="Now this.") for turn in (1, 2, 3)]) == [None] * 3


def test_eight_calls_of_one_tool_that_bring_nothing_new_are_a_repeat() -> None:
    calls = [look(turn, f"{turn}.py", "no line matches") for turn in range(1, 10)]
    assert kinds(calls) == [None] * 7 + ["content_repeat"] * 2
    assert kinds([look(turn, f"{turn}.py", f"1\t{'x' * turn}") for turn in range(1, 30)]) == [None] * 29


def test_reading_what_changes_by_itself_is_no_loop_and_breaks_none() -> None:
    poll = ToolUse(1, "read_command", {"handle": "1"}, "still at work")
    assert found([poll] * 50) is None
    loop = found([look(1), poll, look(2), poll, look(3)])
    assert loop is not None


CALLS = st.lists(
    st.builds(
        ToolUse,
        turn=st.integers(1, 30),
        tool=st.sampled_from(["view_file", "write_file", "grep"]),
        arguments=st.dictionaries(st.sampled_from(["path", "content"]), st.sampled_from("ab"), max_size=2),
        result=st.sampled_from(["", "one", "two\nthree"]),
        words=st.sampled_from(["", "w" * 50]),
    ),
    max_size=25,
)


@given(CALLS, st.integers(0, 30))
@example_count(300)
def test_a_loop_is_about_the_newest_call_and_telling_it_twice_says_the_same(calls, warned) -> None:
    loop = found(calls, warned=warned)
    assert loop == found(list(calls), warned=warned)
    if loop is not None:
        assert (loop.tool, loop.turn) == (calls[-1].tool, calls[-1].turn)
    if len(calls) < 3:
        assert loop is None


@given(CALLS, st.integers(2, 4), st.data())
@example_count(100)
def test_whatever_came_before_a_cycle_that_goes_on_is_found(before, period, data) -> None:
    block = data.draw(st.lists(st.sampled_from("abcdef"), min_size=period, max_size=period))
    calls = [*before, *(look(40 + at, name, name) for at, name in enumerate(block * 3))]
    assert found(calls) is not None


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=40, unique_by=lambda text: text.strip()))
@example_count(100)
def test_looking_at_ever_new_places_trips_nothing(names) -> None:
    calls = [look(turn, name, f"unique {'x' * turn}") for turn, name in enumerate(names, 1)]
    assert kinds(calls) == [None] * len(calls)


def test_different_commands_that_work_in_silence_are_no_repeat() -> None:
    calls = [
        ToolUse(turn, "run_command", {"command": f"mv {turn} new"}, "exit 0 (0.0 s)\n[no output]") for turn in range(30)
    ]
    assert kinds(calls) == [None] * 30


def test_searches_that_find_nothing_are_a_repeat_although_each_result_quotes_its_question() -> None:
    calls = [ToolUse(turn, "grep", {"pattern": f"no{turn}"}, f"no line matches no{turn} in .") for turn in range(1, 10)]
    assert kinds(calls) == [None] * 7 + ["content_repeat"] * 2
