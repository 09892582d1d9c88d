"""Test outcomes in an output: whether a runner reported failed tests, and whether the tests are to blame."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final

from kotef.classification import summarize
from kotef.classification.command_output import Run
from kotef.classification.diagnostics import diagnostics_of
from kotef.classification.kinds import FailureKind, OutputFinding
from kotef.classification.locations import places
from kotef.classification.missing_modules import missing_module
from kotef.classification.rules import MERE_WARNING, Hit, first_hit, last_line
from kotef.classification.runner_patterns import COUNTED, FAILED, PASSED
from kotef.classification.test_failures import MAX_BLOCK, FailingTest, error_of, evident_error, failing_tests
from kotef.classification.tracebacks import Crash, crash_of


def tests_failed(run: Run) -> OutputFinding | None:
    """A test runner gave its verdict; which tests, and whether they ran at all, is read from its sections."""
    if run.report.tests and run.asked.purpose not in {"lint", "types", "format"}:
        return _of_tests(run.report.tests, *_cause(run, run.report.tests, compiled=True))
    hit = first_hit(FAILED, run.output)
    if hit is None or (run.asked.purpose == "read" and run.exit_code == 0):
        return None
    failing = failing_tests(run.output)
    if hit.rule.detail == "coverage":
        return hit.finding()
    if not failing:
        return _verdict_only(run, hit)
    if not any(test.error for test in failing):
        failing = [_explained(run, failing[0], hit), *failing[1:]]
    return _of_tests(failing, *_cause(run, failing, compiled=hit.rule.detail != "compile"))


ABOUT_TESTS: Final = re.compile(r"(?i)\w?tests?\b|\b(?:specs?|scenarios?|examples?|suites?|assertions?)\b")
"""A word that some line of a runner's output holds."""


def tests_counted(run: Run) -> OutputFinding | None:
    """A runner that is in no table counted failures; which tests failed is read from what the tables know."""
    if run.asked.role in {"lint", "types", "format", "read"}:
        return None
    hit = first_hit(COUNTED, run.output, ignored=MERE_WARNING)
    if hit is None or not (run.asked.role == "test" or ABOUT_TESTS.search(run.output.text)):
        return None
    failing = failing_tests(run.output)
    if failing and any(test.error for test in failing):
        return _of_tests(failing, *_cause(run, failing, compiled=True))
    return _verdict_only(run, hit)


def _explained(run: Run, test: FailingTest, hit: Hit) -> FailingTest:
    """A test that is only named, as in a list, with what the rest says: a complaint, a crash, an error."""
    if hit.rule.detail == "compile":
        found = diagnostics_of(run.output)
        if found:
            return replace(test, error=found[0].message, places=(*test.places, found[0].place))
        if below := _below_heading(run.output.lines, test.name):
            return replace(test, error=below)
    crash = crash_of(run.output)
    if crash is not None:
        return replace(test, error=crash.error, places=(*test.places, *crash.places))
    texts = [line for line in run.output.lines if not summarize.NOISE.match(line)]
    error = evident_error(texts) if hit.rule.detail != "timeout" else ""
    return replace(test, error=error or hit.line.strip("+ "))


def _below_heading(lines: Sequence[str], package: str) -> str:
    """What go says of a package that it could not set up, where that names no line: it is below `# package`.

    Of a chain of imports, which is indented, the last line says what is wrong.
    """
    at = next((number for number, line in enumerate(lines) if line.split(" [")[0] == f"# {package}"), None)
    below = lines[at + 1 :] if at is not None else ()
    chain = list(takewhile(lambda line: line.startswith("\t"), below[1:]))
    return next(iter([*chain[-1:], *below[:1]]), "").strip()


def _of_tests(failing: Sequence[FailingTest], kind: FailureKind, detail: str) -> OutputFinding:
    essence = tuple(f"{test.name} | {test.error}" for test in failing)
    return OutputFinding(kind, detail, summarize.of_tests(failing), essence, tuple(test.name for test in failing))


def _cause(run: Run, failing: Sequence[FailingTest], *, compiled: bool) -> tuple[FailureKind, str]:
    """Whether tests failed or could not be collected, and whether a module that is not installed is the reason."""
    errors = " ".join(test.error for test in failing)
    if not compiled:
        return missing_module(run, errors) or ("lint_failure", "compile")
    if _collection(run, failing):
        return missing_module(run, errors) or ("test_failure", "collection")
    if re.search(r"[Aa]ssert|[Ee]xpect|mismatch|!==?|==", errors):
        return "test_failure", "assertion"
    return "test_failure", "error"


COLLECTION: Final = re.compile(
    r"^_+ ERROR collecting |errors? during collection|while loading conftest|_FailedTest|Test suite failed to run"
    r"|Failed to import test module|\[setup failed\]|Failed Suites \d|outside of examples",
    re.MULTILINE,
)


def _collection(run: Run, failing: Sequence[FailingTest]) -> bool:
    """Whether only collection failed: no test of its own ran into an error."""
    if not COLLECTION.search(run.output.text):
        return False
    ran = re.search(
        r"^(?:=+ )?(?:\d+ \w+, )*\d+ failed\b.* in |^Tests: +[1-9]\d* failed|^FAILED \(failures=",
        run.output.text,
        re.MULTILINE,
    )
    return not (ran and any(test.error for test in failing))


def _verdict_only(run: Run, hit: Hit) -> OutputFinding:
    """The runner said that tests failed but not which, as `-q --tb=no` behind a filter does."""
    below = run.output.lines[hit.at + 1 : hit.at + 1 + MAX_BLOCK]
    crash = crash_of(run.output) or (
        Crash("python", error_of(below), tuple(places(below))) if _collection(run, ()) else None
    )
    if crash is None:
        return OutputFinding(
            "test_failure", hit.rule.detail, (hit.line, *summarize.last_words(run.output)), (hit.line,)
        )
    missing = missing_module(run, crash.error) if _collection(run, ()) else None
    kind, detail = missing or ("test_failure", "collection" if _collection(run, ()) else "error")
    lines = summarize.of_crash(crash.error, crash.places, innermost_last=crash.language == "python")
    return OutputFinding(kind, detail, lines, (crash.error,))


def contradicted(run: Run) -> OutputFinding | None:
    """Exit status 0, but a runner's last word was that tests failed (`pytest | cat`, `make -k`, `|| true`)."""
    if run.asked.purpose in {"read", "other", "lint", "types", "format"}:
        return None
    failed, passed = first_hit(FAILED, run.output), first_hit(PASSED, run.output)
    if failed is None:
        return tests_failed(run) if run.report.tests else None
    if passed is not None and last_line(passed, run.output) > last_line(failed, run.output):
        return None
    return tests_failed(run)
