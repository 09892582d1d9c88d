"""Wrapping of lines at blanks, with a hanging indent, for any width of a terminal."""

import re
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

_LEAD: Final = re.compile(r"(?P<blanks> *)(?P<mark>(?:\d+\.|[-↳✓✗•›]|note:|(?:ok|note|missing)(?= )) *)?")
_INDENT: Final = 2
"""Extra indent of the continuation of a line without a mark."""


def wrapped(text: Text, console: Console, width: int) -> list[Text]:
    """The lines of the text, each at most `width` columns; continuations are indented to its words."""
    lines: list[Text] = []
    for line in text.split("\n", allow_blank=True):
        lines.extend([line] if cell_len(line.plain) <= width else _hung(line, console, width))
    return lines


def _hung(line: Text, console: Console, width: int) -> list[Text]:
    """A long line, split into several."""
    lead = _LEAD.match(line.plain)
    assert lead is not None  # noqa: S101  it matches the empty text
    hang = cell_len(lead[0]) if lead["mark"] else len(lead["blanks"]) + _INDENT
    if hang > width // 2:  # hardly any room is left: rather a shallow indent than a column of syllables
        hang = min(_INDENT, width // 4)
        first, *others = _parts(line[len(lead["blanks"]) :], console, width - hang)
        return [Text(" " * min(hang, len(lead["blanks"]))) + first, *(Text(" " * hang) + part for part in others)]

    head, words = line[: lead.end()], line[lead.end() :]
    first, *others = _parts(words, console, width - hang)
    return [head + first, *(Text(" " * hang) + part for part in others)]


def _parts(words: Text, console: Console, width: int) -> list[Text]:
    """Pieces of at most this width, without the blanks between them."""
    parts = list(words.wrap(console, max(1, width)))
    for part in parts[:-1]:
        part.rstrip()
    return parts
