"""Error messages of runners about a missing extension: a plug-in, a preset, a reporter, a tool."""

import re
from typing import Final, NamedTuple

from kotef.classification.command_output import Run
from kotef.classification.kinds import OutputFinding
from kotef.classification.missing_modules import is_own


class _Sentence(NamedTuple):
    """How a tool names the extension that it lacks."""

    hint: str
    """A literal of the line, looked for first."""
    pattern: re.Pattern[str]
    """Searched in the line; `name` is the extension, or what asks for it."""


_SENTENCES: Final = tuple(
    _Sentence(hint, re.compile(pattern))
    for hint, pattern in (
        ("Missing required plugins", r"^ERROR: Missing required plugins: (?P<name>.+)"),
        ("Error importing plugin", r"Error importing plugin \"(?P<name>[\w.]+)\""),
        ("not found", r"\bPreset (?P<name>\S+) not found\b"),
        ("option was not found", r"\bModule (?P<name>\S+) in the .* option was not found"),
        (
            "cannot be found. Make sure",
            r"^\W*(?:Test environment|[A-Z]\w+(?: \w+)?) (?P<name>\S+) cannot be found\. Make",
        ),
        ("Module name: ", r"^\s*Module name: (?P<name>\S+)$"),
        ("oad reporter", r"Could not load reporter \"(?P<name>[^\"]+)\""),
        ("custom Reporter from", r"Failed to load custom Reporter from (?P<name>\S+)"),
        ("MISSING DEPENDENCY", r"MISSING DEPENDENCY +Cannot find dependency '(?P<name>[^']+)'"),
        ("couldn't find the", r"ESLint couldn't find the (?:config|plugin) \"(?P<name>[^\"]+)\""),
        ("Cannot find plugin", r"Cannot find plugin \"(?P<name>[^\"]+)\""),
        ("no such tool", r"^go(?: tool)?: no such tool \"(?P<name>\w+)\""),
        ("imported from", r"Cannot find (?:package|module) '(?P<name>[^']+)' imported from \S*/node_modules/"),
    )
)
_UNKNOWN: Final = re.compile(r"(?:pytest|py\.test|__main__\.py)\S*: error: unrecognized arguments: (?P<name>.+)")
_OF_PLUGINS: Final = re.compile(
    r"--(?:cov|no-cov|numprocesses|dist|timeout|reruns|asyncio|benchmark|mypy|randomly)\b.*|-n\b.*"
)
"""Options of pytest's best-known plug-ins, which a command may name itself."""
_REQUIRED_BY: Final = re.compile(r"\s*(?:- )?\S*/node_modules/")


def missing_plugin(run: Run) -> OutputFinding | None:
    """The first sentence about an extension that is not the project's own; None without one."""
    for at, line in enumerate(run.output.lines):
        name = _named(line) or _required_by_a_tool(run, at) or _unknown_option(line, run)
        if name and not name.startswith((".", "/", "<", "~")) and not is_own(name, run):
            return OutputFinding("tooling_error", "missing_plugin", (line.strip(),), (line.strip(),))
    return None


def _named(line: str) -> str:
    for hint, pattern in _SENTENCES:
        if hint in line and (match := pattern.search(line)):
            return match["name"]
    return ""


def _unknown_option(line: str, run: Run) -> str:
    """The options that pytest does not know and that the command does not give it: its configuration does."""
    match = _UNKNOWN.search(line) if "unrecognized arguments" in line else None
    if match is None or not run.command:
        return ""
    given = run.command.split()
    options = [word for word in match["name"].split() if word.startswith("-")]
    unknown_options = [word for word in options if word not in given or _OF_PLUGINS.fullmatch(word)]
    return unknown_options[0] if unknown_options else ""


def _required_by_a_tool(run: Run, at: int) -> str:
    """The module that a tool's own file requires: the line below the head of the stack names who asked."""
    line, below = run.output.lines[at], run.output.lines[at + 1 : at + 3]
    match = re.search(r"Cannot find module '(?P<name>[^']+)'", line) if "Cannot find module" in line else None
    stack = bool(below) and below[0].startswith("Require stack:")
    return match["name"] if match and stack and len(below) > 1 and _REQUIRED_BY.match(below[1]) else ""
