"""Problems of a verification: tests that broke or went missing, red checks, and the verdict they lead to."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from kotef.checks.failure_entries import INSTALLED
from kotef.checks.types import TestStatus
from kotef.checks.verification import CheckVerdict, Verification, fitted
from kotef.failures.history import MAX_SUMMARY
from kotef.failures.plural import counted

_OF_A_FILE: Final[tuple[TestStatus, ...]] = ("failed", "error", "passed", "xpassed", "skipped", "xfailed")
"""The first of these that a test of a file has is what became of the file."""


class TestsNow:
    """What became of each unit of the baseline."""

    def __init__(self, tests: Mapping[str, TestStatus], verdicts: Iterable[CheckVerdict]) -> None:
        self._tests = tests
        self._passed = {verdict.name: verdict.passed for verdict in verdicts}
        self._inside: dict[str, set[TestStatus]] = defaultdict(set)
        for test, status in tests.items():
            parts = test.split("::")
            for length in range(1, len(parts)):
                self._inside["::".join(parts[:length])].add(status)

    def status(self, test: str) -> TestStatus | None:
        """None when no report lists it. A file or class that could not be set up stands for the tests in it."""
        if test in self._tests:
            return self._tests[test]
        inside = self._inside.get(test, set())
        return next((status for status in _OF_A_FILE if status in inside), None)

    def is_green(self, unit: str) -> bool:
        """`passed`, and not `xpassed`: a test marked as an expected failure proves nothing by passing."""
        return self.status(unit) == "passed" or (unit not in self._tests and self._passed.get(unit, False))


class VerdictProblem(NamedTuple):
    """One reason why a verification does not pass."""

    detail: str
    line: str


def problems_of(
    draft: Verification, before: Mapping[str, CheckVerdict], now: TestsNow, *, needs_proof: bool, tests_may_go: bool
) -> list[VerdictProblem]:
    """Every reason against this verification, the most telling first."""
    problems = []
    steady = [unit for unit in draft.broken if unit not in draft.flaky]
    if steady:
        problems.append(VerdictProblem("regression", f"passed before the run, fails now: {_some(steady)}"))
    if draft.newly_skipped:
        line = f"ran before the run, skipped or expected to fail now: {_some(draft.newly_skipped)}"
        problems.append(VerdictProblem("regression", line))
    if draft.flaky:
        line = f"fails among the others, passes alone: flaky, or the edit leaks state: {_some(draft.flaky)}"
        problems.append(VerdictProblem("flaky", line))
    turned = [unit for unit in draft.targets if now.is_green(unit)]
    open_targets = set(draft.targets).difference(turned, draft.removed, draft.missing)
    problems += _red_problems(draft.checks, [unit for unit in draft.targets if unit in open_targets])
    if draft.missing:
        problems.append(VerdictProblem("tests_missing", f"tests that no longer run: {_some(draft.missing)}"))
    problems += _fewer(draft, before, tests_may_go=tests_may_go)
    if not draft.executed and not any(check.name in turned for check in draft.checks):
        problems.append(
            VerdictProblem("no_proof_of_work", "no check executed a test, and no named command went from red to green")
        )
    if installed := [path for path in draft.left if INSTALLED in path]:
        line = f"changed in an installed environment and could not be put back; reinstall it: {_some(installed)}"
        problems.append(VerdictProblem("put_back_left", line))
    if theirs := [path for path in draft.left if INSTALLED not in path]:
        line = f"someone else changed files that judge this work, so they were not put back: {_some(theirs)}"
        problems.append(VerdictProblem("put_back_left", line))
    if not draft.regressions_known:
        problems.append(
            VerdictProblem(
                "red", "only the tests that were red before the run were run; whether others broke is unknown"
            )
        )
    if needs_proof and not turned and not open_targets:
        line = "nothing turned from red to green; a new test that fails on the old code must prove the change"
        problems.append(VerdictProblem("nothing_proves_the_goal", line))
    return problems


def _red_problems(verdicts: Iterable[CheckVerdict], open_targets: Sequence[str]) -> list[VerdictProblem]:
    """Required checks that are not satisfied, and targets that are not green although every check is satisfied."""
    problems = []
    for check in verdicts:
        if not (check.satisfied or check.advisory):
            line = f"{check.name}: {check.summary.splitlines()[0] if check.summary else 'failed'}"
            problems.append(VerdictProblem("red", line))
    if open_targets and not problems:
        problems.append(VerdictProblem("red", f"still not green: {_some(open_targets)}"))
    return problems


def _fewer(draft: Verification, before: Mapping[str, CheckVerdict], *, tests_may_go: bool) -> list[VerdictProblem]:
    """Checks that execute fewer tests than before the run, or do not say any more.

    Where tests may be removed, ids tell which are gone; a bare count could not, and says nothing.
    """
    problems = []
    for check in draft.checks:
        was = before[check.name].executed if check.name in before else None
        by_id = check.evidence in {"report", "lines"}
        excused = tests_may_go and (draft.removed or not by_id)
        if not was or check.advisory or check.partial or excused:
            continue

        if check.executed is None:
            if _counts_when_red(before[check.name]):
                continue
            ran = "an unknown number of tests"
        elif check.executed < was:
            ran = counted(check.executed, "test")
        else:
            continue
        problems.append(VerdictProblem("tests_missing", f"{check.name}: {ran} executed, {was} before the run"))
    return problems


def _counts_when_red(check: CheckVerdict) -> bool:
    """Whether a program was red and summed up in its own words: it may say nothing when all is well."""
    return check.evidence == "summary" and not check.passed


def concluded(draft: Verification, problems: Sequence[VerdictProblem]) -> Verification:
    """The draft with its verdict."""
    if problems:
        summary = fitted(dict.fromkeys(problem.line for problem in problems))
        return draft.model_copy(update={"passed": False, "detail": problems[0].detail, "summary": summary})
    blocking = [check for check in draft.checks if not check.advisory]
    ran = (
        f"{counted(draft.executed, 'test')} executed"
        if draft.executed
        else "no test was counted; judged by exit status alone"
    )
    parts = [f"{len(blocking)} of {len(blocking)} checks satisfied, {ran}"]
    if draft.fixed:
        parts.append(f"fixed: {_some(draft.fixed)}")
    if draft.preexisting:
        parts.append(f"red before the run, not part of the task: {_some(draft.preexisting)}")
    return draft.model_copy(update={"passed": True, "detail": "", "summary": "\n".join(parts)[:MAX_SUMMARY]})


def _some(units: Sequence[str]) -> str:
    """The first three of them, and how many more there are."""
    rest = len(units) - 3
    return ", ".join(units[:3]) + (f" and {rest} more" if rest > 0 else "")
