"""Fixer for a missing or superfluous bracket."""

import re
from collections.abc import Iterator
from typing import Final

from kotef.fixers.source import CLOSING, PythonText

MAX_LINES: Final = 40
"""Lines below an opening bracket in which it may close."""

HEADER: Final = re.compile(
    r"[ \t]*(?:async[ \t]+)?(?:if|elif|else|for|while|def|class|try|except|finally|with|match|case)\b"
)
"""The first words of a compound statement."""

_MISMATCH: Final = re.compile(r"closing parenthesis '[)\]}]' does not match opening parenthesis '([(\[{])'")
_OPERATOR: Final = re.compile(r"[ \t](?:[-+*/%@&|^]|//|\*\*|<<|>>|[<>]=?|[!=]=|and|or|if|else|for|in|is|not)[ \t]")
_SPLIT: Final = re.compile(r"(?:^|[(\[{])[ \t]+[-+*/%@&|^<>=]")
"""An operator right behind an opening bracket: something closed there."""
_KEYWORD: Final = re.compile(r"\b(?:return|in|is|and|or|not|if|elif|while|print|yield|else|lambda)[ \t]*$")


def candidates(source: PythonText, error: SyntaxError) -> Iterator[tuple[str, str]]:
    """Texts with one bracket more, less, or of another kind, and fewer that match none, each with what was done.

    None if the bracket could be on either side of an operator, and no bracket is taken away but one of a pair
    that closes twice.
    """
    for text, what in _changed(source, error):
        if _wrong(PythonText("", text)) < _wrong(source):
            yield text, what


def _wrong(source: PythonText) -> int:
    opened, unmatched = source.brackets
    return len(opened) + unmatched


def _changed(source: PythonText, error: SyntaxError) -> Iterator[tuple[str, str]]:
    message, line = error.msg or "", error.lineno or 0
    if not 0 < line <= len(source.lines):
        return
    text, at = source.text, source.starts[line - 1] + (error.offset or 1) - 1
    opened, _ = source.brackets
    if match := _MISMATCH.match(message):
        closing, opening = CLOSING[match[1]], _innermost(source, at)
        if opening is not None and not _ambiguous(source, opening, at):
            yield text[:at] + closing + text[at:], f"{closing!r} was missing"
            yield text[:at] + closing + text[at + 1 :], f"{closing!r} closes what {match[1]!r} opens"
    elif message.startswith("unmatched ") and source.masked[:at].rstrip().endswith((")", "]", "}")):
        yield text[:at] + text[at + 1 :], f"{text[at : at + 1]!r} closed nothing"
    elif opened:
        closing = CLOSING[text[opened[0]]]
        for place in _ends(source, opened[0]):
            yield text[:place] + closing + text[place:], f"{closing!r} was missing"


def _ends(source: PythonText, opening: int) -> Iterator[int]:
    """Where a bracket may close: at the end of its line, or of a line below that is indented more.

    In front of the colon where a header ends so, and in front of the comma that separates what an outer bracket holds.
    """
    first = source.line_at(opening) - 1
    indent = _indent(source.lines[first])
    for index in range(first, min(first + MAX_LINES, len(source.lines))):
        start = source.starts[index]
        code = source.masked[start : source.starts[index + 1]].rstrip()
        if index > first and code and _indent(code) <= indent and code.lstrip()[:1] not in {")", "]", "}"}:
            return
        end = start + len(code)
        heads = code.endswith(":") and HEADER.match(code)
        inner = code.endswith(",") and _depth(source, opening, end) > 1
        place = end - 1 if heads or inner else end
        if code and not (index == first and _ambiguous(source, opening, place)):
            yield place
        if heads:
            return


def _ambiguous(source: PythonText, opening: int, end: int) -> bool:
    """Whether the bracket could also close before an operator between it and `end`, or only groups what is there."""
    inside = source.masked[opening + 1 : end]
    own = re.sub(r"[()\[\]{}].*[()\[\]{}]", "§", inside)
    before = source.masked[:opening].rstrip(" \t")
    groups = source.text[opening] == "(" and (_KEYWORD.search(before) or not re.search(r"[\w)\]§]$", before))
    split = _OPERATOR.search(own) or _SPLIT.search(inside)
    return bool(split or (groups and "," not in own))


def _innermost(source: PythonText, end: int) -> int | None:
    """Where the bracket opens that is open at `end`."""
    opened, _ = PythonText("", source.text[:end]).brackets
    return opened[-1] if opened else None


def _depth(source: PythonText, opening: int, end: int) -> int:
    """How many brackets are open at `end`, from `opening` on."""
    return len(PythonText("", source.text[opening:end]).brackets[0])


def _indent(line: str) -> int:
    line = line.expandtabs(8)
    return len(line) - len(line.lstrip())
