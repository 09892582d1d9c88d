"""Recognition of a crash from the program's own error output, when no test runner or linter reported one."""

import re
from collections.abc import Sequence
from typing import Final

from kotef.classification import summarize
from kotef.classification.command_output import FATAL_TO_ITSELF, Run
from kotef.classification.diagnostics import diagnostics_of
from kotef.classification.exit_causes import fatal_signal
from kotef.classification.kinds import FailureKind, OutputFinding
from kotef.classification.lint_output import ABOUT_CODE
from kotef.classification.missing_modules import MISSING_MODULE, missing_module
from kotef.classification.missing_plugins import missing_plugin
from kotef.classification.output_lines import Output
from kotef.classification.rules import MERE_WARNING, Hit, first_hit
from kotef.classification.tool_errors import LATE, STARTUP, UNREACHED
from kotef.classification.tracebacks import crash_of
from kotef.shell import TOOL_PURPOSES


def gave_way(run: Run) -> OutputFinding | None:
    """No space, no memory, killed: the machine, not the code."""
    hit = first_hit(UNREACHED, run.output)
    if hit is None:
        return None
    crash = crash_of(run.output) if hit.rule.detail == "out_of_memory" else None
    place = summarize.of_crash("", crash.places, innermost_last=crash.language == "python") if crash else ()
    return OutputFinding("tooling_error", hit.rule.detail, (hit.line, *place), (hit.line,))


def could_not_start(run: Run) -> OutputFinding | None:
    """A tool said, in its own words, that it could not do its job; what it only warned of did not stop it."""
    hit = first_hit(STARTUP, run.output, ignored=MERE_WARNING)
    if run.exit_code != 0 and (found := missing_plugin(run)) is not None:
        return found
    if hit is None:
        return None
    if hit.rule.detail == "missing_runner" and hit.rule.tool == "python":
        module = re.sub(r".*No module named ([\w.]+).*", r"\1", hit.line)
        if module.split(".")[0] not in TOOL_PURPOSES and module not in {"tox", "nox", "pip", "ruff", "coverage"}:
            return OutputFinding("tooling_error", "missing_module", (hit.line,), (module,))
    if hit.rule.tool == "cmake" and run.asked.purpose == "test":
        return None
    crash = crash_of(run.output) if hit.rule.detail == "config" else None
    return hit.finding(*_after(hit, run.output), *([crash.error] if crash else []))


BANNER: Final = re.compile(r"ESLint: \d|npm (?:error|ERR!)$|\[ERROR\](?: (?:To see|Re-run|For more|\[Help).*)?$")


def _after(hit: Hit, output: Output) -> tuple[str, ...]:
    """The next line says more where the first is a headline."""
    below = [line.strip() for line in output.lines[hit.at + 1 : hit.at + 9] if line.strip() and not BANNER.match(line)]
    headline = (
        hit.line.endswith(":")
        or hit.rule.pattern.endswith("!")
        or hit.rule.tool in {"jest", "vitest", "cmake", "docker", "eslint", "maven", "npm", "ruff", "pnpm", "prettier"}
    )
    return tuple(below[:2]) if headline else ()


def died(run: Run) -> OutputFinding | None:
    """An uncaught exception, a panic or a fatal signal; whose it was decides the kind."""
    crash = crash_of(run.output)
    if crash is None:
        return fatal_signal(run)
    if crash.language in {"go", "node"} and not crash.places and diagnostics_of(run.output):
        return None
    if crash.language == "any" and run.asked.role in ABOUT_CODE:  # such tools quote stacks, and chains of inclusion
        return fatal_signal(run)
    lines = summarize.of_crash(crash.error, crash.places, innermost_last=crash.language == "python")
    files = (place.rpartition(":")[0] for place in crash.places[-1:])
    essence = (crash.error, *crash.functions[-1:], *(path.rpartition("/")[2] for path in files))
    kind, detail = _blame(
        run, crash.error, tuple(reversed(crash.places)) if crash.language == "python" else crash.places
    )
    if run.signal in FATAL_TO_ITSELF:
        kind, detail, lines = "runtime_error", "signal", (f"{crash.error} ({run.signal})", *lines[1:])
    return OutputFinding(kind, detail, lines, essence)


CONFIGURATION: Final = re.compile(
    r"(?:^|/)(?:[\w.-]+\.config\.[cm]?[jt]s|\.\w+rc(?:\.[cm]?js)?|noxfile\.py|tasks\.py|Rakefile"
    r"|[Gg](?:runt|ulp)file\.js):"
)
"""A place in a file that configures a tool, in the languages in which programs are written too."""

SYNTAX: Final = re.compile(r"\w*(?:Syntax|Indentation|Tab)Error")
"""Syntax errors of a tool that reads code: it could not read the code."""
NO_NETWORK: Final = re.compile(
    r"Network is unreachable|Temporary failure in name resolution|\b(?:ENETUNREACH|EAI_AGAIN)\b"
)
"""How an uncaught exception says that there is no network at all; that one host refuses is another matter."""


def _blame(run: Run, error: str, places: Sequence[str]) -> tuple[FailureKind, str]:
    """The kind of a crash, from the error and its places, innermost first.

    A missing module, the network that is not there, a tool that fell over its configuration, a test, or the program
    itself.
    """
    match = MISSING_MODULE.search(error)
    if match:
        entry = re.search(r"Cannot find module '(?:/|[A-Z]:)", error)
        if entry:
            return "tooling_error", "path_not_found"
        return missing_module(run, error) or (
            ("test_failure", "collection") if run.asked.purpose == "test" else ("runtime_error", "traceback")
        )
    if run.asked.purpose != "test" and NO_NETWORK.search(error):
        return "tooling_error", "network_denied"
    if run.asked.purpose != "run" and CONFIGURATION.search(next(iter(places), "")):
        return "tooling_error", "config"
    if run.asked.role in ABOUT_CODE and SYNTAX.match(error):
        return "lint_failure", "compile"
    if not places and run.asked.role in {"lint", "types", "format", "test"}:
        return "tooling_error", "config"
    if run.asked.role == "test":
        return "test_failure", "error"
    return "runtime_error", "traceback"


def said_late(run: Run) -> OutputFinding | None:
    """General sentences about commands, networks, permissions and paths."""
    hit = first_hit(LATE, run.output)
    return hit.finding() if hit else None


def unknown(run: Run) -> OutputFinding:
    """Nothing says more: the last words and the exit status."""
    words = summarize.last_words(run.output)
    if not words:
        summary = f"exit status {run.exit_code}, no output"
        return OutputFinding("unknown", "silent", (summary,), (summary,))
    return OutputFinding(
        "unknown", "exit_status", (*words[:2], f"exit status {run.exit_code}"), (*words[:2], str(run.exit_code))
    )
