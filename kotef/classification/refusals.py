"""Refusals: a tool's own message that it could not do what it was asked, and what its exit status means without one."""

import re
from typing import Final

from kotef.classification import summarize
from kotef.classification.command_output import Run
from kotef.classification.kinds import OutputFinding
from kotef.classification.lint_output import ABOUT_CODE
from kotef.classification.rules import compiled
from kotef.classification.tool_errors import PLAIN
from kotef.shell import SUBCOMMANDS, TOOL_PURPOSES

PYTEST_NOTHING_COLLECTED: Final = 5
CODE_READERS: Final = frozenset({"lint", "types", "format"})
MAX_HEARD: Final = 600
"""Lines in which plain words are looked for, half of them from the end."""
MAX_SENTENCE: Final = 300

UNABLE: Final = re.compile(
    r"(?i)\b(?:"
    r"(?:no|not) (?:\w+ ){0,4}(?:found|installed|configured|defined|specified|supported|recognized|readable|exist)"
    r"|no such|unknown|no \w+ could be|does(?: not|n't) exist|is hidden|only available|must be|unexpected argument"
    r"|unrecogni[sz]ed|unsupported|could(?: not|n't)|can(?:not|'t| not)|unable to|is (?:missing|required)"
    r"|failed to (?:\w+ ){0,2}(?:read|load|parse|open|find|fetch|download|connect|resolve|start|spawn|install)"
    r"|(?:invalid|missing|bad|deprecated|duplicate|conflicting) (?:\S+ )?"
    r"(?:option|argument|config\w*|value|parameter|flag|command|key|plugin|field|setting|selector|pattern|version)"
    r")\b"
)
"""How a tool says that it could not begin, in whatever sentence; heard only of tools whose job is known."""
MISCONFIGURED: Final = re.compile(
    r"(?i)\b(?:invalid|failed to (?:parse|load|read)|unknown|missing|can(?:not|'t)|could(?:n't| not)|unable to)\b"
    r".{0,40}\bconfig"
    r"|\bconfig\w*\b.{0,60}\b(?:is invalid|errors?|not found|failed)\b"
    r"|\boptions? [`'\"]?--?\w|\bunknown (?:option|rule|plugin)\b"
)
"""How a linter says with status 1 that it is its configuration that is wrong."""
USAGE: Final = re.compile(r"(?i)(?:\S{1,40}: )?(?:usage|synopsis): ")
GAVE_UP: Final = re.compile(r"(?:\[\w+\] ?)?(?P<tool>[\w.-]{2,40}) (?:failed|crashed|panicked)[.:]?$")
BROKEN_CODE: Final = re.compile(r"(?i)syntax ?error|unexpected (?:token|end|character|eof)|unterminated|parse error")
COUNTED_COMPLAINTS: Final = re.compile(
    r"(?i)^\W*(?:found |detected |total:? )?[1-9]\d* (?:\w+ ){0,2}?"
    r"(?:errors?|warnings?|problems?|issues?|violations?|offen[sc]es?|findings?|vulnerabilit\w+|defects?|diagnostics?)\b"
)
"""The closing line of a tool that looks at code."""
OF_CODE: Final = re.compile(
    r"(?i)\b(?:compil\w+|link\w*|syntax|undefined|undeclared|declar\w+|types?|symbols?|ld returned|expected"
    r"|redefin\w+)\b"
)
"""What an error of a compiler is about when it has no place."""
UNDERLINE: Final = re.compile(r"\s*(?:\d*\s*[|│┃:·]\s*)?(?:\^+|~+\^*~*|[─━]*[┬╰╯┴][─━┬]*)(?:[\s^~─].*)?$")
DOCUMENT: Final = re.compile(r"\b(?:TOML|YAML|JSON|INI|XML|[Cc]onfig\w*|[Mm]anifest)\b")
OF_A_TARGET: Final = re.compile(
    r"error: Recipe |npm (?:error|ERR!) (?:code ELIFECYCLE|Lifecycle script|command failed)|make(?:\[\d+\])?: \*\*\* \["
    r"|task: Failed to run task|error Command failed with exit code|ELIFECYCLE|error: script \""
)
"""With what a runner of targets says that it was the target that failed, whatever that printed."""


def refused(run: Run) -> OutputFinding | None:
    """A tool reported that it failed as a whole (`ruff failed`), or that it was called wrongly."""
    lines = run.output.lines
    failed = next((at for at, line in enumerate(lines) if _gave_up(line, run)), None)
    if failed is not None:
        cause = lines[failed + 1 : failed + 2]
        return OutputFinding("tooling_error", "config", (lines[failed], *cause), cause)

    error = summarize.first_error(run.output)
    shown = next((line for line in lines if USAGE.match(line)), "")
    if error and shown and run.asked.role != "run":
        return OutputFinding("tooling_error", "usage", (error, shown), (error,))
    return None


def _gave_up(line: str, run: Run) -> bool:
    match = GAVE_UP.match(line)
    return match is not None and match["tool"] in run.asked.tools


def in_plain_words(run: Run) -> OutputFinding | None:
    """The network, the disk, memory or a program is missing, in whatever sentence."""
    lines = run.output.lines
    selection = lines if len(lines) <= MAX_HEARD else (*lines[: MAX_HEARD // 2], *lines[-MAX_HEARD // 2 :])
    for detail, words in PLAIN:
        pattern = compiled(f"(?i:{words})")
        line = next((line.strip() for line in selection if pattern.search(line[:MAX_SENTENCE])), "")
        if line:
            return OutputFinding("tooling_error", detail, (line, *summarize.last_words(run.output)), (line,))
    return None


def nothing_collected(run: Run) -> OutputFinding | None:
    """Pytest's exit status 5."""
    tool = next((tool for tool in run.asked.tools if tool in TOOL_PURPOSES), "")
    if tool != "pytest" or run.exit_code != PYTEST_NOTHING_COLLECTED:
        return None
    words = summarize.last_words(run.output)
    return OutputFinding(
        "tooling_error", "no_tests", ("pytest collected no test (exit status 5)", *words), ("no tests",)
    )


def code_reader(run: Run) -> OutputFinding | None:
    """A linter, a type checker, a formatter: status 1 means complaints, a higher one that it could not work."""
    role, words = run.asked.role, summarize.last_words(run.output)
    tool = next((tool for tool in run.asked.tools if tool in TOOL_PURPOSES), "")
    error = summarize.first_error(run.output)
    complaints = (*run.output.stdout[-50:], *words)
    if tool and run.exit_code == 1 and run.asked.purpose in CODE_READERS:
        trouble = next((line for line in (error, *words) if MISCONFIGURED.search(line)), "")
        if trouble and not _counted(run):
            return OutputFinding("tooling_error", "config", (trouble, *words), (trouble,))
        return OutputFinding(
            "lint_failure", role, words or (f"{tool} failed with exit status 1, no output",), complaints
        )

    if role not in CODE_READERS or not words or not _installed(run):
        return None
    message = error or words[0]
    if run.exit_code != 1 and UNABLE.search(error) and not BROKEN_CODE.search(error):
        return OutputFinding("tooling_error", "config", (error, *words), (error,))
    if _counted(run) or any(BROKEN_CODE.search(line) for line in (error, *words)):
        return OutputFinding("lint_failure", role, (error, *words), (error, *words))
    if run.exit_code != 1 or UNABLE.search(message):
        return OutputFinding("tooling_error", "config", (message, *words), (message,))
    return OutputFinding("lint_failure", role, words, complaints)


def by_its_words(run: Run) -> OutputFinding | None:
    """What the first error line says: the tool could not begin, a compiler's error without a place, or any other."""
    words = summarize.last_words(run.output)
    error = summarize.first_error(run.output)
    is_known = any(tool in TOOL_PURPOSES for tool in run.asked.tools)
    has_subcommands = any(tool in SUBCOMMANDS for tool in run.asked.tools)

    unable = next((word for word in (error, *words) if UNABLE.search(word)), "")
    if unable and (is_known or (has_subcommands and unable == error)):
        return OutputFinding("tooling_error", "config", (unable, *words), (unable,))
    if _about_code(run, error):
        return OutputFinding("lint_failure", "compile", (error, *words), (error, *words))
    message = _said_itself(run, error) if _installed(run) else ""
    if message:
        return OutputFinding("tooling_error", "refused", (message, *words), (message,))

    is_red = run.exit_code == 1 and run.asked.role == "test" and is_known
    return OutputFinding("test_failure", "failed", words, words) if is_red and words else None


def _installed(run: Run) -> bool:
    """Whether the command is a program's name: a script that is given by its path may say anything."""
    return bool(run.asked.tools) and not run.asked.own


def _counted(run: Run) -> bool:
    """Whether the last lines count complaints."""
    return any(COUNTED_COMPLAINTS.search(line) for line in run.output.lines[-8:])


def _about_code(run: Run, error: str) -> bool:
    """Whether an error without a place is about code: a build counted it, speaks of code, or underlines some."""
    role = run.asked.role
    if role == "build" and (_counted(run) or OF_CODE.search(error)):
        return True
    if not _installed(run) or role in {"run", "read", "test"} or not (error or role in ABOUT_CODE):
        return False
    underlined = any(UNDERLINE.match(line) and re.search(r"[\^~]", line) for line in run.output.lines)
    return underlined and not DOCUMENT.search(run.output.text)


def _said_itself(run: Run, error: str) -> str:
    """The sentence in which an installed program refuses; empty for one that only ran others."""
    role, tools = run.asked.role, run.asked.tools
    if role == "run" or any(OF_A_TARGET.match(line) for line in run.output.lines):
        return ""

    if error and role == "test":
        return error if UNABLE.search(error) else ""
    only_reads = role == "read" and tools[-1] != "git"
    if error and not only_reads:
        return error

    names = "|".join(map(re.escape, tools))
    own = re.compile(rf"(?:{names})(?:\.exe)?: (?!\*)\S")
    return next((line for line in run.output.lines if own.match(line)), "")
