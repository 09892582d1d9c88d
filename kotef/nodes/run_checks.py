"""One run of all checks on the current tree, with reruns that find flaky tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kotef.checks.failure_list import ReportedFailure, failure_line, failures_of
from kotef.checks.flaky import flaky_among, unexpected
from kotef.checks.runners import says_tests_failed
from kotef.checks.single_test_command import alone
from kotef.checks.types import Check, CommandResult
from kotef.checks.verdict import Results, environment_fault
from kotef.checks.verification import MAX_RED, Verification
from kotef.deps import RunContext
from kotef.failures.history import MAX_TESTS
from kotef.state import Spent, Task, Usage
from kotef.workspace import change_time, written_environments

MAX_LINES: Final = 10
"""Failures per check that its event names."""
MAX_LINE: Final = 300
"""Characters of each."""
QUICK: Final = 60.0
"""Seconds a check may take to be run whole, or again, if the verdict does not need it."""


async def baseline_results(
    task: Task, tree: str, ignored: Sequence[str], context: RunContext
) -> tuple[Results, tuple[str, ...], frozenset[str]]:
    """What the checks say about the tree before the run, which paths they wrote, and where they install.

    Taken over from an earlier run where that is sound, see `Baselines`. An environment fault is met again at once.
    `ignored` are the files of the workspace that the tree does not hold.
    """
    reruns, store = task.limits.reruns, context.baselines
    if not task.reuse_baseline:
        store.forget()
    elif task.checks and (kept := store.find(tree, task.checks, reruns=reruns, ignored=ignored)):
        context.emit("baseline_reused", run=kept.run_id, judged_at=kept.judged_at)
        for check, result in kept.results:
            _tell(check, 0, result, context)
        return kept.results, kept.wrote, kept.installs
    facts, began = store.facts(ignored), change_time(context.root)
    results = await run_checks(task.checks, 0, context, reruns=reruns)
    if faulty := [check for check, result in results if environment_fault([(check, result)])]:
        named = ", ".join(check.name for check in faulty)
        context.emit("retry", what="baseline", why=f"environment fault, running again: {named}")
        again = {check.name: result for check, result in await run_checks(faulty, 0, context, reruns=reruns)}
        results = [(check, again.get(check.name, result)) for check, result in results]
    wrote = context.snapshots.changed(tree, context.snapshots.take())
    installs = written_environments(context.root, context.snapshots.paths(tree), began=began)
    if not environment_fault(results):
        store.keep(tree, results, reruns=reruns, run_id=task.run_id, wrote=wrote, ignored=facts, installs=installs)
    return results, wrote, installs


def usage_of(verification: Verification, *, seconds: float) -> Usage:
    """The usage of one verification."""
    spent = Spent(seconds=seconds, commands=len(verification.checks))
    return Usage(by_call={f"{verification.visit}/verifier/checks": spent})


async def run_checks(
    checks: Sequence[Check], visit: int, context: RunContext, *, reruns: int = 0, baseline: Verification | None = None
) -> Results:
    """Every check, in order, one at a time: checks of one project share its files and ports.

    Failing tests that were not red in `baseline` (None: all) are run again alone, up to `reruns` times, as long as
    there is time; the result names those that passed then as `flaky`. Where a check took more than `QUICK` seconds at
    the baseline, the tests red there are run first, and while one that has to turn green is red it stays at that.
    Running them first where the whole is run anyway would decide nothing.
    """
    results: list[tuple[Check, CommandResult]] = []
    for check in checks:
        result = await _reds_first(check, visit, context, baseline) if baseline else None
        if result is None:
            context.emit("check_started", visit=visit, check=check.name, command=check.command)
            result = await context.executor.run_check(check, f"visit-{visit}-{check.name}")
        _tell(check, visit, result, context)
        if reruns and not result.partial and context.clock.left() > result.seconds:
            result = await _again(check, visit, result, context, reruns=reruns, baseline=baseline)
        results.append((check, result))
    return results


async def _reds_first(check: Check, visit: int, context: RunContext, baseline: Verification) -> CommandResult | None:
    """The result of the tests red at the baseline, if it decides; None if the whole check must run.

    All that were red are run, not only those that have to turn green, and in the same order: so the failure is the one
    that the whole would report, fingerprint included, unless something else broke.
    """
    was = next((verdict for verdict in baseline.checks if verdict.name == check.name), None)
    if was is None or was.seconds <= QUICK or len(was.red) >= MAX_RED:
        return None
    reds = [test for test in baseline.tests if test in was.red]
    names = {test.removeprefix(f"{check.name}: "): test for test in reds}
    wanted = {name for name, test in names.items() if test in baseline.targets}
    if not reds and check.name in baseline.targets and len(was.failing) < MAX_TESTS:
        names = {test: test for test in was.failing}
        wanted = set(names)
    command = alone(check.command, list(names), exists=lambda path: (context.root / path).exists())
    if not wanted or command is None:
        return None
    context.emit("check_started", visit=visit, check=check.name, command=command)
    result = await context.executor.run_check(
        check.model_copy(update={"command": command}), f"visit-{visit}-{check.name}-first"
    )
    red = set(result.failing if result.tests is None else result.red_ids)
    is_test_failure = result.kind == "test_failure" and result.detail != "contradiction"
    if not (is_test_failure and wanted & red and says_tests_failed(check.command, result.exit_code, len(red))):
        return None
    return result.model_copy(update={"command": check.command, "partial": True})


async def _again(
    check: Check, visit: int, result: CommandResult, context: RunContext, *, reruns: int, baseline: Verification | None
) -> CommandResult:
    """The result, with the unexpected failures that pass when run alone marked as flaky."""
    tests = unexpected(check, result, baseline)
    flaky = await flaky_among(
        check,
        tests,
        times=reruns,
        run=context.executor.run_check,
        exists=lambda path: (context.root / path).exists(),
        log_name=f"visit-{visit}-{check.name}",
    )
    if flaky:
        context.emit("rerun", visit=visit, check=check.name, tests=list(tests), flaky=list(flaky))
    return result.model_copy(update={"flaky": flaky})


def _failing(result: CommandResult) -> int:
    """How many tests failed; without a report, at least those that the output names."""
    if result.tests is not None and result.failed is not None:
        return result.failed
    return max(result.failed or 0, len(result.failing))


def _tell(check: Check, visit: int, result: CommandResult, context: RunContext) -> None:
    context.emit(
        "check_finished",
        visit=visit,
        check=check.name,
        exit_code=result.exit_code,
        passed=result.passed,
        kind=result.kind,
        summary=result.summary,
        executed=result.tests_executed,
        failing=_failing(result),
        seconds=round(result.seconds, 3),
        partial=result.partial,
        obstructions=list(result.obstructions),
        failures=[_line(each)[:MAX_LINE] for each in failures_of(result, context.root)[:MAX_LINES]],
    )


def _line(failure: ReportedFailure) -> str:
    """The failure as a line; a place outside the workspace is left out, as in the reports."""
    inside = not Path(failure.file).is_absolute()
    return failure_line(failure.test, failure.message, failure.file if inside else "", failure.line if inside else None)
