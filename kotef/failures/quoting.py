"""Quoting of untrusted text, so that it can neither start a line nor end its quotation."""

from typing import Final

_MARKS: Final = str.maketrans({'"': "'", "<": "‹", ">": "›"})


def plain(text: str, limit: int) -> str:
    """One line of printable text without quotation marks and angle brackets, at most `limit` characters."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split()).translate(_MARKS)
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def quoted(text: str, limit: int) -> str:
    """The same between quotation marks."""
    return f'"{plain(text, limit)}"'
