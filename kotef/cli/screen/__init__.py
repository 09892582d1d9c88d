"""The screen: what a run prints while it is at work, and how."""

from kotef.cli.screen.console import complain, console, is_attended, is_live, say, say_json, warn
from kotef.cli.screen.diffs import coloured
from kotef.cli.screen.live import Detail, Screen
from kotef.cli.screen.sanitize import one_line, plain

__all__ = [
    "Detail",
    "Screen",
    "coloured",
    "complain",
    "console",
    "is_attended",
    "is_live",
    "one_line",
    "plain",
    "say",
    "say_json",
    "warn",
]
