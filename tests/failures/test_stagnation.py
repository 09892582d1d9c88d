"""Which visits make no progress, and which only take long?"""

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.failures.loop_detection import Tools
from kotef.failures.stagnation import (
    EXPLORED,
    NUDGE_AFTER,
    NUDGE_EDITS,
    REWRITES,
    STOP_AFTER,
    STOP_EDITS,
    StallNudge,
    VisitProgress,
)
from kotef.failures.tool_calls import ToolUse

TOOLS = Tools(exact=frozenset({"view_file", "grep"}))
LIMIT = 1_000
"""Calls after which a visit of these tests is taken to go on for ever."""


class Play:
    """Calls one by one, as a guard takes them: what it is told of, and when it ends."""

    def __init__(self, *planned: str) -> None:
        self.progress = VisitProgress(TOOLS, planned=frozenset(planned))
        self.nudges: list[StallNudge] = []
        self.ended: str | None = None

    def call(self, tool: str = "view_file", result: str = "x", failure: Any = None, **rest: Any) -> "Play":
        changed, checks = rest.pop("changed", {}), rest.pop("checks", {})
        self.progress.take([ToolUse(1, tool, rest, result, failure=failure, changed=changed, checks=checks)])
        if found := self.progress.stall(self.nudges):
            stall, ends = found
            if ends:
                self.ended = self.ended or stall.kind
            else:
                self.nudges.append(StallNudge(stall.kind, stall.number, stall.at))
        return self

    @property
    def calls(self) -> int:
        return self.progress.tally.at

    def until_the_end(self, step: Any) -> int:
        for number in range(LIMIT):
            step(number)
            if self.ended:
                return self.calls
        raise AssertionError("it goes on for ever")

    def edit(self, path: str, old: str, new: str, **rest: Any) -> "Play":
        return self.call("edit_file", "written", path=path, changed={path: (old, new)}, **rest)

    def test(self, *red: str, check: str = "tests") -> "Play":
        return self.call("run_checks", f"{len(red)} failed", "test_failure" if red else None, checks={check: red})


def test_calls_that_show_nothing_new_are_told_at_forty_and_end_the_visit_at_sixty() -> None:
    play = Play()
    assert play.until_the_end(lambda number: play.call("grep", "nothing", pattern=f"{number}")) == 1 + 60
    assert [nudge.number for nudge in play.nudges] == [NUDGE_AFTER]


def test_reading_for_ever_ends_too_after_a_bounded_number_of_new_files() -> None:
    play = Play()
    most = EXPLORED + NUDGE_AFTER + STOP_AFTER
    assert play.until_the_end(lambda number: play.call(result=f"line of {number}", path=f"f{number}.py")) == most


def test_sixty_new_files_are_no_reason_to_be_told_anything() -> None:
    play = Play()
    for number in range(60):
        play.call(result=f"line of {number}", path=f"f{number}.py")
    assert (play.progress.idle, play.nudges) == (60 - EXPLORED, [])


def test_files_that_the_plan_names_are_worth_a_call_each() -> None:
    play = Play(*(f"f{number}.py" for number in range(200)))
    for number in range(200):
        play.call(result=f"line of {number}", path=f"f{number}.py")
    assert (play.progress.idle, play.nudges) == (0, [])
    for number in range(60):
        play.call(result="line of 3", path=f"f{number}.py")
    assert play.ended == "calls"


def test_an_edit_that_is_taken_back_is_no_progress_however_often_and_in_whatever_words() -> None:
    play = Play()

    def there_and_back(number: int) -> None:
        play.edit("a.py", "0", f"n{number}")
        play.edit("a.py", f"n{number}", "0")

    assert play.until_the_end(there_and_back) <= 62


def test_to_rewrite_one_file_for_ever_is_no_progress() -> None:
    play = Play()
    assert play.until_the_end(lambda number: play.edit("a.py", f"{number}", f"{number + 1}")) <= REWRITES + 61


def test_to_make_new_files_for_ever_is_no_progress() -> None:
    play = Play()
    assert play.until_the_end(lambda number: play.edit(f"f{number}", "", "x")) <= 130


def test_a_look_between_edits_of_many_files_never_ends_the_visit() -> None:
    play = Play()
    for number in range(50):
        play.call(result=f"line of {number}", path=f"f{number}.py").edit(f"f{number}.py", "0", "1").call("grep", "none")
    assert play.nudges == []


def test_six_different_edits_that_leave_the_same_test_red_end_the_visit() -> None:
    play = Play().test("test_add")
    for number in count(1):
        play.edit("a.py", f"{number - 1}", f"{number}").test("test_add")
        if play.ended:
            break
    assert (play.ended, number) == ("edits", STOP_EDITS)
    assert [(nudge.kind, nudge.number) for nudge in play.nudges] == [("edits", NUDGE_EDITS)]


def test_a_test_that_is_red_while_others_turn_green_is_no_reason() -> None:
    play = Play()
    for number in range(30):
        play.edit("a.py", f"{number - 1}", f"{number}").test(*(f"test_{left}" for left in range(number, 31)))
    assert play.ended is None


def test_two_wrong_edits_in_turn_are_no_progress() -> None:
    play = Play()

    def turn(number: int) -> None:
        play.edit("a.py", "ab"[number % 2], "ba"[number % 2]).test("test_add")

    assert play.until_the_end(turn) <= 140


def test_the_same_test_under_other_command_lines_is_nothing_new_for_ever() -> None:
    play = Play()
    assert play.until_the_end(lambda number: play.test("test_add", check=f"pytest -k {number}")) <= 140


def test_a_check_that_improves_once_starts_the_count_again() -> None:
    play = Play().test("one", "two")
    for number in range(NUDGE_AFTER - 1):
        play.call("grep", "none", pattern=f"{number}")
    play.edit("a.py", "0", "1").test("one").edit("a.py", "1", "0")
    assert play.progress.idle <= 1


CALLS = st.lists(
    st.builds(
        ToolUse,
        turn=st.just(1),
        tool=st.sampled_from(("view_file", "grep", "run_command")),
        arguments=st.just({}),
        result=st.sampled_from(("a", "b", "c\nd")),
        failure=st.sampled_from((None, "tool_error")),
        changed=st.dictionaries(
            st.sampled_from("xy"), st.tuples(st.sampled_from("01"), st.sampled_from("01")), max_size=1
        ),
        checks=st.dictionaries(st.sampled_from("pq"), st.lists(st.sampled_from("tuv")).map(tuple), max_size=1),
    ),
    max_size=40,
)


@given(CALLS, st.integers(0, 40))
def test_it_does_not_matter_how_many_calls_are_taken_at_once(calls: list[ToolUse], cut: int) -> None:
    whole, parts = VisitProgress(), VisitProgress()
    whole.take(calls)
    parts.take(calls[:cut])
    parts.take(calls[cut:])
    assert whole == parts
    assert 0 <= whole.idle <= len(calls)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_bounded_cannot_go_on_for_ever(seed: int) -> None:
    """Whatever a few files, tests and words are put together to: no visit of these goes on without an end."""
    import random

    chance = random.Random(seed)
    play = Play()

    def step(number: int) -> None:
        path, old, new = chance.choice("abc"), chance.choice("012"), chance.choice("012")
        if chance.random() < 0.3:
            play.edit(path, old, new)
        elif chance.random() < 0.3:
            play.test(*chance.sample("tuvw", chance.randrange(1, 4)))
        else:
            play.call(result=chance.choice("xyz"), path=f"{number}")

    assert play.until_the_end(step) < LIMIT
