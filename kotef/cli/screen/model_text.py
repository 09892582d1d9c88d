"""Words of a model on the screen: dim, and folded unless all of them are wanted."""

import re
from typing import Final

from rich.console import Console
from rich.text import Text

from kotef.cli.screen.sanitize import plain
from kotef.cli.screen.wrap import wrapped

FOLDED: Final = 3
"""Lines shown of an answer."""
_LIVE: Final = 3
"""Lines shown of an answer while it arrives: the newest."""
_TAGS: Final = ("<tool_call>", "<function=")
_CALL: Final = re.compile(r"<tool_call>|<function=|^```[\w-]*\s*(?:[{\[]|\Z)|\A\s*[{\[]", re.MULTILINE)
"""Where a call begins that a model writes as text: a tag, JSON in a fenced block, or JSON as the whole answer."""
_PIPED: Final = 100
"""Columns of a line if the output is not a terminal."""


def word_lines(text: str, console: Console, *, full: bool) -> list[Text]:
    """The lines of a finished answer."""
    lines = _lines(text, console)
    if full or len(lines) <= FOLDED + 1:
        return lines
    more = f"    … {len(lines) - FOLDED:,} more lines (-v shows them)"
    return [*lines[:FOLDED], Text(more, style="dim")]


def live_words(text: str, console: Console) -> list[Text]:
    """The newest lines of an answer while it arrives, without a tool call that the model writes as text."""
    return _lines(_spoken(text), console)[-_LIVE:]


def _spoken(text: str) -> str:
    """The text before a call, whose tag may have arrived only in part."""
    if call := _CALL.search(text):
        return text[: call.start()]
    last = text.rfind("<")
    return text[:last] if last >= 0 and any(tag.startswith(text[last:]) for tag in _TAGS) else text


def _lines(text: str, console: Console) -> list[Text]:
    """The non-blank lines, the first with a mark."""
    kept = [line.rstrip() for line in plain(text).splitlines() if line.strip()]
    if not kept:
        return []
    shown = Text("\n".join(f"{'  › ' if number == 0 else '    '}{line}" for number, line in enumerate(kept)))
    shown.stylize("dim")
    return wrapped(shown, console, max(20, console.width - 1) if console.is_terminal else _PIPED)
