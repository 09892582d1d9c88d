"""The matrix of test results by visit."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from kotef.checks.types import TestStatus
from kotef.checks.verification import CheckVerdict, Verification

STATUSES: Final[Mapping[str, tuple[str, str]]] = {
    "p": ("✓", "passed"),
    "f": ("✗", "failed"),
    "e": ("!", "in error"),
    "k": ("≈", "flaky: failed with the others, passed alone"),
    "s": ("–", "skipped"),
    "x": ("–", "failed as expected"),
    "X": ("✓", "passed unexpectedly"),
    "t": ("⧖", "timed out"),
    "a": ("✗", "failed, but is advisory"),
    "m": ("∅", "gone: no report lists it now"),
    "o": ("·", "not run"),
    " ": ("", "not there"),
}
"""Letter of a cell → its sign and meaning."""
MARKS: Final[Mapping[str, tuple[str, str]]] = {
    "n": ("+", "new"),
    "b": ("↺", "its file was put back before judging"),
}
"""Letter beside a cell → its sign and meaning."""

_LETTER: Final[dict[TestStatus, str]] = {
    "passed": "p",
    "failed": "f",
    "error": "e",
    "skipped": "s",
    "xfailed": "x",
    "xpassed": "X",
}
_RED: Final = frozenset("fektm")
_UNKNOWN: Final = frozenset("o ")
_TWICE: Final = 2
FEW: Final = 12
"""Rows that stay green in files that were put back are shown up to this number."""
TRENDS: Final = (
    *("broken", "back and forth", "still red", "new, red", "gone", "flaky", "skipped now"),
    *("fixed", "new", "put back", "changed", "advice", ""),
)
"""Trends of a row, the worst first; empty: the same in every visit, and not red."""


@dataclass(frozen=True, slots=True)
class Column:
    """One visit."""

    visit: int
    passed: bool
    green: int
    red: int
    other: int
    """Skipped, or failed as expected."""
    put_back: int
    """Files."""


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One test, or one check as a whole."""

    name: str
    cells: str
    """A letter of `STATUSES` for each column."""
    marks: str
    """A letter of `MARKS`, or a blank, for each column."""
    trend: str
    check: bool = False


@dataclass(frozen=True, slots=True)
class Matrix:
    """Checks and tests by visits."""

    columns: tuple[Column, ...] = ()
    rows: tuple[MatrixRow, ...] = ()
    """Checks first; then the tests that say something, the worst first."""
    quiet: tuple[MatrixRow, ...] = ()
    """Tests that were never red and never changed."""


def matrix_of(judged: Mapping[int, Verification]) -> Matrix:
    """All visits that were judged, in order."""
    visits = sorted(judged)
    found = [judged[visit] for visit in visits]
    letters = [_letters(one) for one in found]
    names = list(dict.fromkeys(name for column in letters for name in column))
    put_back = [frozenset(one.put_back) for one in found]
    new = [frozenset(one.new_tests) for one in found]
    partial = [not one.regressions_known for one in found]
    tests = [_row(name, letters, put_back, new, partial) for name in names]
    tests.sort(key=lambda row: TRENDS.index(row.trend))
    dull = {"", *(["put back"] if sum(row.trend == "put back" for row in tests) > FEW else [])}
    return Matrix(
        tuple(_column(one, column) for one, column in zip(found, letters, strict=True)),
        (*_checks(found), *(row for row in tests if row.trend not in dull)),
        tuple(row for row in tests if row.trend in dull),
    )


def _letters(judged: Verification) -> dict[str, str]:
    """The tests of this visit; for checks without a report, those that the output names."""
    found = {name: _LETTER[status] for name, status in judged.tests.items()}
    named = (check for check in judged.checks if check.evidence not in {"report", "lines"})
    found |= {test: "f" for check in named for test in (*check.failing, *check.red) if test not in found}
    found |= dict.fromkeys(judged.missing, "m")
    return found | {name: "k" for name in judged.flaky if name in found}


def _row(
    name: str,
    letters: list[dict[str, str]],
    put_back: list[frozenset[str]],
    new: list[frozenset[str]],
    partial: list[bool],
) -> MatrixRow:
    file = name.partition("::")[0]
    cells, marks = "", ""
    known = False
    for column, paths, fresh, only_red in zip(letters, put_back, new, partial, strict=True):
        letter = column.get(name, "o" if known and only_red else " ")
        known = known or letter not in _UNKNOWN
        cells += letter
        mark = "n" if name in fresh else " "
        if file in paths and letter != " ":
            mark = "b"
        marks += mark
    return MatrixRow(name, cells, marks, _trend(cells, marks))


def _trend(cells: str, marks: str) -> str:
    """The trend of the row; see `TRENDS`."""
    letters = [letter for letter in cells if letter not in _UNKNOWN]
    if not letters:
        return ""
    red = [letter in _RED for letter in letters]
    turns = sum(one != other for one, other in pairwise(red))
    fresh = "n" in marks or cells[0] == " "
    ordered = (
        ("gone", letters[-1] == "m"),
        ("flaky", "k" in letters),
        ("back and forth", turns >= _TWICE),
        ("new, red", red[-1] and fresh),
        ("broken", red[-1] and not red[0]),
        ("still red", red[-1]),
        ("fixed", red[0]),
        ("skipped now", letters[-1] in "sx" and letters[0] not in "sx"),
        ("new", fresh and len(cells) > 1),
        ("put back", "b" in marks),
        ("changed", len(set(letters)) > 1),
    )
    return next((trend for trend, holds in ordered if holds), "")


def _column(judged: Verification, letters: Mapping[str, str]) -> Column:
    found = list(letters.values())
    green = sum(letter in "pX" for letter in found)
    red = sum(letter in _RED for letter in found)
    return Column(judged.visit, judged.passed, green, red, len(found) - green - red, len(judged.put_back))


def _checks(found: list[Verification]) -> Iterable[MatrixRow]:
    """A row for each check; `o` where a visit did not run it."""
    columns = [{check.name: check for check in judged.checks} for judged in found]
    for name in dict.fromkeys(name for column in columns for name in column):
        cells = "".join(_check_letter(column.get(name)) for column in columns)
        trend = _trend(cells, " " * len(cells)) or ("advice" if "a" in cells else "")
        yield MatrixRow(name, cells, " " * len(cells), trend, check=True)


def _check_letter(check: CheckVerdict | None) -> str:
    if check is None:
        return "o"
    if check.passed:
        return "p"
    if check.timed_out:
        return "t"
    return "a" if check.advisory else "f"
