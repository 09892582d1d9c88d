"""The table of test runners, and the questions about one command that it answers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Final, NamedTuple

from kotef.checks.runners.beam_rows import EXUNIT
from kotef.checks.runners.bun_deno_rows import BUN, DENO
from kotef.checks.runners.catch_rows import CATCH2, PRINTED
from kotef.checks.runners.console_rows import OTHERS
from kotef.checks.runners.dotnet_rows import DOTNET
from kotef.checks.runners.go_rows import GO
from kotef.checks.runners.harness_rows import AUTOMAKE, CTEST, MESON
from kotef.checks.runners.javascript_rows import AVA, JEST, MOCHA, NODE_TEST, PLAYWRIGHT, VITEST
from kotef.checks.runners.javascript_tap_rows import NODE_TAP, TAPE
from kotef.checks.runners.jvm_rows import GRADLE, SUREFIRE
from kotef.checks.runners.line_reports import together
from kotef.checks.runners.native_rows import PROGRAMS
from kotef.checks.runners.php_rows import PHPUNIT
from kotef.checks.runners.python_rows import PYTEST, UNITTEST
from kotef.checks.runners.row import Leavings, Runner, RunnerCommand, Statuses
from kotef.checks.runners.ruby_rows import MINITEST, RSPEC
from kotef.checks.runners.rust_rows import CARGO, NEXTEST
from kotef.checks.runners.spec_rows import CYPRESS, MOCHA_SPEC
from kotef.checks.runners.tap_rows import PROVE, TAP
from kotef.checks.types import Evidence
from kotef.shell import STARTERS, status_of_failing_tests, unwrap

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
    SUREFIRE,
    GRADLE,
    CARGO,
    NEXTEST,
    CTEST,
    MESON,
    AUTOMAKE,
    *PROGRAMS,
    CATCH2,
    PRINTED,
    PROVE,
    PHPUNIT,
    RSPEC,
    MINITEST,
    EXUNIT,
    BUN,
    DENO,
    DOTNET,
    CYPRESS,
    MOCHA_SPEC,
    *OTHERS,
    NODE_TAP,
    TAPE,
    TAP,
)
"""The most used runners first; among the rows that read lines, the least specific last."""


class Reading(NamedTuple):
    """The status of each test, and how strong the evidence is."""

    tests: Statuses
    evidence: Evidence


def environment_for(command: RunnerCommand, env: Mapping[str, str]) -> dict[str, str]:
    """The environment of the command, with the requests for all reports."""
    whole = dict(env)
    for runner in RUNNERS:
        if runner.environment is not None:
            whole |= runner.environment(command, whole)
    return whole


def reading_of(left: Leavings) -> Reading | None:
    """The status of each test: from all reports, or else from lines that agree with the runner's own counts.

    If there is a report, lines are read only for the runners that the command names, as in `pytest && ctest`, because
    a test may print lines of any runner. If several runners report the same id, its worst status counts.
    """
    runners = [row for row in RUNNERS if row.kind != "program"]
    if reports := _reports(left, runners):
        return _with_named(reports, runners, left)

    harnesses = (row for row in runners if row.kind == "harness")
    if reading := _first_lines(harnesses, left):
        return reading

    programs = [row for row in RUNNERS if row.kind == "program"]
    if reports := _reports(left, programs):
        return Reading(_merged(tests for _, tests in reports), "report")
    return _first_lines(RUNNERS, left)


def _with_named(reports: Sequence[tuple[Runner, Statuses]], runners: Sequence[Runner], left: Leavings) -> Reading:
    """The reports, and the lines of runners that the command names and that left no report."""
    reported = {row.name for row, _ in reports}
    named = [row for row in runners if row.tools.intersection(left.command.asked.tools)]
    read = [found for row in named if row.name not in reported and (found := _agreeing(row, row.lines, left))]
    return Reading(_merged([*(tests for _, tests in reports), *read]), "lines" if read else "report")


def single_tests(
    tool: str, arguments: Sequence[str], tests: Sequence[str], exists: Callable[[str], bool]
) -> list[str] | None:
    """The arguments with which the tool runs only these tests; None if no row knows how."""
    runner = next((row for row in RUNNERS if tool in row.tools and row.single is not None), None)
    return runner.single(arguments, tests, exists) if runner and runner.single else None


def names_runner(command: str) -> bool:
    """Whether a command names a test runner that has a row, and does not only start what may be one."""
    invocation = unwrap(command)
    named = {
        tool for tool, purpose in zip(invocation.tools, invocation.purposes, strict=True) if purpose == "test"
    } - STARTERS
    return any(row.tools & named for row in RUNNERS)


def says_tests_failed(command: str, status: int | None, failed: int) -> bool:
    """Whether this exit status means that the tests ran and this many failed.

    make turns any failure into 2; npm and tox pass on the status of the runner.
    """
    usual = status_of_failing_tests(command)
    if status is None or not usual:
        return False
    tools = unwrap(command).tools
    named = [row for row in RUNNERS if row.tools.intersection(tools)]
    rows = named or [row for row in RUNNERS if row is not MESON]  # the status of meson may be nearly any
    return status in usual - {1} or any(row.failing_status(status, failed) for row in rows)


def _reports(left: Leavings, runners: Sequence[Runner]) -> list[tuple[Runner, Statuses]]:
    """The rows with a report, which may be empty; the report of a program must agree with its output."""
    reports: list[tuple[Runner, Statuses]] = []
    for row in runners:
        if row.report is None or _is_nested(row, left):
            continue
        found = _agreeing(row, row.report, left) if row.kind == "program" else row.report(left)
        if found is not None:
            reports.append((row, found))
    return reports


def _is_nested(row: Runner, left: Leavings) -> bool:
    """Whether a test of another runner started this runner, so that its results do not count.

    The command does not name it, and only other runners printed a closing line.
    """
    if row.kind != "runner" or not row.closing:
        return False
    named = row.tools.intersection(left.command.asked.tools).difference(STARTERS)
    return not named and bool(left.closings.runners) and row.closing not in left.closings.runners


def _first_lines(rows: Iterable[Runner], left: Leavings) -> Reading | None:
    return next((Reading(tests, "lines") for row in rows if (tests := _agreeing(row, row.lines, left))), None)


def _agreeing(row: Runner, read: Callable[[Leavings], Statuses | None] | None, left: Leavings) -> Statuses | None:
    """What was read, if the runner's own closing lines have the same counts."""
    if read is None:
        return None
    if not row.closing:
        return read(left) or None
    counted = left.closings.of(row.closing)
    if row.kind == "program":  # each of several programs has a closing line
        counted = counted[-1:]
    tests = (read(left) or None) if counted else None
    return tests if tests and any(row.agrees(tests, counts) for counts in counted) else None


def _merged(found: Iterable[Statuses]) -> Statuses:
    return reduce(together, found, {})
