"""The lines of mocha's spec reporter, for mocha 3 to 7, which cannot load root hooks, and for Cypress."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from kotef.checks.runners.line_reports import add
from kotef.checks.runners.row import Leavings, Runner, Statuses, as_counted_exactly
from kotef.checks.types import TestStatus
from kotef.integrity import test_id

_TEST: Final = re.compile(
    r"(?P<indent>(?:  )+)(?:(?P<passed>[✓✔√]) |(?P<pending>- )|\d+\) )(?P<name>\S.*?)(?: \(\d+(?:ms|[smh])\))?$"
)
_SUITE: Final = re.compile(r"(?P<indent>(?:  )+)(?P<name>(?!\d+\) )[^\s│┌└├].*)$")
_END: Final = re.compile(r" +\d+ (?:passing|failing|pending)\b")
_SPEC: Final = re.compile(r" +Running: +(?P<path>\S+) +\(\d+ of \d+\)$")
_HOOK: Final = re.compile(r"(\"(?:before|after) (?:all|each)\" hook)\b.*")


def mocha_lines(left: Leavings) -> Statuses | None:
    """Each test below its suites; the reporter does not name files."""
    return None if any(map(_SPEC.match, left.out)) else _tests(left.out)


def cypress_lines(left: Leavings) -> Statuses | None:
    """Each test below its spec file, which Cypress announces, and its suites."""
    return _tests(left.out) if any(map(_SPEC.match, left.out)) else None


def _tests(lines: Iterable[str]) -> Statuses | None:
    tests: Statuses = {}
    for test, status in _entries(lines):
        add(tests, test, status)
    return tests or None


def _entries(lines: Iterable[str]) -> Iterator[tuple[str, TestStatus]]:
    """Id and status of each test; the lines after the counts repeat the failures."""
    place, above, inside = "", list[str](), True
    for line in lines:
        if spec := _SPEC.match(line):
            place, above, inside = spec["path"], [], True
        elif _END.match(line):
            inside = False
        elif inside and (test := _TEST.match(line)):
            suites = above[: len(test["indent"]) // 2 - 1]
            yield test_id(place, *suites, _HOOK.sub(r"\1", test["name"])), _status(test)
        elif suite := _SUITE.match(line):
            depth = len(suite["indent"]) // 2
            above[depth - 1 :] = [suite["name"]]
            inside = inside or depth == 1


def _status(test: re.Match[str]) -> TestStatus:
    if test["passed"]:
        return "passed"
    return "skipped" if test["pending"] else "failed"


MOCHA_SPEC: Final = Runner(
    name="mocha 3 to 7",
    ids="`suite::title`; for a failing hook, its kind",
    lines=mocha_lines,
    closing="mocha",
    agrees=as_counted_exactly,
    failing_status=lambda status, failed: status == failed,
)
CYPRESS: Final = Runner(
    name="cypress",
    ids="`path::suite::title`; for a failing hook, its kind",
    lines=cypress_lines,
    closing="mocha",  # each spec file closes with mocha's lines
    agrees=as_counted_exactly,
    failing_status=lambda status, failed: status == failed,
    untried=True,
)
