"""The screen: everything that kotef prints for a person."""

from kotef.cli.screen.console import coloured, console, is_attended, is_live, say, say_json, warn
from kotef.cli.screen.live import Screen
from kotef.cli.screen.sanitize import one_line, plain

__all__ = ["Screen", "coloured", "console", "is_attended", "is_live", "one_line", "plain", "say", "say_json", "warn"]
