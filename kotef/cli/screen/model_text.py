"""Words of a model on the screen: dim, and folded unless all of them are wanted."""

from typing import Final

from rich.console import Console
from rich.text import Text

from kotef.cli.screen.sanitize import plain
from kotef.cli.screen.wrap import wrapped

FOLDED: Final = 3
"""Lines of an answer that are shown."""
_LIVE: Final = 3
"""Lines shown of an answer on its way: the newest."""
_PIPED: Final = 100
"""Columns of a line where the output is no terminal."""


def word_lines(text: str, console: Console, *, full: bool) -> list[Text]:
    """An answer's text as it stays on the screen."""
    lines = _lines(text, console)
    if full or len(lines) <= FOLDED + 1:
        return lines
    more = f"    … {len(lines) - FOLDED:,} more lines (-v shows them)"
    return [*lines[:FOLDED], Text(more, style="dim")]


def live_words(text: str, console: Console) -> list[Text]:
    """The newest lines of an answer on its way."""
    return _lines(text, console)[-_LIVE:]


def _lines(text: str, console: Console) -> list[Text]:
    """Its lines that say something, behind a mark."""
    kept = [line.rstrip() for line in plain(text).splitlines() if line.strip()]
    if not kept:
        return []
    shown = Text("\n".join(f"{'  › ' if number == 0 else '    '}{line}" for number, line in enumerate(kept)))
    shown.stylize("dim")
    return wrapped(shown, console, max(20, console.width - 1) if console.is_terminal else _PIPED)
