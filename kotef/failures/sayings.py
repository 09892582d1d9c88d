"""Of what did a program die, and what do its own words say, when no runner and no linter spoke?"""

import re
from collections.abc import Sequence
from typing import Final

from kotef.failures import summarize
from kotef.failures.diagnostics import diagnostics_of
from kotef.failures.endings import fatal_signal
from kotef.failures.evidence import FATAL_TO_ITSELF, Run
from kotef.failures.faults import LATE, STARTUP, UNREACHED
from kotef.failures.kinds import FailureKind, Finding
from kotef.failures.missing import MISSING_MODULE, missing_module
from kotef.failures.output import Output
from kotef.failures.rules import Hit, first_hit
from kotef.failures.tracebacks import crash_of
from kotef.failures.unwrap import PURPOSE

PYTEST_NOTHING_COLLECTED: Final = 5


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
    kind, detail = _blame(
        run, crash.error, tuple(reversed(crash.places)) if crash.language == "python" else crash.places
    )
    if run.signal in FATAL_TO_ITSELF:
        kind, detail, lines = "runtime_error", "signal", (f"{crash.error} ({run.signal})", *lines[1:])
    return Finding(kind, detail, lines, essence)


CONFIGURATION: Final = re.compile(
    r"(?:^|/)(?:[\w.-]+\.config\.[cm]?[jt]s|\.\w+rc(?:\.[cm]?js)?|noxfile\.py|tasks\.py|Rakefile"
    r"|[Gg](?:runt|ulp)file\.js):"
)
"""A place in a file that configures a tool, in the languages in which programs are written too."""

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
    if not places and run.asked.purpose in {"lint", "types", "format", "test"}:
        return "tooling_error", "config"
    if run.asked.purpose == "test":
        return "test_failure", "error"
    if run.asked.purpose in {"lint", "types", "format", "build"} and re.match(
        r"\w*(?:Syntax|Indentation|Tab)Error", error
    ):
        return "lint_failure", "compile"
    return "runtime_error", "traceback"


def said_late(run: Run) -> Finding | None:
    """General sentences about commands, networks, permissions and paths."""
    hit = first_hit(LATE, run.output)
    return hit.finding() if hit else None


UNABLE: Final = re.compile(
    r"(?i)\b(?:(?:no|not) (?:\w+ ){0,4}(?:found|installed|configured|defined|specified|supported|recognized|readable)"
    r"|no such|unknown"
    r"|unrecogni[sz]ed|unsupported|could(?: not|n't)|can(?:not|'t| not)|unable to|is (?:missing|required)"
    r"|(?:invalid|missing) (?:\w+ )?"
    r"(?:option|argument|config\w*|value|parameter|flag|command|key|plugin))\b"
)
"""How a tool says that it could not begin, in whatever sentence; heard only of tools whose job is known."""


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
    unable = next((word for word in words if UNABLE.search(word)), "")
    if unable and tool:
        return Finding("tooling_error", "config", (unable, *words), (unable,))
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
