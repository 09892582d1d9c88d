"""Recognition of complaints from linters, type checkers, formatters and compilers."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from kotef.classification import summarize
from kotef.classification.command_output import Run
from kotef.classification.diagnostics import COMPILE, FILE_LINE, TYPES, WEAK, Diagnostic, diagnostics_of
from kotef.classification.kinds import OutputFinding
from kotef.classification.remarks import SAID, listed, mostly, plainly, positions, remarks_of
from kotef.classification.rules import first_hit
from kotef.classification.runner_patterns import COMPLAINED, PROBLEMS
from kotef.classification.test_failures import FailingTest


def problems_hidden(run: Run) -> OutputFinding | None:
    """Exit status 0, but a linter's closing line counts errors and a pipe or a list hid its status."""
    if run.asked.purpose not in {"lint", "types", "format"} or not re.search(r"[|;]", run.command):
        return None
    return complained(run) if first_hit(PROBLEMS, run.output) else None


def complained(run: Run) -> OutputFinding | None:
    """Linters, type checkers, formatters and compilers, behind a test command too: no test ran there."""
    found = run.report.diagnostics or [_as_complaint(test) for test in run.report.tests] or diagnostics_of(run.output)
    if not found:
        return _closing_line(run)
    is_checker = run.asked.purpose not in {"run", "other", "read"}
    if not is_checker and not _by_a_tool(found):
        return None

    first = found[0]
    if all(_configures(run, one.path) for one in found):
        return OutputFinding("tooling_error", "config", (first.told,), (first.essence,))
    detail = _complaint(run, first)
    if run.asked.purpose == "test" and not any(_of_code(one) for one in found):
        return replace(_of(found, "failed"), kind="test_failure")
    return _of(found, detail)


def _closing_line(run: Run) -> OutputFinding | None:
    """What a tool says that lists nothing in a form that is known, with the first place it names."""
    closing = first_hit(COMPLAINED, run.output)
    if closing is None:
        return None
    named = [line.strip() for line in run.output.lines if FILE_LINE.match(line.strip())]
    return closing.finding(*named[:1], *summarize.last_words(run.output))


def _of_code(one: Diagnostic) -> bool:
    """Whether a complaint in the output of a test command is about code, and not an annotation of a failing test."""
    return one.complaint is not None or bool(COMPILE.search(one.message) or TYPES.search(one.message))


def _of(found: Sequence[Diagnostic], detail: str) -> OutputFinding:
    more = f"and {len(found) - 2} more" if len(found) > 2 else ""  # noqa: PLR2004 - two are shown
    messages = [one.told for one in found[:2]]
    return OutputFinding("lint_failure", detail, (*messages, more), tuple(one.essence for one in found))


ABOUT_CODE: Final = frozenset({"lint", "types", "format", "build"})


def remarked_on_code(run: Run) -> OutputFinding | None:
    """Remarks with a place, in a form that no other reader knows, of a tool whose job is to look at code.

    A list of lines that only name a line or a column reports such a tool too.
    """
    found = _remarked(run) if run.asked.role in ABOUT_CODE else None
    return found or (positioned(run) if listed(run.output) else None)


def remarked(run: Run) -> OutputFinding | None:
    """The same of a program that is not known: a list of remarks, or one in a tool's manner.

    A script of the project may mention a place in passing, and a shell names the line of the script that it runs.
    """
    return _remarked(run) if run.asked.role == "other" else None


def _remarked(run: Run) -> OutputFinding | None:
    found = remarks_of(run.output, about_code=run.asked.role in ABOUT_CODE)
    known = run.asked.role in ABOUT_CODE
    if run.asked.own:
        found = [one for one in found if re.split(r"[\\/]", one.path)[-1] not in run.command]
    if not (found and (known or _sure(found, run))):
        return None
    if all(_configures(run, one.path) for one in found):
        return OutputFinding("tooling_error", "config", (found[0].told,), (found[0].essence,))
    return _of(found, _complaint(run, found[0]))


def positioned(run: Run) -> OutputFinding | None:
    """Lines that tell a line or a column of a file that they do not name: the tool was given only one."""
    if run.asked.own or not run.asked.tools or run.asked.role in {"run", "read", "test"}:
        return None
    places = list(positions(run.output))
    return OutputFinding("lint_failure", "lint", tuple(places[:2]), tuple(places)) if places else None


def _sure(found: Sequence[Diagnostic], run: Run) -> bool:
    """Whether a program that is not known looked at code: it wrote little else, or it is a tool and wrote as one."""
    if run.asked.own:
        return mostly(found, run.output)
    return mostly(found, run.output) or plainly(run.output) or any(SAID.search(one.message) for one in found)


SETTINGS: Final = re.compile(r"(?:pyproject\.toml|setup\.cfg|tox\.ini|package\.json)$")
"""Files in which many tools are configured; a tool that complains about one of them with 2 could not begin."""


def _configures(run: Run, path: str) -> bool:
    """Whether a file is the configuration of the tool that complains: it bears the tool's name, and is not a source."""
    name = re.split(r"[\\/]", path)[-1].lower()
    if SETTINGS.search(name):
        return run.exit_code is not None and run.exit_code > 1
    stem, _, suffix = name.partition(".") if not name.startswith(".") else (name, "", "")
    if suffix and not re.fullmatch(r"(?:.*\.)?(?:toml|jsonc?|ya?ml|cfg|ini|conf|config\.\w+)", suffix):
        return False
    tools = (re.escape(tool.lower()) for tool in run.asked.tools if len(tool) > 1)
    return any(re.search(rf"(?<![a-z]){tool}(?:rc|file|[-_]\w+|config)?(?![a-z])", stem) for tool in tools)


def _as_complaint(test: FailingTest) -> Diagnostic:
    """A linter that writes JUnit's form reports each complaint as a failing test of the file."""
    path, _, line = (test.places[0] if test.places else test.name).rpartition(":")
    return Diagnostic(path or line, line if path else "", f"{test.error} [{test.name.rpartition('.')[2]}]", "lint")


def _by_a_tool(found: Sequence[Diagnostic]) -> bool:
    """Whether complaints of a command that is not known look like a compiler's or a linter's."""
    pattern = re.compile(
        r"(?:[Ff]atal )?(?:[Ee]rror|[Ww]arning)\b|syntax error"
        r"|[A-Z]{1,4}\d{2,5}\b|undefined|.*\[[a-z-]+\]$|.*\([a-z]+(?:-[a-z]+)+\)$"
    )
    return any(one.complaint or pattern.match(one.message) for one in found)


def _complaint(run: Run, first: Diagnostic) -> str:
    """Which sort of complaint, from the form, the message, and what the command was for."""
    if first.complaint:
        return first.complaint
    role = run.asked.role
    if TYPES.search(first.message) or role == "types":
        return "types"
    if role in {"lint", "format"}:
        return role
    return "compile" if COMPILE.search(first.message) or role in {"build", "test"} else "lint"


def only_warnings(run: Run) -> bool:
    """Whether all complaints are warnings, which a command that succeeds prints too."""
    found = run.report.diagnostics or diagnostics_of(run.output)
    return bool(found) and all(WEAK.match(one.message) for one in found)
