"""Removal of characters that must not reach a terminal."""

import re
import unicodedata
from typing import Final

_LOOKED_AT: Final = re.compile("[^\n\t -~]")
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of invisible and steering characters: controls, bidi and zero-width marks, line separators."""


SHOWN: Final = 5
"""Items of a list that are shown in a line."""


def plain(text: str) -> str:
    """`text` without characters that could steer a terminal or hide from a reader; keeps line breaks and tabs."""
    return _LOOKED_AT.sub(lambda found: "" if _is_unseen(found[0]) else found[0], text)


def escaped(text: str) -> str:
    """JSON text with these characters as JSON escapes; in JSON they only occur inside strings."""
    return _LOOKED_AT.sub(lambda found: _as_json(found[0]) if _is_unseen(found[0]) else found[0], text)


def _is_unseen(char: str) -> bool:
    return unicodedata.category(char) in _UNSEEN


def _as_json(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True))


def flat(text: str) -> str:
    """The whole text in one line."""
    return " ".join(plain(text).split())


def one_line(text: str, width: int = 160) -> str:
    """The first non-blank line, cut to `width` columns; a Chinese character or an emoji takes two."""
    line = next((line for line in plain(text).splitlines() if line.strip()), "").strip()
    if _columns(line) <= width:
        return line
    kept = line[: width - 1]
    while _columns(kept) > width - 1:
        kept = kept[:-1]
    return kept + "…"


def _columns(line: str) -> int:
    """The width of a line on a terminal."""
    if line.isascii():
        return len(line)
    from rich.cells import cell_len

    return cell_len(line)


def some(items: list[str] | tuple[str, ...], most: int = SHOWN, width: int = 100) -> str:
    """The first items, and how many more there are."""
    rest = len(items) - most
    shown = ", ".join(one_line(item, width) for item in items[:most])
    return f"{shown} and {rest:,} more" if rest > 0 else shown
