"""What does a verification that did not pass add to the failure history?"""

from collections.abc import Sequence

from kotef.checks.verification import CheckVerdict, Verification, with_line
from kotef.failures.fingerprint import fingerprint
from kotef.failures.history import MAX_SUMMARY, MAX_TESTS, FailureEntry


def failure_entries(verification: Verification) -> list[FailureEntry]:
    """The verification as entries of the failure history: none when it passed, else at least one.

    One per check that is not satisfied; one named `verdict` when the checks alone do not explain the verdict; one named
    `put_back` when something had to be put back. The first tells how what fails compares with the attempt before.
    """
    if verification.passed:
        return []
    unsatisfied = [check for check in verification.checks if not (check.satisfied or check.advisory)]
    entries = [_of_check(verification.visit, check) for check in unsatisfied]
    told_by_checks = verification.detail in {"regression", "red", "tests_missing"} and not verification.newly_skipped
    if not (entries and told_by_checks):
        units = (*verification.missing, *verification.broken, *verification.newly_skipped, *verification.left)
        entries.append(_of_verdict(verification.visit, "verdict", verification.detail, verification.summary, units))
    if verification.progress and verification.progress not in entries[0].summary:
        told = with_line(entries[0].summary, verification.progress)
        entries[0] = entries[0].model_copy(update={"summary": told})
    if verification.put_back:
        files = ", ".join(verification.put_back)
        said = f"put back to the state before the run, because it judges the work: {files}"[:MAX_SUMMARY]
        entries.append(_of_verdict(verification.visit, "put_back", "put_back", said, verification.put_back))
    return entries


def _of_check(visit: int, check: CheckVerdict) -> FailureEntry:
    return FailureEntry(
        visit=visit,
        check=check.name,
        command=check.command,
        exit_code=check.exit_code,
        kind=check.kind or "unknown",
        detail=check.detail,
        summary=check.summary[:MAX_SUMMARY],
        fingerprint=check.fingerprint,
        tests=(check.red or check.failing)[:MAX_TESTS],
        log=check.log,
    )


def _of_verdict(visit: int, name: str, detail: str, summary: str, units: Sequence[str]) -> FailureEntry:
    """A failure that no command reported; its name stands for the command too."""
    about_tests = detail in {"regression", "flaky", "tests_missing"}
    kind = "test_failure" if about_tests else "unknown"
    return FailureEntry(
        visit=visit,
        check=name,
        command=name,
        exit_code=0,
        kind="test_failure" if about_tests else "unknown",
        detail=detail,
        summary=summary,
        fingerprint=fingerprint(kind, detail, units),
        tests=tuple(units[:MAX_TESTS]) if about_tests else (),
    )
