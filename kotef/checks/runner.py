"""Execution of one check command, cross-checking its status, output and reports."""

import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from kotef.checks.contradictions import admission_of, contradiction, may_run_tests
from kotef.checks.failure_lines import Admitted
from kotef.checks.obstructions import with_obstructions
from kotef.checks.reports import counted_tests, executed, report_request
from kotef.checks.runner_summaries import SummaryCounts, console_counts
from kotef.checks.runners import Leavings, Reading, RunnerCommand, environment_for, names_runner, reading_of
from kotef.checks.runners.python_rows import pytest_report
from kotef.checks.summary_counts import summary_counts
from kotef.checks.types import RED, CommandResult, Evidence, TestStatus
from kotef.classification import Diagnosis, classify, fingerprint, from_root
from kotef.failures.history import MAX_SUMMARY, MAX_TESTS
from kotef.redaction import redactor
from kotef.sandbox import OFF, OUTPUT_KEPT, Completed, Sandbox, head_and_tail, run_process
from kotef.shell import unwrap, without_watch

WHOLE: Final = 8 * 1024 * 1024
"""Bytes of each stream that are looked through for lines of tests; the result keeps much less."""
_DESELECTED: Final = re.compile(r"\b(\d+) deselected\b")
"""In the closing line of pytest, also where nothing else is left to count."""

_IDLE: Final = re.compile(
    r"g?make(?:\[\d+\])?: "
    r"(?:['`].*' is up to date\.|Nothing to be done for ['`].*'\.|(?:Entering|Leaving) directory .*)"
)
"""What make says that has a file of the target's name, and runs nothing."""


async def run_check(
    command: str,
    *,
    root: Path,
    env: Mapping[str, str],
    timeout: float,
    idle_timeout: float | None,
    log: Path | None = None,
    log_name: str | None = None,
    sandbox: Sandbox = OFF,
    keep: int = OUTPUT_KEPT,
) -> CommandResult:
    """Run a command line from the workspace root and judge it by everything it left: status, report, closing line.

    `env` is the whole environment of the command (`child_environment` of `kotef.sandbox`), to which the request for
    a report is added. `log` gets the full output; `log_name` is what the result calls it. The report goes into a fresh
    directory outside the workspace that exists for this one command. `keep` is how many bytes of each stream the result
    holds.

    Raises `CheckError` when the shell cannot be started.
    """
    command = without_watch(command)
    with tempfile.TemporaryDirectory(prefix="kotef-", dir=sandbox.temporary, ignore_cleanup_errors=True) as directory:
        runner_command = RunnerCommand(command, unwrap(command), root, Path(directory))
        may_test = may_run_tests(runner_command.asked)
        reporting = report_request(runner_command.folder, env)
        started = time.time()
        done = await run_process(
            command,
            cwd=root,
            env=environment_for(runner_command, _as_by_hand(env)) if may_test else {**env, **reporting},
            timeout=timeout,
            idle_timeout=idle_timeout,
            log=log,
            keep=max(keep, WHOLE) if may_test else keep,
            sandbox=sandbox,
        )
        reading = _reading(Leavings(runner_command, started, done.stdout, done.stderr), may_test=may_test)
    done = replace(done, stdout=head_and_tail(done.stdout, keep), stderr=head_and_tail(done.stderr, keep))
    limits = {"wall": f"timed out after {timeout:g} s", "idle": f"no output for {idle_timeout or 0:g} s"}
    timeout_line = limits[done.timed_out] if done.timed_out else ""
    result = _result(done, reading, root, said=timeout_line, log_name=log_name if done.log else None)
    return with_obstructions(result, env, sandbox)


def reconsidered(result: CommandResult, root: Path) -> CommandResult:
    """The same command, its output and report read again, by the rules of now; `root` is where it was run."""
    done = Completed(
        command=result.command,
        exit_code=result.exit_code,
        stdout=result.stdout,
        stderr=result.stderr,
        seconds=result.seconds,
        timed_out="wall" if result.timed_out else None,
        output_bytes=0,
        log=None,
        log_truncated=False,
        log_error="",
    )
    timeout_line = result.summary.partition("\n")[0] if result.timed_out else ""
    known = Reading(result.tests, result.evidence) if result.tests is not None else None
    now = _result(done, known, root, said=timeout_line, log_name=result.log)
    return now.model_copy(update={"flaky": result.flaky, "partial": result.partial})


def _as_by_hand(env: Mapping[str, str]) -> dict[str, str]:
    """Without NO_COLOR and TERM=dumb, as where a person pipes the tests: programs that can colour test that they do."""
    kept = {name: value for name, value in env.items() if name != "NO_COLOR"}
    return kept | {"TERM": "xterm"} if kept.get("TERM") == "dumb" else kept


def _reading(left: Leavings, *, may_test: bool) -> Reading | None:
    """What is known of each test; a parameter that is a secret is not part of its name."""
    if may_test:
        found = reading_of(left)
    else:
        tests = pytest_report(left)
        found = Reading(tests, "report") if tests is not None else None
    if found is None:
        return None
    return Reading({redactor().text(test): status for test, status in found.tests.items()}, found.evidence)


def _result(done: Completed, reading: Reading | None, root: Path, *, said: str, log_name: str | None) -> CommandResult:
    """Put the pieces of evidence side by side; where they disagree, it did not pass."""
    tests = reading.tests if reading else None
    may_test = may_run_tests(unwrap(done.command))
    counts = console_counts(f"{done.stdout}\n{done.stderr}") if may_test else None
    own_words = may_test and counts is None and tests is None and not names_runner(done.command)
    counts = summary_counts(f"{done.stdout}\n{done.stderr}") if own_words else counts
    ran = _executed(done, tests, counts) if may_test or tests is not None else None
    red = _innermost([test for test, status in (tests or {}).items() if status in RED])
    stdout, stderr = (from_root(text, str(root)) for text in (done.stdout, done.stderr))
    diagnosis = classify(done.command, done.exit_code, stdout, stderr, timed_out=done.timed_out is not None)
    evidence = reading.evidence if reading else _without_ids(counts, own_words=own_words)
    kind, detail, summary, mark = diagnosis.kind, diagnosis.detail, diagnosis.summary, diagnosis.fingerprint
    if red and kind in {"unknown", "lint_failure"}:  # the runner reports tests, whatever its words look like
        kind, detail = "test_failure", "failed"
        mark = fingerprint(kind, detail, red)
    if kind is None and done.exit_code != 0:  # a check that is a search: its answer is no
        kind, mark = "unknown", fingerprint("unknown", detail, (done.command,))
    admitted = admission_of(done.command, done.exit_code, f"{done.stdout}\n{done.stderr}")
    if conflict := _contradicted(done, diagnosis, tests, counts, admitted):
        kind, detail = kind or (admitted.kind if admitted else "test_failure"), "contradiction"
        summary, mark = f"{conflict}\n{summary}", fingerprint(kind, detail, red or (conflict,))
    elif done.exit_code == 0 and ran == 0 and may_test:
        kind, detail, summary = "tooling_error", "no_tests", f"exit status 0, but {_nothing_ran(done)}"
        mark = fingerprint(kind, detail, ())
    elif detail == "no_tests":
        summary = "\n".join(dict.fromkeys((_nothing_ran(done), *summary.splitlines())))
    elif said:
        summary = "\n".join((said, *summary.splitlines()[1:]))
    passed = done.exit_code == 0 and kind is None
    return CommandResult(
        command=done.command,
        exit_code=done.exit_code,
        stdout=done.stdout,
        stderr=done.stderr,
        passed=passed,
        kind=kind,
        detail=detail,
        summary="" if passed else _with_ids(summary, red),
        fingerprint=mark,
        seconds=done.seconds,
        timed_out=done.timed_out is not None,
        tests_executed=ran,
        tests=tests,
        failing=() if passed else (red or diagnosis.tests)[:MAX_TESTS],
        failed=_failed(tests, counts),
        evidence=evidence,
        log=log_name,
    )


def _executed(done: Completed, tests: Mapping[str, TestStatus] | None, counts: SummaryCounts | None) -> int | None:
    """How many tests ran, by the best evidence there is; None if that is not known."""
    if tests is not None:
        return executed(tests)
    if counts is not None:
        return counts.executed
    lines = f"{done.stdout}\n{done.stderr}".split("\n")
    texts = [line for line in map(str.strip, lines) if line]
    return 0 if texts and all(map(_IDLE.fullmatch, texts)) else None


def _innermost(red: Sequence[str]) -> tuple[str, ...]:
    """Without the programs of which a test inside is named."""
    programs = {test.partition("::")[0] for test in red if "::" in test}
    return tuple(test for test in red if test not in programs)


def _without_ids(counts: SummaryCounts | None, *, own_words: bool) -> Evidence:
    if counts is None:
        return "exit"
    return "summary" if own_words else "counts"


def _failed(tests: Mapping[str, TestStatus] | None, counts: SummaryCounts | None) -> int | None:
    """How many failed, by the best evidence there is."""
    if tests is not None:
        return sum(status in RED for status in counted_tests(tests).values())
    return counts.failed if counts is not None else None


def _contradicted(
    done: Completed,
    diagnosis: Diagnosis,
    tests: Mapping[str, TestStatus] | None,
    counts: SummaryCounts | None,
    admitted: Admitted | None,
) -> str:
    """Which two of exit status, report and console disagree, in words; empty when none do.

    Only whether anything failed and whether anything ran is compared: subtests, errors after a test, and several runs
    behind one command make honest counts differ.
    """
    if done.timed_out or done.exit_code is None:
        return ""
    red = [test for test, status in (tests or {}).items() if status in RED]
    if done.exit_code == 0 and red:
        return f"exit status 0, but the report lists {len(red)} failing"
    counted = (counts.executed, counts.failed) if counts else (0, 0)
    ran, failed = counted if tests is None or done.exit_code == 0 else (executed(tests), len(red))
    if conflict := contradiction(done.exit_code, diagnosis, ran=ran, failed=failed, admitted=admitted):
        return conflict
    if tests is None or counts is None:
        return ""
    only_files = bool(red) and not any("::" in test for test in red)  # which jest and vitest do not count as tests
    if bool(red) != bool(counts.failed) and not (only_files and done.exit_code):
        return f"the report lists {len(red)} failing, the output counts {counts.failed}"
    if bool(executed(tests)) != bool(counts.executed) and not red:
        return f"the report lists {executed(tests)} executed, the output counts {counts.executed}"
    return ""


def _nothing_ran(done: Completed) -> str:
    """The reason that no test ran, and whether all were deselected."""
    deselected = [found[1] for found in _DESELECTED.finditer(f"{done.stdout}\n{done.stderr}")]
    return f"no test was run: {deselected[-1]} deselected" if deselected else "no test was run"


def _with_ids(summary: str, red: tuple[str, ...]) -> str:
    """The summary, with the first failing test in front unless it names one of them."""
    if red and not any(test.rpartition("::")[2] in summary for test in red):
        first, *others = red
        more = f" and {len(others)} more" if others else ""
        summary = f"{first}{more}\n{summary}"
    return "\n".join(summary.strip().splitlines()[:3])[:MAX_SUMMARY]
