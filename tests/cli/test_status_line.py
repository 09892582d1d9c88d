"""The status line tells what is going on, and of tokens only where a model is asked."""

from dataclasses import replace

import pytest
from support.run_events import recorded

from kotef.cli.screen import Screen
from kotef.cli.screen.status import status_line
from kotef.runs.progress import RunProgress


def test_tokens_are_told_only_where_a_model_used_some() -> None:
    screen = Screen(max_attempts=3)
    screen(recorded("check_started", check="pytest", command="pytest -q"))
    assert "token" not in str(screen._status())
    screen(recorded("model_answer", tokens_in=1000, tokens_out=200))
    assert " · 1,200 tokens · " in str(screen._status())


def line(width: int, **facts: object) -> str:
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
    return status_line(doing, max_attempts=3, max_time=3600.0, now=0.0, width=width)


def test_it_tells_attempt_node_step_tokens_cost_time_and_time_left() -> None:
    assert line(120) == (
        "attempt 2 of 3 · coder · run_command pytest -q · 12,345 tokens · 0.5000 spent · 1:05 · 58:55 left"
    )


@pytest.mark.parametrize("width", range(20, 130))
def test_it_never_is_wider_than_the_terminal_and_always_says_which_attempt(width: int) -> None:
    assert len(line(width)) <= width
    assert line(width).startswith("attempt 2 of 3")
    assert "1:05" in line(width) or width < len("attempt 2 of 3 · 1:05")


def test_that_it_is_stopping_is_said_where_room_is_scarce_too() -> None:
    assert "stopping after this step" in line(60, stopping=True)
