"""A test file, or a file that it compares with, with one wrong expected result."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from kotef.source import SourceText, TextEdit

OracleKind = Literal["literal", "near", "golden", "wrapped", "condition", "raises", "thrown", "tolerance"]

_MAX_LINE: Final = 240
"""Characters of a line that people are shown."""


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """One oracle of a test, made wrong: an honest judge fails the test with this content in the place of the file."""

    kind: OracleKind
    path: str
    """The file that is changed, from the root."""
    line: int
    """The first changed line, from 1."""
    was: str
    """The line before the change, stripped; for people."""
    now: str
    """The same line after the change."""
    content: bytes
    """The whole changed file."""
    halted: bytes | None
    """A whole file with an unconditional failure in the place of this assertion: the test passes where the
    assertion is not reached, or where its failure is caught. None where that cannot be made."""
    asserting: str = ""
    """The file that holds the assertion, and that `halted` is of; empty: `path`."""
    ending: bytes | None = None
    """The same file with the end of the process there, which nothing can catch; None where that cannot be made, or
    where the test itself may catch its failure."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A file that a test compares with."""

    path: str
    source: SourceText


@dataclass(frozen=True, slots=True)
class OracleEdit:
    """What makes one oracle wrong, before it is applied."""

    kind: OracleKind
    edits: tuple[TextEdit, ...]
    halt: tuple[TextEdit, ...] = ()
    """Empty if no unconditional failure can be put there."""
    ending: tuple[TextEdit, ...] = ()
    """Empty if the end of the process cannot be put there."""
    beside: Beside | None = None
    """The file that `edits` change; None: the one that holds the assertion, as `halt`."""


def wrong_answer(path: str, source: SourceText, oracle: OracleEdit) -> WrongAnswer | None:
    """The edit applied; None if it changes nothing, moves lines, or does not fit the encoding of the file."""
    place, before = (oracle.beside.path, oracle.beside.source) if oracle.beside else (path, source)
    changed = before.edited(oracle.edits)
    content = changed.encoded()
    if content is None or changed.text == before.text or len(changed.line_starts) != len(before.line_starts):
        return None
    line = _first_difference(before, changed)
    halted = source.edited(oracle.halt).encoded() if oracle.halt else None
    ending = source.edited(oracle.ending).encoded() if oracle.ending else None
    was, now = (text.line(line).strip()[:_MAX_LINE] for text in (before, changed))
    return WrongAnswer(oracle.kind, place, line, was, now, content, halted, path, ending)


def _first_difference(one: SourceText, other: SourceText) -> int:
    lines: Sequence[int] = range(1, len(one.line_starts) + 1)
    return next(number for number in lines if one.line(number) != other.line(number))
