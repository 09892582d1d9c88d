"""Contradictions between a command's exit status and what its output says about its tests."""

import re
from dataclasses import replace
from typing import Final

from kotef.checks.failure_lines import Admitted, admission_in
from kotef.checks.runner_summaries import closed_red, console_counts
from kotef.classification import MAX_SUMMARY, Diagnosis, classify, fingerprint
from kotef.shell import STARTERS, CommandPurpose, Purpose, unwrap

_RUNS_TESTS: Final[frozenset[Purpose]] = frozenset({"test", "run", "other"})
"""Purposes of programs whose output may hold the closing line of a test runner; `cat` and linters only quote it."""

_SHELL: Final = frozenset({"cd", "export", "set", ".", "source", "exit", "true", ":"})
"""Words of the shell itself, which start nothing."""
_JUDGES: Final[frozenset[Purpose]] = frozenset({"test", "lint", "types", "format"})


def may_run_tests(asked: CommandPurpose) -> bool:
    """Whether any link of a command may run tests: `cmake --build build && ctest` does, whatever it begins with."""
    links = zip(asked.tools, asked.purposes, strict=True)
    return not asked.tools or any(purpose in _RUNS_TESTS for tool, purpose in links if tool not in _SHELL)


def diagnosis_of(command: str, exit_code: int, output: str) -> Diagnosis:
    """`classify` for an output of unknown origin; a contradiction between status and summary line is named."""
    diagnosis = classify(command, exit_code, output, "")
    counts = console_counts(output) if may_run_tests(unwrap(command)) else None
    ran, failed = (counts.executed, counts.failed) if counts else (0, 0)
    admitted = admission_of(command, exit_code, output)
    conflict = contradiction(exit_code, diagnosis, ran=ran, failed=failed, admitted=admitted)
    if not conflict:
        return diagnosis
    kind = diagnosis.kind or (admitted.kind if admitted else "test_failure")
    summary = f"{conflict}\n{diagnosis.summary}".strip()[:MAX_SUMMARY]
    mark = fingerprint(kind, "contradiction", diagnosis.tests or (conflict,))
    return replace(diagnosis, kind=kind, detail="contradiction", summary=summary, fingerprint=mark)


def admission_of(command: str, exit_code: int | None, output: str) -> Admitted | None:
    """The line of an output that reports a failure although the command exited 0; None if there is none.

    Only commands that may start several programs are asked, or that hide a status, as wrappers, pipes and `;` do: one
    runner or linter started alone is believed, and what it prints on the way may be words of its tests.
    """
    invocation = unwrap(command)
    if exit_code != 0 or invocation.purpose == "read":
        return None
    programs = [
        (tool, purpose)
        for tool, purpose in zip(invocation.tools, invocation.purposes, strict=True)
        if tool not in _SHELL and purpose != "read"
    ]
    if len(programs) == 1:
        ((tool, purpose),) = programs
        hides = purpose != "test" and re.search(r"[|;]", command)
        if purpose in _JUDGES and tool.removesuffix(".sh").removesuffix(".cmd") not in STARTERS and not hides:
            return None
    line = closed_red(output)
    return Admitted(line, "test_failure") if line else admission_in(output)


def contradiction(
    exit_code: int, diagnosis: Diagnosis, *, ran: int, failed: int, admitted: Admitted | None = None
) -> str:
    """How the exit status disagrees with what the output says of its tests, in words; empty when it does not."""
    if exit_code == 0 and failed:
        return f"exit status 0, but the output counts {failed} failed"
    if exit_code == 0 and admitted is not None:
        return f"exit status 0, but the output says `{admitted.line}`"
    if exit_code == 0 and diagnosis.kind is not None:
        return "exit status 0, but the output reports a failure"
    unexplained = diagnosis.kind == "unknown" or (diagnosis.kind, diagnosis.detail) == ("test_failure", "failed")
    if exit_code > 0 and ran and not failed and unexplained:
        return f"exit status {exit_code}, but all tests that ran passed ({ran})"
    return ""
