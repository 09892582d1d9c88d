"""Failure history entries of a verification that did not pass."""

from collections.abc import Iterable, Sequence
from typing import Final

from kotef.checks.verification import CheckVerdict, Verification, with_line
from kotef.classification import fingerprint
from kotef.failures.history import MAX_SUMMARY, MAX_TESTS, FailureEntry, FailureKind
from kotef.integrity import is_protected

ASIDE: Final = "(set aside while the older tests were judged)"
"""After the name of a new file in `put_back` that is there still."""
INSTALLED: Final = "(an installed environment; --allow-install lets commands change it"
"""After the name, in `put_back` and `left`, of what the run installed or changed in an installed environment."""
NO_SNAPSHOT: Final = "(in no snapshot"
"""After the name of a file in `put_back` that git ignores, or that for another reason no snapshot holds."""


def failure_entries(verification: Verification) -> list[FailureEntry]:
    """The verification as entries of the failure history: none when it passed, else at least one.

    One per check that is not satisfied; one named `verdict` when the checks alone do not explain the verdict; one named
    `put_back` when something had to be put back. The first says how what fails compares with the attempt before.
    """
    if verification.passed:
        return []
    unsatisfied = [check for check in verification.checks if not (check.satisfied or check.advisory)]
    entries = [_of_check(verification.visit, check) for check in unsatisfied]
    told_by_checks = verification.detail in {"regression", "red", "tests_missing"} and not verification.newly_skipped
    if not (entries and told_by_checks) or verification.steering:
        units = (*verification.missing, *verification.broken, *verification.newly_skipped, *verification.left)
        entries.append(_of_verdict(verification.visit, "verdict", verification.detail, verification.summary, units))
    if verification.progress and verification.progress not in entries[0].summary:
        summary = with_line(entries[0].summary, verification.progress)
        entries[0] = entries[0].model_copy(update={"summary": summary})
    if verification.put_back:
        put_back_entries = _put_back(verification.put_back)
        entries.append(_of_verdict(verification.visit, "put_back", "put_back", put_back_entries, verification.put_back))
    return entries


def product_among(put_back: Iterable[str]) -> tuple[str, ...]:
    """Paths of what was put back that are no test and no configuration: what a check runs, or git ignores."""
    named = [name for name in put_back if not name.endswith((ASIDE, "]")) and INSTALLED not in name]
    paths = (name.partition(" (")[0] for name in named)
    return tuple(path for path in dict.fromkeys(paths) if not is_protected(path))


def _put_back(names: Sequence[str]) -> str:
    """What was put back, and why."""
    product = product_among(names)
    aside = [name for name in names if name.endswith(ASIDE)]
    built = [name for name in names if NO_SNAPSHOT in name and _path(name) in product and name not in aside]
    installed = [name for name in names if INSTALLED in name]
    judging = [name for name in names if name not in (*built, *aside, *installed)]

    built_paths = {_path(name) for name in built}
    aside = [name for name in aside if _path(name) not in built_paths]
    because = (
        ("put back to the state before the run, because the checks use what is installed", installed),
        ("put back to the state before the run, because it judges the work", judging),
        ("put back to the state before the run, because git ignores it, so no patch would contain it", built),
        ("could change the result of older tests", aside),
    )
    return "; ".join(f"{why}: {', '.join(which)}" for why, which in because if which)[:MAX_SUMMARY]


def _path(name: str) -> str:
    """The path of a name that may say why behind it."""
    return name.partition(" (")[0]


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
    """A failure that no command reported."""
    about_tests = detail in {"regression", "flaky", "tests_missing"}
    kind: FailureKind = "test_failure" if about_tests else "unknown"
    return FailureEntry(
        visit=visit,
        check=name,
        command="",
        exit_code=0,
        kind=kind,
        detail=detail,
        summary=summary,
        fingerprint=fingerprint(kind, detail, units),
        tests=tuple(units[:MAX_TESTS]) if about_tests else (),
    )
