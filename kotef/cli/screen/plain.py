"""Which text may reach a terminal?"""

import re
import unicodedata
from typing import Final

STEERING: Final = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
"""Control characters, marks of direction, and what no terminal can print; in JSON they stand in texts only."""


def plain(text: str) -> str:
    """`text` without what could steer a terminal: control characters and bidirectional marks, line breaks kept."""
    kept = (char for char in text if char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cf", "Cs"})
    return "".join(kept)


def flat(text: str) -> str:
    """All of it in one line, as a person reads and edits a step."""
    return " ".join(plain(text).split())


def one_line(text: str, width: int = 160) -> str:
    """The first line that says something, cut to `width` characters."""
    line = next((line for line in plain(text).splitlines() if line.strip()), "").strip()
    return line if len(line) <= width else line[: width - 1] + "…"


def some(items: list[str] | tuple[str, ...], most: int = 5, width: int = 100) -> str:
    """The first of them, and how many more there are."""
    rest = len(items) - most
    shown = ", ".join(one_line(item, width) for item in items[:most])
    return f"{shown} and {rest:,} more" if rest > 0 else shown
