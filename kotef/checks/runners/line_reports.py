"""A reader for runners that print a line for each test."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kotef.checks.reports import worse
from kotef.checks.runners.row import Leavings, Statuses
from kotef.checks.types import TestStatus
from kotef.integrity import test_id


class Lines(NamedTuple):
    """How one runner prints the end of a test."""

    hint: str
    """A literal that every such line holds."""
    pattern: re.Pattern[str]
    """Matched at the start of a line; groups `name` and `status`, and perhaps `place`."""
    statuses: Mapping[str, TestStatus]
    """By the beginning of what `status` matched, first match; a line with any other status is ignored."""
    heading: re.Pattern[str] | None = None
    """A line that names the place of the tests below it."""


def tests_in(rows: Lines, lines: Iterable[str]) -> Statuses:
    """Status of each test in the lines; if an id occurs more than once, its worst status."""
    tests: Statuses = {}
    place = ""
    for line in lines:
        if rows.heading and (above := rows.heading.match(line)):
            place = above["place"]
        if rows.hint not in line or not (found := rows.pattern.match(line)):
            continue
        status = _status(rows.statuses, found["status"])
        if status is None:
            continue
        fields = found.groupdict()
        add(tests, test_id(fields.get("place") or place, fields["name"]), status)
    return tests


def read_by(rows: Lines) -> Callable[[Leavings], Statuses | None]:
    """A reader of both streams for one kind of line."""
    return lambda left: tests_in(rows, (*left.out, *left.err)) or None


def add(tests: Statuses, test: str, status: TestStatus) -> None:
    """Add a test; if the id is there already, the worse status is kept."""
    tests[test] = worse(tests[test], status) if test in tests else status


def together(one: Statuses, other: Statuses) -> Statuses:
    """The tests of both; for an id in both the worse status."""
    merged = dict(one)
    for test, status in other.items():
        add(merged, test, status)
    return merged


def _status(statuses: Mapping[str, TestStatus], text: str) -> TestStatus | None:
    return next((status for word, status in statuses.items() if text.startswith(word)), None)
