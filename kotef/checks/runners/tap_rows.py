"""Test runners of JavaScript that print TAP: tape and node-tap."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from kotef.checks.model import RED, TestStatus
from kotef.checks.reports import worse
from kotef.checks.runners.console_rows import MAX_LINES
from kotef.checks.runners.records import name_part
from kotef.checks.runners.row import Leavings, Runner, Statuses
from kotef.failures.output import plain_lines

_POINT: Final = re.compile(
    r"(?P<indent>(?:    )?)(?P<status>not ok|ok) \d+(?: -)?(?: (?P<name>.*?))?"
    r"(?: # (?P<directive>SKIP|TODO)\b.*?)?(?: # time=\S+)?(?P<opens> \{)?$"
)
"""A test point at the top, or one level below it."""
_SUBTEST: Final = re.compile(r"# Subtest: (?P<name>.*)")
_HEADING: Final = re.compile(r"# (?!(?:tests|pass|fail|skip|todo) +\d+$|ok$)(?P<name>\S.*)")
"""The title of a test of tape, and not one of its closing lines."""
_CLOSING_OF_TAPE: Final = re.compile(r"# pass  \d+$")


def tape_lines(left: Leavings) -> Statuses | None:
    """Each assertion below the title of its test: tape counts assertions; of equal ones each has its number."""
    lines = plain_lines(left.stdout)[:MAX_LINES]
    if not any(_CLOSING_OF_TAPE.match(line) for line in lines):
        return None
    tests: Statuses = {}
    seen: Counter[str] = Counter()
    title = ""
    for line in lines:
        if heading := _HEADING.match(line):
            title = heading["name"]
        elif (point := _POINT.match(line)) and not point["indent"]:
            tests[_numbered(seen, title, point["name"] or "")] = _status(point)
    return tests or None


def node_tap_lines(left: Leavings) -> Statuses | None:
    """The points of each test file: its tests, and what it asserts outside of them; their own subtests are parts.

    A file that fails without a failing test is there by its path. None where a test file was run by Node itself.
    """
    lines = plain_lines(left.stdout)[:MAX_LINES]
    if not any(line.startswith("# { total:") for line in lines):
        return None
    files = {name for file, name, _ in _points(lines) if not file}
    if not files or not all((left.command.root / name).is_file() for name in files):
        return None
    tests: Statuses = {}
    seen: Counter[str] = Counter()
    for file, name, status in _points(lines):
        is_file = not file
        inside = [how for test, how in tests.items() if test.startswith(f"{name_part(name)}::")]
        if is_file and (inside or status not in RED) and (status not in RED or RED.intersection(inside)):
            continue
        test = name_part(name) if is_file else _numbered(seen, file, name)
        how: TestStatus = "error" if is_file and status in RED else status
        tests[test] = worse(tests[test], how) if test in tests else how
    return tests or None


def _points(lines: list[str]) -> Iterator[tuple[str, str, TestStatus]]:
    """File, name and status of each point; of a file its own after those in it, whichever is printed first."""
    file = ""
    closing: tuple[str, str, TestStatus] | None = None
    for line in lines:
        if begun := _SUBTEST.match(line):
            file = begun["name"]
        elif closing and line == "}":
            yield closing
            file, closing = "", None
        elif point := _POINT.match(line):
            found = ("" if not point["indent"] else file, point["name"] or "", _status(point))
            if point["opens"] and not point["indent"]:
                file, closing = found[1], found
            elif found[0] or not point["indent"]:
                yield found
                file = file if point["indent"] else ""


def _status(point: re.Match[str]) -> TestStatus:
    failed = point["status"] == "not ok"
    if point["directive"] == "SKIP":
        return "skipped"
    if point["directive"] == "TODO":
        return "xfailed" if failed else "xpassed"
    return "failed" if failed else "passed"


def _numbered(seen: Counter[str], place: str, name: str) -> str:
    test = "::".join(name_part(part) for part in (place, name) if part)
    seen[test] += 1
    return test if seen[test] == 1 else f"{test} ({seen[test]})"


TAPE: Final = Runner(name="tape", ids="`title::assertion`, of equal ones the second with ` (2)`", lines=tape_lines)
NODE_TAP: Final = Runner(
    name="node-tap", ids="`path::name`; a file that fails without a failing test by its path", lines=node_tap_lines
)
