"""What does a linter, a type checker, a formatter or a compiler say about the code?"""

import re
from collections.abc import Sequence

from kotef.failures import summarize
from kotef.failures.diagnostics import COMPILE, FILE_LINE, TYPES, WEAK, Diagnostic, diagnostics_of
from kotef.failures.evidence import Run
from kotef.failures.failing import FailingTest
from kotef.failures.kinds import FailureKind, Finding
from kotef.failures.rules import first_hit
from kotef.failures.verdicts import COMPLAINED, PROBLEMS


def problems_hidden(run: Run) -> Finding | None:
    """Exit status 0, but a linter's closing line counts errors and a pipe or a list hid its status."""
    if run.asked.purpose not in {"lint", "types", "format"} or not re.search(r"[|;]", run.command):
        return None
    return complained(run) if first_hit(PROBLEMS, run.output) else None


def complained(run: Run) -> Finding | None:
    """Linters, type checkers, formatters and compilers; a compiler behind a test command is a failed test."""
    found = run.report.diagnostics or [_as_complaint(test) for test in run.report.tests] or diagnostics_of(run.output)
    closing = first_hit(COMPLAINED, run.output) if not found else None
    if closing is not None:
        named = [line.strip() for line in run.output.lines if FILE_LINE.match(line.strip())]
        return closing.finding(*named[:1], *summarize.last_words(run.output))
    if not found or (run.asked.purpose in {"run", "other", "read"} and not _by_a_tool(found)):
        return None
    first = found[0]
    detail = _complaint(run, first)
    kind: FailureKind = "test_failure" if detail == "compile" and run.asked.purpose == "test" else "lint_failure"
    more = f"and {len(found) - 2} more" if len(found) > 2 else ""  # noqa: PLR2004 - two are shown
    told = [one.told for one in found[:2]]
    return Finding(kind, detail, (*told, more), tuple(one.essence for one in found))


def _as_complaint(test: FailingTest) -> Diagnostic:
    """A linter that writes JUnit's form reports each complaint as a failing test of the file."""
    path, _, line = (test.places[0] if test.places else test.name).rpartition(":")
    return Diagnostic(path or line, line if path else "", f"{test.error} [{test.name.rpartition('.')[2]}]", "lint")


def _by_a_tool(found: Sequence[Diagnostic]) -> bool:
    """Whether complaints of a command that nobody knows look like a compiler's or a linter's."""
    told = re.compile(
        r"(?:[Ff]atal )?(?:[Ee]rror|[Ww]arning)\b|syntax error"
        r"|[A-Z]{1,4}\d{2,5}\b|undefined|.*\[[a-z-]+\]$|.*\([a-z]+(?:-[a-z]+)+\)$"
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


def only_warnings(run: Run) -> bool:
    """Whether all complaints are warnings, which a command that succeeds prints too."""
    found = run.report.diagnostics or diagnostics_of(run.output)
    return bool(found) and all(WEAK.match(one.message) for one in found)
