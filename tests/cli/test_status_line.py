"""The status line tells what is going on, and what is used of each budget."""

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console
from support.run_events import recorded

from kotef.cli.screen import Screen
from kotef.cli.screen.budget import short, time_used, tokens_used
from kotef.cli.screen.status import status_line
from kotef.runs.progress import RunProgress
from kotef.settings import Limits


def test_tokens_are_told_only_where_a_model_used_some() -> None:
    screen = Screen()
    screen(recorded("check_started", check="pytest", command="pytest -q"))
    assert "token" not in str(screen._status())
    screen(recorded("model_answer", node="coder", tokens_in=1000, tokens_out=200))
    assert " · 1.2k tokens · " in str(screen._status())


def line(width: int, *, limits: Limits | None = Limits(max_cost=2.0), **facts: object) -> str:  # noqa: B008  frozen
    known = {
        "attempt": 2,
        "node": "coder",
        "what": "run_command pytest -q",
        "tokens_in": 12_000,
        "tokens_out": 345,
        "cost": 0.5,
        "worked": 65.0,
    }
    doing = replace(RunProgress(), **(known | facts))
    return status_line(doing, limits, now=0.0, width=width)


def test_it_tells_attempt_node_step_and_what_is_used_of_each_budget() -> None:
    assert line(120) == (
        "attempt 2 of 3 · coder · run_command pytest -q · 12k of 2M tokens · 0.5000 of 2 spent · 1:05 of 60 min"
    )
    assert line(120, limits=None) == "attempt 2 · coder · run_command pytest -q · 12k tokens · 0.5000 spent · 1:05"


def test_a_budget_is_told_as_a_budget() -> None:
    assert time_used(185, 600) == "3:05 of 10 min"
    assert time_used(185, 90) == "3:05 of 1:30"
    assert tokens_used(950, 200_000) == "950 of 200k tokens"
    assert [short(number) for number in (0, 999, 1_000, 1_250, 9_999, 12_345, 2_000_000)] == [
        *("0", "999", "1k", "1.2k", "10k", "12k", "2M")
    ]


@pytest.mark.parametrize("width", range(20, 130))
def test_it_never_is_wider_than_the_terminal_and_always_says_which_attempt(width: int) -> None:
    assert len(line(width)) <= width
    assert line(width).startswith("attempt 2 of 3")
    assert "1:05 of 60 min" in line(width) or width < len("attempt 2 of 3 · 1:05 of 60 min")


def test_that_it_is_stopping_is_said_where_room_is_scarce_too() -> None:
    assert "stopping after this step" in line(60, stopping=True)


def test_a_step_in_wide_characters_leaves_the_budgets_in_place() -> None:
    """A Chinese character and an emoji take two columns each."""
    shown = line(100, what="echo " + "長い🎉" * 40)
    assert shown.endswith("1:05 of 60 min")
    assert "長" in shown
    assert cell_len(shown) <= 100


def test_the_echo_of_ctrl_c_fits_behind_the_status_line() -> None:
    """Else it begins a new line, and a line of the view stays behind."""
    page = Console(file=io.StringIO(), force_terminal=True, width=60)
    screen = Screen(limits=Limits(), screen=page)
    screen(recorded("check_started", check="pytest", command="pytest -q " + "tests/test_long_name.py " * 9))
    assert len(f"{screen._status()}^C") < 60
