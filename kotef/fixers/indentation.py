"""Fixer for indentation, where only one makes the file compile."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from kotef.fixers.source import PythonText

MAX_BLOCK: Final = 40
"""Statements that are tried as the body of a header; longer bodies are left to others."""
TAB_STOPS: Final = (8, 4)
"""What a tab may have meant: Python 2 and terminals, or the editor."""

_LEAVES: Final = re.compile(r"(?:return|raise|continue|break)\b")
_AFTER: Final = re.compile(r"on line (\d+)$")


@dataclass(frozen=True, slots=True)
class _LogicalLine:
    """One logical line."""

    first: int
    """Index of its first physical line."""
    last: int
    """Index of its last physical line."""
    width: int
    """Columns of indentation, a tab counted to the next multiple of eight."""
    code: str
    """Masked, without indentation."""


def candidates(source: PythonText, error: SyntaxError) -> Iterator[tuple[str, str]]:
    """Texts with other indentation, smallest change first, each with what was done; most do not compile.

    A choice that puts a statement right behind a `return` of its own block is none. While brackets are open no one
    can know where statements start: then there is none at all.
    """
    message, line = error.msg or "", error.lineno or 0
    statements = _statements(source)
    at = next((index for index, one in enumerate(statements) if one.first <= line - 1 <= one.last), None)
    if isinstance(error, TabError):
        for stop in TAB_STOPS:
            yield _without_tabs(source, stop), f"tabs in the indentation replaced by {stop} spaces"
    elif at is None or source.brackets != ([], 0):
        return
    elif message.startswith("expected an indented block"):
        header = _AFTER.search(message)
        above = next((index for index in range(at) if header and statements[index].first == int(header[1]) - 1), at - 1)
        yield from _body(source, statements, above, at)
    elif message.startswith(("unexpected indent", "unindent does not match")):
        levels = _levels(statements, at)
        slip = [level for level in levels if abs(level - statements[at].width) == 1]
        yield from _shifted(source, statements, at, slip if len(slip) == 1 else levels)
        if at and not slip:
            yield from _alone(source, statements[at - 1], statements[at].width)


def _body(source: PythonText, statements: list[_LogicalLine], above: int, at: int) -> Iterator[tuple[str, str]]:
    """Statements become the body of the header above them, or the header moves out to them."""
    unit, header = _unit(statements), statements[max(0, above)]
    if _blank_between(source, header, statements[at]) <= 1:
        yield from _shifted(source, statements, at, [header.width + unit])
        if statements[at].width >= unit:
            yield from _alone(source, header, statements[at].width - unit)


def _alone(source: PythonText, statement: _LogicalLine, level: int) -> Iterator[tuple[str, str]]:
    """One statement moved to a level."""
    yield _moved(source, [statement], level - statement.width), f"{_lines([statement])} indented by {level} columns"


def _blank_between(source: PythonText, before: _LogicalLine, after: _LogicalLine) -> int:
    return sum(not source.lines[index].strip() for index in range(before.last + 1, after.first))


def _shifted(
    source: PythonText, statements: list[_LogicalLine], at: int, levels: list[int]
) -> Iterator[tuple[str, str]]:
    """The statement at `at`, alone or with those that follow it at its level or deeper, moved to each level."""
    block = _block(source, statements, at)
    for level in levels:
        delta = level - statements[at].width
        for end in range(1, len(block) + 1):
            if not _dead(statements[:at], block[:end], level):
                yield _moved(source, block[:end], delta), f"{_lines(block[:end])} indented by {level} columns"


def _block(source: PythonText, statements: list[_LogicalLine], at: int) -> list[_LogicalLine]:
    """The statements from `at` on that are not indented less, up to two blank lines."""
    found = [statements[at]]
    for before, one in pairwise(statements[at:]):
        if one.width < found[0].width or _blank_between(source, before, one) > 1 or len(found) == MAX_BLOCK:
            break
        found.append(one)
    return found


def _dead(before: list[_LogicalLine], block: list[_LogicalLine], level: int) -> bool:
    """Whether a statement at the level of the block would follow one that leaves it."""
    top = [one for one in block if one.width == block[0].width]
    above = next((one for one in reversed(before) if one.width <= level), None)
    behind = [above, *top] if above and above.width == level else top
    return any(_LEAVES.match(one.code) for one in behind[:-1])


def _levels(statements: list[_LogicalLine], at: int) -> list[int]:
    """The indentations that are open above a statement, innermost first."""
    levels = [statements[at - 1].width] if at else [0]
    for one in reversed(statements[:at]):
        if one.width < levels[-1]:
            levels.append(one.width)
    return levels


def _unit(statements: list[_LogicalLine]) -> int:
    """The smallest step of the file, or four columns."""
    steps = [after.width - before.width for before, after in pairwise(statements) if after.width > before.width]
    return min(steps, default=4)


def _moved(source: PythonText, block: list[_LogicalLine], delta: int) -> str:
    """The text with the block's lines shifted; lines that start inside a string are the string's."""
    lines = list(source.lines)
    for one in block:
        for index in range(one.first, one.last + 1):
            start = source.starts[index]
            blanks = re.match(r"[ \t]*", lines[index])
            if lines[index].strip() and blanks and not (start and source.masked[start - 1] == "§"):
                width = max(0, len(blanks[0].expandtabs(8)) + delta)
                lines[index] = " " * width + lines[index][blanks.end() :]
    return "".join(lines)


def _without_tabs(source: PythonText, stop: int) -> str:
    lines = list(source.lines)
    for index, line in enumerate(lines):
        start = source.starts[index]
        blanks = re.match(r"[ \t]*", line)
        if blanks and "\t" in blanks[0] and not (start and source.masked[start - 1] == "§"):
            lines[index] = blanks[0].expandtabs(stop) + line[blanks.end() :]
    return "".join(lines)


def _statements(source: PythonText) -> list[_LogicalLine]:
    """The logical lines of a file that need not compile."""
    found, first, depth = list[_LogicalLine](), None, 0
    for index, start in enumerate(source.starts[:-1]):
        masked = source.masked[start : source.starts[index + 1]]
        if first is None:
            if not masked.strip():
                continue
            first = index
        depth = max(0, depth + sum(map(masked.count, "([{")) - sum(map(masked.count, ")]}")))
        goes_on = depth or masked.endswith("§") or masked.rstrip("\r\n").endswith("\\")
        if not goes_on or index == len(source.lines) - 1:
            code = source.masked[source.starts[first] : source.starts[index + 1]]
            blanks = code[: len(code) - len(code.lstrip(" \t"))]
            found.append(_LogicalLine(first, index, len(blanks.expandtabs(8)), code.strip()))
            first, depth = None, 0
    return found


def _lines(block: list[_LogicalLine]) -> str:
    first, last = block[0].first + 1, block[-1].last + 1
    return f"line {first}" if first == last else f"lines {first} to {last}"
