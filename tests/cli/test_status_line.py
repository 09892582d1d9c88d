"""The status line tells what is going on, and of tokens only where a model is asked."""

from kotef.cli.screen import Screen


def test_tokens_are_told_only_where_a_model_used_some() -> None:
    screen = Screen(max_attempts=3)
    screen({"event": "check_started", "visit": 0, "check": "pytest", "command": "pytest -q"})
    assert "token" not in str(screen._status())
    screen({"event": "model_answer", "tokens_in": 1000, "tokens_out": 200})
    assert " · 1,200 tokens · " in str(screen._status())
