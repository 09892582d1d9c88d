"""Classification of a failure: its kind, for machines and for people."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from kotef.classification import summarize
from kotef.classification.command_output import Run
from kotef.classification.exit_causes import not_started, nothing_found, stopped
from kotef.classification.fingerprints import fingerprint
from kotef.classification.kinds import ENVIRONMENT_FAULTS, MAX_TESTS, FailureKind, OutputFinding
from kotef.classification.lint_output import (
    complained,
    only_warnings,
    positioned,
    problems_hidden,
    remarked,
    remarked_on_code,
)
from kotef.classification.machine_reports import report_of, unwrapped
from kotef.classification.output_lines import Output, read_output
from kotef.classification.program_errors import could_not_start, died, gave_way, said_late, unknown
from kotef.classification.refusals import by_its_words, code_reader, in_plain_words, nothing_collected, refused
from kotef.classification.rules import first_hit, last_line
from kotef.classification.runner_patterns import FAILED, PASSED
from kotef.classification.test_outcome import contradicted, tests_counted, tests_failed
from kotef.shell import unwrap

__all__ = ["ENVIRONMENT_FAULTS", "Diagnosis", "FailureKind", "classify", "classify_text"]

ANNOUNCEMENT: Final = re.compile(r"> |\$ |\+{1,3} |nox > |\S+: commands\[|\[command\]")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What one run of a command is taken to mean: heuristic, and may be wrong."""

    kind: FailureKind | None
    """None: it exited 0 and its output says nothing else, or it is an answer (`detail` is `no_match`)."""
    detail: str = ""
    """A machine word; empty with `kind` None, except for `no_match`: a search that found nothing."""
    summary: str = ""
    """One to three lines, at most 400 characters."""
    fingerprint: str = ""
    """Twelve hexadecimal digits, equal for the same failure whatever the lines, directories, times and orders."""
    tests: tuple[str, ...] = ()
    """Ids of failing tests found in the text, at most 20, in the order of the output."""


def classify(command: str, exit_code: int | None, stdout: str, stderr: str, timed_out: bool = False) -> Diagnosis:
    """Say what a command's end means, from the most trusted evidence to the least, in linear time.

    Raises only TypeError, for an argument of another type. `exit_code` as `subprocess` gives it: None when our
    own limit ended the command, negative N for signal N. The order: the limit and signals, 126 and 127, the runner's
    verdict line, tools that could not start, a traceback, `file:line` diagnostics, the command's own words, and last
    `unknown`.
    """
    _are_texts(command=command, stdout=stdout, stderr=stderr)
    if exit_code is not None and not isinstance(exit_code, int):
        msg = f"exit_code is {exit_code!r}: it must be an int, or None for a command that timed out"
        raise TypeError(msg)
    run = _run(command, exit_code, (stdout, stderr), timed_out=timed_out or exit_code is None)
    return _first(CONTRADICTIONS if run.exit_code == 0 and not run.timed_out else FAILURES, run)


def classify_text(command: str, text: str) -> Diagnosis:
    """Say what a text says when the exit status is unknown; `kind` None: it reports no failure.

    The command may be empty. Only what a tool says counts here: silence and last words do not.
    """
    _are_texts(command=command, text=text)
    return _first(TOLD, _run(command, None, (text, ""), timed_out=False))


def _are_texts(**given: object) -> None:
    """TypeError, with the name and the way out, for what is not text."""
    for name, value in given.items():
        if not isinstance(value, str):
            way = "decode it first" if isinstance(value, bytes | bytearray) else 'pass "" for nothing'
            msg = f"{name} must be text, not {type(value).__name__} ({way})"
            raise TypeError(msg)


def _run(command: str, exit_code: int | None, streams: tuple[str, str], *, timed_out: bool) -> Run:
    stdout, stderr = map(unwrapped, streams)
    output = read_output(stdout, stderr)
    announced = [line for line in output.lines[:200] if ANNOUNCEMENT.match(line)]
    invocation = unwrap(command, announced)
    if invocation.purpose == "test" and re.search(r"&&|[;\n]", command) and _green(output):
        invocation = invocation.after_tests()
    return Run(command, invocation, exit_code, output, timed_out, report_of(stdout, stderr))


def _green(output: Output) -> bool:
    """Whether a test runner was content, so that what failed is what a chain of commands runs after it."""
    return first_hit(PASSED, output) is not None and first_hit(FAILED, output) is None


def _first(steps: "Sequence[Step]", run: Run) -> Diagnosis:
    """What the first step says that has an answer."""
    for step in steps:
        finding = step(run)
        if finding is not None:
            return _diagnosis(finding)
    return Diagnosis(kind=None)


def _diagnosis(finding: OutputFinding) -> Diagnosis:
    if finding.kind is None:
        return Diagnosis(kind=None, detail=finding.detail, summary=summarize.summary(finding.lines))
    essence = [line for line in finding.essence if line] or list(finding.lines)
    return Diagnosis(
        kind=finding.kind,
        detail=finding.detail,
        summary=summarize.summary(finding.lines) or finding.detail.replace("_", " "),
        fingerprint=fingerprint(finding.kind, finding.detail, essence),
        tests=finding.tests[:MAX_TESTS],
    )


def told(run: Run) -> OutputFinding | None:
    """The exit status is not known: a failure is what a tool says about and no later closing line takes back."""
    failed, passed = first_hit(FAILED, run.output), first_hit(PASSED, run.output)
    if passed is not None and (failed is None or last_line(passed, run.output) > last_line(failed, run.output)):
        return None
    findings = (step(run) for step in (tests_failed, gave_way, could_not_start, died, complained, said_late))
    found = next((finding for finding in findings if finding is not None), None)
    return None if found is not None and found.kind == "lint_failure" and only_warnings(run) else found


Step = Callable[[Run], OutputFinding | None]

TOLD: Final[tuple[Step, ...]] = (told,)
CONTRADICTIONS: Final[tuple[Step, ...]] = (contradicted, problems_hidden)
FAILURES: Final[tuple[Step, ...]] = (
    stopped,
    not_started,
    nothing_found,
    tests_failed,
    tests_counted,
    gave_way,
    could_not_start,
    died,
    complained,
    refused,
    remarked_on_code,
    said_late,
    remarked,
    in_plain_words,
    nothing_collected,
    code_reader,
    by_its_words,
    positioned,
    unknown,
)
"""The order of trust; the first that answers is believed."""
