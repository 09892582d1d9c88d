"""Complaints in the output of a check, each with its place in the project."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from kotef.classification import plain_lines

MAX_COMPLAINTS: Final = 40

Locate = Callable[[str], str | None]
"""From a path as an output spells it to one relative to the workspace; None for files of others."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of code on the way to an error."""

    path: str
    """Relative to the workspace; empty for a file that is not the project's."""
    line: int


@dataclass(frozen=True, slots=True)
class Complaint:
    """One error as the output reports it."""

    error: str
    """The exception's class, without its module; what linters say is put into the same words."""
    message: str
    evidence: str
    """The line of the output."""
    frames: tuple[Frame, ...] = ()
    """Outermost first; empty when the output names no place."""

    @property
    def where(self) -> Frame | None:
        """The line that raised, if it is the project's."""
        return self.frames[-1] if self.frames and self.frames[-1].path else None


class _Lint(NamedTuple):
    """How a linter or a type checker says what Python would raise."""

    pattern: str
    """Searched in the line; its groups go into `message`."""
    error: str
    message: str
    source: str


_LINTS: Final = (
    _Lint(r"[Uu]ndefined (?:name|variable) [`'\"](\w+)[`'\"]", "NameError", "name '{}' is not defined", "F821, E0602"),
    _Lint(r'error: Name "(\w+)" is not defined', "NameError", "name '{}' is not defined", "mypy name-defined"),
    _Lint(r'"(\w+)" is not defined \(reportUndefined', "NameError", "name '{}' is not defined", "pyright"),
    _Lint(r'error: "(\w+)" has no attribute "(\w+)"', "AttributeError", "'{}' object has no attribute '{}'", "mypy"),
    _Lint(r"(?:\binvalid-syntax|\bE999 \w+|\[syntax\]|: SyntaxError): ?(.*)", "SyntaxError", "{}", "ruff, flake8"),
    _Lint(r"error: (.*)  \[syntax\]$", "SyntaxError", "{}", "mypy"),
)

EXCEPTIONS: Final = (
    *(
        "NameError",
        "UnboundLocalError",
        "AttributeError",
        "ImportError",
        "ModuleNotFoundError",
        "KeyError",
        "TypeError",
    ),
    *("SyntaxError", "IndentationError", "TabError"),
)
"""The exceptions that complaints are of."""
_NAMES: Final = "|".join(EXCEPTIONS)
_RAISED: Final = re.compile(rf"[\s|+]*(?P<pytest>E\s+)?(?P<error>{_NAMES}): (?P<message>.*\S)")
_SUMMARY: Final = re.compile(rf"(?:FAILED|ERROR) \S.* - (?P<error>{_NAMES}): (?P<message>.*\S)(?<!\.\.\.)$")
_NATIVE: Final = re.compile(r'[\s|+]*(?:E\s+)?File "(?P<path>[^"]+)", line (?P<line>\d{1,7})')
_PYTEST: Final = re.compile(r"(?P<path>\S[^:]*):(?P<line>\d{1,7}):(?: in \S.*)?$")
_RAISED_AT: Final = re.compile(r"(?P<path>\S[^:]*):(?P<line>\d{1,7}): (?P<error>\w+)\b")
_LINTED_AT: Final = re.compile(r"\s*(?:--> )?(?P<path>[^\s:][^:]*\.pyi?):(?P<line>\d{1,7})\b")
_START: Final = re.compile(
    r"_{3,} .* _{3,}$|={5,}|[\s|+E]*Traceback|The above exception|During handling of the above|\*{5,}"
)


def complaints(output: str, locate: Locate) -> list[Complaint]:
    """The distinct complaints of one output in its order, at most `MAX_COMPLAINTS`; never raises.

    Tracebacks come first; a line of pytest's summary or of a linter counts when no traceback gives the same.
    """
    lines = plain_lines(output)
    found: dict[tuple[str, str, Frame | None], Complaint] = {}
    for complaint in _raised(lines, locate):
        found.setdefault((complaint.error, complaint.message, complaint.where), complaint)
    pairs = {(complaint.error, complaint.message) for complaint in found.values()}
    for complaint in (*_linted(lines, locate), *_summarised(lines)):
        if (complaint.error, complaint.message) not in pairs:
            found.setdefault((complaint.error, complaint.message, complaint.where), complaint)
    return list(found.values())[:MAX_COMPLAINTS]


def _raised(lines: Sequence[str], locate: Locate) -> Iterator[Complaint]:
    """Errors with their tracebacks, in the formats of Python, unittest and pytest (long, short, line, native)."""
    frames: list[Frame] = []
    for index, line in enumerate(lines):
        if _START.match(line):
            frames = []
        elif match := _NATIVE.match(line) or _PYTEST.match(line):
            frames.append(_frame(match, locate))
        elif (match := _RAISED.match(line)) and not line.startswith(("FAILED", "ERROR")):
            complaint = Complaint(match["error"], match["message"], line.strip(), tuple(frames))
            if match["pytest"] and (at := _raised_at(lines[index + 1 : index + 6], match["error"])):
                complaint = replace(complaint, frames=(*frames, _frame(at, locate)))
            frames = []
            yield complaint


def _raised_at(below: Sequence[str], error: str) -> re.Match[str] | None:
    """In pytest the innermost line comes after the error: `shop/cart.py:3: NameError`."""
    for line in below:
        if line and not line.startswith("E "):
            match = _RAISED_AT.match(line)
            return match if match and match["error"] == error else None
    return None


def _linted(lines: Sequence[str], locate: Locate) -> Iterator[Complaint]:
    """What linters say on one line (`path:line:column: …`) or on two (the place below, behind `-->`)."""
    for index, line in enumerate(lines):
        for lint in _LINTS:
            match = re.search(lint.pattern, line)
            below = lines[index + 1] if index + 1 < len(lines) else ""
            place = match and (_LINTED_AT.match(line) or _LINTED_AT.match(below))
            if match and place:
                yield Complaint(
                    lint.error, lint.message.format(*match.groups()), line.strip(), (_frame(place, locate),)
                )
                break


def _summarised(lines: Sequence[str]) -> Iterator[Complaint]:
    """The last lines of pytest, when they are not cut: all there is with `--tb=no`."""
    for line in lines:
        if match := _SUMMARY.match(line):
            yield Complaint(match["error"], match["message"], line)


def _frame(match: re.Match[str], locate: Locate) -> Frame:
    return Frame(locate(match["path"]) or "", int(match["line"]))
