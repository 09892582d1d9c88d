"""The table of test runners, and what is asked of it for one command."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from kotef.checks.closings import Counts
from kotef.checks.commands import status_of_failing_tests
from kotef.checks.model import RED, Evidence
from kotef.checks.reports import executed, worse
from kotef.checks.runners.console_rows import CARGO, CTEST, NEXTEST, OTHERS, TAP, UNITTEST_LINES
from kotef.checks.runners.go_rows import GO
from kotef.checks.runners.javascript_rows import AVA, JEST, MOCHA, NODE_TEST, PLAYWRIGHT, VITEST
from kotef.checks.runners.jvm_rows import JVM
from kotef.checks.runners.python_rows import PYTEST, UNITTEST
from kotef.checks.runners.row import Command, Leavings, Runner, Statuses
from kotef.checks.runners.tap_rows import NODE_TAP, TAPE
from kotef.failures.unwrap import unwrap

RUNNERS: Final[tuple[Runner, ...]] = (
    PYTEST,
    UNITTEST,
    NODE_TEST,
    MOCHA,
    JEST,
    VITEST,
    AVA,
    PLAYWRIGHT,
    GO,
    JVM,
    CARGO,
    NEXTEST,
    CTEST,
    UNITTEST_LINES,
    *OTHERS,
    NODE_TAP,
    TAPE,
    TAP,
)
"""Reports in their order of use, then the rows that read lines, the plainest form last."""


class Reading(NamedTuple):
    """What is known of single tests."""

    tests: Statuses
    evidence: Evidence


def environment_for(command: Command, env: Mapping[str, str]) -> dict[str, str]:
    """The environment of the command, with all reports asked for that it may write."""
    whole = dict(env)
    for runner in RUNNERS:
        if runner.environment is not None:
            whole |= runner.environment(command, whole)
    return whole


def reading_of(left: Leavings, counts: Counts | None) -> Reading | None:
    """The status of each test: from all reports together, else from lines that agree with the runner's own counts.

    Where several runners tell of one id the worst counts.
    """
    tests: Statuses | None = None
    for runner in RUNNERS:
        told = runner.report(left) if runner.report is not None else None
        if told is not None:
            tests = _together(tests or {}, told)
    if tests is not None:
        return Reading(tests, "report")
    if counts is None:
        return None
    read = (runner.lines(left) for runner in RUNNERS if runner.lines is not None)
    return next((Reading(found, "lines") for found in read if found and _agrees(found, counts)), None)


def single_tests(
    tool: str, arguments: Sequence[str], tests: Sequence[str], exists: Callable[[str], bool]
) -> list[str] | None:
    """The arguments with which the tool runs these tests alone; None where no row knows how."""
    runner = next((row for row in RUNNERS if tool in row.tools and row.single is not None), None)
    return runner.single(arguments, tests, exists) if runner and runner.single else None


def says_tests_failed(command: str, status: int | None, failed: int) -> bool:
    """Whether the command ends so when its tests ran and this many failed; no, where the status may be another's.

    make passes any failure on as 2, npm and tox pass on what the runner behind them said, whichever that is.
    """
    usual = status_of_failing_tests(command)
    if status is None or not usual:
        return False
    tools = unwrap(command).tools
    rows = [row for row in RUNNERS if row.tools.intersection(tools)] or RUNNERS
    return status in usual - {1} or any(row.failing_status(status, failed) for row in rows)


def _together(one: Statuses, other: Statuses) -> Statuses:
    merged = dict(one)
    for test, status in other.items():
        merged[test] = worse(merged[test], status) if test in merged else status
    return merged


def _agrees(tests: Statuses, counts: Counts) -> bool:
    """Whether the lines tell of every test: as many ran and failed as the runner counts.

    Some runners count what was skipped among what ran.
    """
    failed = sum(status in RED for status in tests.values())
    ran, listed = executed(tests), len(tests)
    return failed == counts.failed and ran <= counts.executed <= listed
