"""What kind of failure is this, in words a machine and a person can both use?"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from kotef.failures import summarize
from kotef.failures.diagnostics import COMPILE, TYPES, Diagnostic, diagnostics_of
from kotef.failures.endings import fatal_signal, not_started, stopped
from kotef.failures.evidence import FATAL_TO_ITSELF, Run
from kotef.failures.failing import MAX_BLOCK, FailingTest, error_of, failing_tests
from kotef.failures.faults import LATE, STARTUP, UNREACHED
from kotef.failures.fingerprint import fingerprint
from kotef.failures.kinds import ENVIRONMENT_FAULTS, MAX_TESTS, FailureKind, Finding
from kotef.failures.missing import MISSING_MODULE, missing_module
from kotef.failures.output import Output, read
from kotef.failures.places import places
from kotef.failures.rules import Hit, first_hit
from kotef.failures.tracebacks import Crash, crash_of
from kotef.failures.unwrap import PURPOSE, unwrap
from kotef.failures.verdicts import FAILED, PASSED, PROBLEMS

__all__ = ["ENVIRONMENT_FAULTS", "Diagnosis", "FailureKind", "classify"]

PYTEST_NOTHING_COLLECTED: Final = 5

ANNOUNCEMENT: Final = re.compile(r"> |\$ |\+{1,3} |nox > |\S+: commands\[|\[command\]")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What one run of a command is taken to mean: heuristic, and may be wrong."""

    kind: FailureKind | None
    """None: it exited 0 and its output says nothing else."""
    detail: str = ""
    """A machine word; empty with `kind` None."""
    summary: str = ""
    """One to three lines, at most 400 characters."""
    fingerprint: str = ""
    """Twelve hexadecimal digits, equal for the same failure whatever the lines, directories, times and orders."""
    tests: tuple[str, ...] = ()
    """Ids of failing tests found in the text, at most 20, in the order of the output."""


def classify(command: str, exit_code: int | None, stdout: str, stderr: str, timed_out: bool = False) -> Diagnosis:
    """Say what a command's end means, from the most trusted evidence to the least; never raises, in linear time.

    `exit_code` as `subprocess` gives it: None when our own limit ended the command, negative N for signal N. The
    order: the limit and signals, 126 and 127, the runner's verdict line, tools that could not start, a traceback,
    `file:line` diagnostics, the command's own words, and last `unknown`.
    """
    output = read(stdout, stderr)
    announced = [line for line in output.lines[:200] if ANNOUNCEMENT.match(line)]
    run = Run(command, unwrap(command, announced), exit_code, output, timed_out or exit_code is None)
    steps: Sequence[Step] = FAILURES
    if run.exit_code == 0 and not run.timed_out:
        steps = CONTRADICTIONS
    for step in steps:
        finding = step(run)
        if finding is not None:
            return _diagnosis(finding)
    return Diagnosis(kind=None)


def _diagnosis(finding: Finding) -> Diagnosis:
    essence = [line for line in finding.essence if line] or list(finding.lines)
    return Diagnosis(
        kind=finding.kind,
        detail=finding.detail,
        summary=summarize.summary(finding.lines),
        fingerprint=fingerprint(finding.kind, finding.detail, essence),
        tests=finding.tests[:MAX_TESTS],
    )


def tests_failed(run: Run) -> Finding | None:
    """A test runner gave its verdict; which tests, and whether they ran at all, is read from its sections."""
    hit = first_hit(FAILED, run.output)
    if hit is None or (run.asked.purpose == "read" and run.exit_code == 0):
        return None
    failing = failing_tests(run.output)
    if hit.rule.detail == "coverage":
        return _from_hit(hit)
    if not failing:
        return _verdict_only(run, hit)
    kind, detail = _cause(run, failing, hit)
    essence = tuple(f"{test.name} | {test.error}" for test in failing)
    return Finding(kind, detail, summarize.of_tests(failing), essence, tuple(test.name for test in failing))


def _cause(run: Run, failing: Sequence[FailingTest], hit: Hit) -> tuple[FailureKind, str]:
    """Whether tests failed or could not be collected, and whether a module that is not installed is the reason."""
    first = next((test for test in failing if test.error), failing[0])
    if hit.rule.detail == "compile":
        return missing_module(run, first.error) or ("test_failure", "compile")
    if _collection(run, failing):
        return missing_module(run, " ".join(test.error for test in failing)) or ("test_failure", "collection")
    if re.search(r"[Aa]ssert|[Ee]xpect|mismatch|!==?|==", first.error):
        return "test_failure", "assertion"
    return "test_failure", "error"


COLLECTION: Final = re.compile(
    r"^_+ ERROR collecting |errors? during collection|while loading conftest|_FailedTest|Test suite failed to run"
    r"|Failed to import test module|\[setup failed\]|Failed Suites \d|outside of examples",
    re.MULTILINE,
)


def _collection(run: Run, failing: Sequence[FailingTest]) -> bool:
    """Whether nothing but collection failed: no test of its own ran into an error."""
    if not COLLECTION.search(run.output.text):
        return False
    ran = re.search(
        r"^(?:=+ )?(?:\d+ \w+, )*\d+ failed\b.* in |^Tests: +[1-9]\d* failed|^FAILED \(failures=",
        run.output.text,
        re.MULTILINE,
    )
    return not (ran and any(test.error for test in failing))


def _verdict_only(run: Run, hit: Hit) -> Finding:
    """The runner said that tests failed but not which, as `-q --tb=no` behind a filter does."""
    below = run.output.lines[hit.at + 1 : hit.at + 1 + MAX_BLOCK]
    crash = crash_of(run.output) or (
        Crash("python", error_of(below), tuple(places(below))) if _collection(run, ()) else None
    )
    if crash is None:
        return Finding("test_failure", hit.rule.detail, (hit.line, *summarize.last_words(run.output)), (hit.line,))
    missing = missing_module(run, crash.error) if _collection(run, ()) else None
    kind, detail = missing or ("test_failure", "collection" if _collection(run, ()) else "error")
    lines = summarize.of_crash(crash.error, crash.places, innermost_last=crash.language == "python")
    return Finding(kind, detail, lines, (crash.error,))


def contradicted(run: Run) -> Finding | None:
    """Exit status 0, but a runner's last word was that tests failed (`pytest | cat`, `make -k`, `|| true`)."""
    failed, passed = first_hit(FAILED, run.output), first_hit(PASSED, run.output)
    if failed is None or run.asked.purpose in {"read", "other", "lint", "types", "format"}:
        return None
    if passed is not None and _last_line(passed, run.output) > _last_line(failed, run.output):
        return None
    return tests_failed(run)


def _last_line(hit: Hit, output: Output) -> int:
    """Index of the last line that the rule of a hit matches."""
    pattern = re.compile(hit.rule.pattern)
    return max(
        (index for index, line in enumerate(output.lines) if hit.rule.hint in line and pattern.search(line)),
        default=hit.at,
    )


def problems_hidden(run: Run) -> Finding | None:
    """Exit status 0, but a linter's closing line counts errors and a pipe or a list hid its status."""
    if run.asked.purpose not in {"lint", "types", "format"} or not re.search(r"[|;]", run.command):
        return None
    return complained(run) if first_hit(PROBLEMS, run.output) else None


def gave_way(run: Run) -> Finding | None:
    """No space, no memory, killed: the machine, not the code."""
    hit = first_hit(UNREACHED, run.output)
    if hit is None:
        return None
    crash = crash_of(run.output) if hit.rule.detail == "out_of_memory" else None
    place = summarize.of_crash("", crash.places, innermost_last=crash.language == "python") if crash else ()
    return Finding("tooling_error", hit.rule.detail, (hit.line, *place), (hit.line,))


def could_not_start(run: Run) -> Finding | None:
    """A tool said, in its own words, that it could not do its job."""
    hit = first_hit(STARTUP, run.output)
    if hit is None:
        return None
    if hit.rule.detail == "missing_runner" and hit.rule.tool == "python":
        module = re.sub(r".*No module named ([\w.]+).*", r"\1", hit.line)
        if module.split(".")[0] not in PURPOSE and module not in {"tox", "nox", "pip", "ruff", "coverage"}:
            return Finding("tooling_error", "missing_module", (hit.line,), (module,))
    if hit.rule.tool == "cmake" and run.asked.purpose == "test":
        return None
    return _from_hit(hit, *_after(hit, run.output))


def _after(hit: Hit, output: Output) -> tuple[str, ...]:
    """The next line says more where the first is a headline."""
    below = [line.strip() for line in output.lines[hit.at + 1 : hit.at + 4] if line.strip()]
    headline = (
        hit.line.endswith(":")
        or hit.rule.pattern.endswith("!")
        or hit.rule.tool in {"jest", "cmake", "docker", "eslint", "maven"}
    )
    return tuple(below[:2]) if headline else ()


def _from_hit(hit: Hit, *more: str) -> Finding:
    return Finding(hit.rule.kind, hit.rule.detail, (hit.line, *more), (hit.line, *more))


def died(run: Run) -> Finding | None:
    """An uncaught exception, a panic or a fatal signal; whose it was decides the kind."""
    crash = crash_of(run.output)
    if crash is None:
        return fatal_signal(run)
    if crash.language in {"go", "node"} and not crash.places and diagnostics_of(run.output):
        return None
    lines = summarize.of_crash(crash.error, crash.places, innermost_last=crash.language == "python")
    files = (place.rpartition(":")[0] for place in crash.places[-1:])
    essence = (crash.error, *crash.functions[-1:], *(path.rpartition("/")[2] for path in files))
    kind, detail = _blame(run, crash.error, bool(crash.places))
    if run.signal in FATAL_TO_ITSELF:
        kind, detail, lines = "runtime_error", "signal", (f"{crash.error} ({run.signal})", *lines[1:])
    return Finding(kind, detail, lines, essence)


def _blame(run: Run, error: str, in_project: bool) -> tuple[FailureKind, str]:
    """The kind of a crash: a missing module, a tool that fell over its configuration, a test, or the program itself."""
    match = MISSING_MODULE.search(error)
    if match:
        entry = re.search(r"Cannot find module '(?:/|[A-Z]:)", error)
        if entry:
            return "tooling_error", "path_not_found"
        return missing_module(run, error) or (
            ("test_failure", "collection") if run.asked.purpose == "test" else ("runtime_error", "traceback")
        )
    if not in_project and run.asked.purpose in {"lint", "types", "format", "test"}:
        return "tooling_error", "config"
    if run.asked.purpose == "test":
        return "test_failure", "error"
    if run.asked.purpose in {"lint", "types", "format", "build"} and re.match(
        r"\w*(?:Syntax|Indentation|Tab)Error", error
    ):
        return "lint_failure", "compile"
    return "runtime_error", "traceback"


def complained(run: Run) -> Finding | None:
    """Linters, type checkers, formatters and compilers; a compiler behind a test command is a failed test."""
    found = diagnostics_of(run.output)
    if not found or (run.asked.purpose in {"run", "other", "read"} and not _by_a_tool(found)):
        return None
    first = found[0]
    detail = _complaint(run, first)
    kind: FailureKind = "test_failure" if detail == "compile" and run.asked.purpose == "test" else "lint_failure"
    more = f"and {len(found) - 2} more" if len(found) > 2 else ""  # noqa: PLR2004 - two are shown
    told = [one.told for one in found[:2]]
    return Finding(kind, detail, (*told, more), tuple(one.essence for one in found))


def _by_a_tool(found: Sequence[Diagnostic]) -> bool:
    """Whether complaints of a command that nobody knows look like a compiler's or a linter's."""
    told = re.compile(
        r"(?:fatal )?(?:error|warning)\b|[A-Z]{1,4}\d{2,5}\b|undefined|.*\[[a-z-]+\]$|.*\([a-z]+(?:-[a-z]+)+\)$"
    )
    return any(one.complaint or told.match(one.message) for one in found)


def _complaint(run: Run, first: Diagnostic) -> str:
    """Which sort of complaint, from the form, the message, and what the command was for."""
    if first.complaint:
        return first.complaint
    if TYPES.search(first.message) or run.asked.purpose == "types":
        return "types"
    if run.asked.purpose in {"lint", "format"}:
        return run.asked.purpose
    return "compile" if COMPILE.search(first.message) or run.asked.purpose in {"build", "test"} else "lint"


def said_late(run: Run) -> Finding | None:
    """General sentences about commands, networks, permissions and paths."""
    hit = first_hit(LATE, run.output)
    return _from_hit(hit) if hit else None


def by_its_words(run: Run) -> Finding | None:
    """A tool with a documented exit status that said little, or a compiler's error without a place."""
    words = summarize.last_words(run.output)
    tool = next((tool for tool in run.asked.tools if tool in PURPOSE), "")
    if tool == "pytest" and run.exit_code == PYTEST_NOTHING_COLLECTED:
        return Finding("tooling_error", "no_tests", ("pytest collected no test (exit status 5)", *words), ("no tests",))
    purpose = run.asked.purpose
    if run.exit_code == 1 and tool and purpose in {"lint", "types", "format"}:
        lines = words or (f"{tool} failed with exit status 1, no output",)
        return Finding("lint_failure", purpose, lines, (*run.output.stdout[-50:], *words))
    error = next((line for line in run.output.lines if re.match(r"(?:fatal )?error(?:\[\w+\])?: ", line)), "")
    if purpose == "build" and error:
        return Finding("lint_failure", "compile", (error, *words), (error,))
    if run.exit_code == 1 and purpose == "test" and tool and words:
        return Finding("test_failure", "failed", words, words)
    return None


def unknown(run: Run) -> Finding:
    """Nothing told more: the last words and the exit status."""
    words = summarize.last_words(run.output)
    if not words:
        said = f"exit status {run.exit_code}, no output"
        return Finding("unknown", "silent", (said,), (said,))
    return Finding(
        "unknown", "exit_status", (*words[:2], f"exit status {run.exit_code}"), (*words[:2], str(run.exit_code))
    )


Step = Callable[[Run], Finding | None]

CONTRADICTIONS: Final[tuple[Step, ...]] = (contradicted, problems_hidden)
FAILURES: Final[tuple[Step, ...]] = (
    stopped,
    not_started,
    tests_failed,
    gave_way,
    could_not_start,
    died,
    complained,
    said_late,
    by_its_words,
    unknown,
)
"""The order of trust; the first that answers is believed."""
