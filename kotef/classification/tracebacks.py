# ruff: noqa: E501 - a row of a table is one line, so that columns can be compared
"""Tracebacks: the error that ended a program, and its place in the project."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kotef.classification.locations import places
from kotef.classification.output_lines import Output
from kotef.classification.rules import compiled, lines_with

MAX_STACK: Final = 80

NODE_ERROR: Final = (
    r"(?: ?Exception during run: |Uncaught )?((?:\w+ )?\[?(?:[A-Z]\w*)?(?:Error|Exception)\b(?: \[\w+\])?(?:: .*)?\]?)$"
)

# (language, literal, pattern of the line that holds the error, where the stack stands)
CRASHES: Final = (
    ("node", "Error", NODE_ERROR, "below"),
    ("node", "triggerUncaughtException", r"\s*(triggerUncaughtException.*)", "below"),
    ("node", "UnhandledPromiseRejection", r"\[?(UnhandledPromiseRejection: .*)", "below"),
    ("node class", ": ", r"([A-Z]\w*: .*)$", "below"),
    ("node value", "--trace-uncaught", r"(\(Use `node --trace-uncaught .*)", "below"),
    ("deno", "Uncaught ", r"error: (Uncaught .*)", "below"),
    ("go", "panic: ", r"(panic: .*)", "below"),
    ("go", "fatal error: ", r"(fatal error: .*)", "below"),
    ("rust", "panicked at", r"(?:thread '.*' )(?:\(\d+\) )?(panicked at .*)", "below"),
    ("jvm", "Exception in thread", r"(Exception in thread .*)", "below"),
    ("jvm", "Caused by: ", r"(Caused by: .*)", "below"),
    ("dotnet", "Unhandled exception", r"(Unhandled [Ee]xception.*)", "below"),
    ("php", "error: ", r"((?:PHP )?(?:Fatal|Parse|Compile|Recoverable fatal) error: .*)", "below"),
    ("c++", "terminate called", r"(terminate called .*)", "below"),
    ("sanitizer", "Sanitizer: ", r"(?:==\d+==)?\s*((?:ERROR|WARNING): \w+Sanitizer: .*)", "below"),
    ("ubsan", "runtime error: ", r"(\S+:\d+:\d+: runtime error: .*)", "here"),
    ("any", "RUNTIME ERROR", r"(RUNTIME ERROR: .*)", "below"),
    ("any", "untime error: ", r"([Rr]untime error: .*)", "below"),
    ("valgrind", "== ", r"==\d+== ((?:Invalid (?:read|write|free)|Conditional jump|Use of uninit|Process terminating|Mismatched free).*)", "below"),
    ("elixir", "** (", r"\s*(\*\* \((?!Mix|CompileError|SyntaxError|TokenMissing|MismatchedDel)[A-Z][\w.]*\) .*)", "below"),
    ("haskell", "Prelude.", r"[\w./-]+: ((?:Prelude\.\w+): .*)", "below"),
    ("haskell value", "CallStack (from HasCallStack)", r"(CallStack \(from HasCallStack\))", "below"),
    ("r", "Error", r"(Error(?: in .+)? ?: .*|Error in .+)$", "below"),
    ("lua", "lua", r"lua[\w.]*: (\S+:\d+: .*)", "below"),
    ("julia", "ERROR: ", r"(ERROR: (?:LoadError: )?[A-Z]\w*(?:Error|Exception)\b.*)", "below"),
    ("ruby", ":in ", r"(?:\S+:\d+:in .*?: )(.*\([A-Z][\w:]*\))$", "here"),
    ("ruby", "Error)", r"(\S+\.rb:\d+:.*\([A-Z][\w:]*Error\))$", "here"),
    ("perl", " at ", r"(.+ at \S+\.(?:p[lm]|t) line \d+(?:\.|, near .*))$", "here"),
    ("lua", "stack traceback", r"(stack traceback:)", "below"),
    ("python", "Fatal Python error", r"(Fatal Python error: .*)", "below"),
    ("c", "Assertion", r"(.*Assertion [`'].*' failed\.?)", "here"),
    ("shell", "Segmentation fault", r".*?(Segmentation fault.*)", "here"),
    ("shell", "Aborted", r"(?:\S+: line \d+: +\d+ )?(Aborted\b.*)", "here"),
    ("make", "Floating point exception", r".*?(Floating point exception.*)", "here"),
    ("make", "Bus error", r".*?(Bus error.*)", "here"),
    ("cargo", "(signal: ", r".*?(\(signal: .*)", "here"),
)  # fmt: skip
"""Read top to bottom; Python's tracebacks are read before, because their error is at the end."""

NODE_STACK: Final = re.compile(r"\s+(?:at|❯) .*(?:\(|:\d+|native)")


@dataclass(frozen=True, slots=True)
class Crash:
    """An uncaught exception, panic or fatal signal as the output reports it."""

    language: str
    error: str
    places: tuple[str, ...]
    """Project places, outermost first for Python, innermost first for the others."""
    functions: tuple[str, ...] = ()
    """Names of the project functions on the stack, Python only: they stay when lines move."""


def crash_of(output: Output) -> Crash | None:
    """The crash that ended the program: the last Python traceback, else the first crash of any other language."""
    lines = output.lines
    return _python(lines) or _boxed(lines) or _syntax_error(lines) or _other(output) or _any_stack(lines)


GROUP: Final = "Exception Group Traceback (most recent call last):"
GROUPED: Final = re.compile(r"^[ \t]{0,80}[|+]+(?:-[-+ ]*\d* ?-*$)? ?")
"""What is in front of every line of an exception group, and the line between two of its exceptions."""


def _group(lines: Sequence[str]) -> Crash | None:
    """The last exception group: its own words, and the first exception that is not a group."""
    start = max((at for at, line in enumerate(lines) if GROUP in line), default=-1)
    if start < 0:
        return None
    inner = [GROUPED.sub("", line) for line in lines[start + 1 : start + 400]]
    errors = [
        line for line in inner if re.match(r"[A-Z][\w.]*(?:Error|Exception|Group|Exit|Interrupt|Warning)\b", line)
    ]
    if not errors:
        return None

    leaf = next((line for line in errors if "Group" not in line.partition(":")[0]), "")
    words = f"{errors[0]}; {leaf}" if leaf else errors[0]
    stack = tuple(line for line in inner if line.lstrip().startswith("File "))
    return Crash("python", words, tuple(places(stack)), _functions(stack))


BOXED: Final = re.compile(r"\W{2,} Traceback \(most recent call last\) \W{2,}$")
BOX_END: Final = re.compile(r"[╰└+][─━-]{5,}[╯┘+]$")


def _boxed(lines: Sequence[str]) -> Crash | None:
    """The last traceback that a library drew a box around; its error is below the box."""
    start = max((at for at, line in enumerate(lines) if "Traceback" in line and BOXED.match(line)), default=-1)
    end = next((at for at in range(start + 1, len(lines)) if BOX_END.match(lines[at])), None) if start >= 0 else None
    if end is None:
        return None
    error = next((line for line in lines[end + 1 : end + 4] if line), "")
    return Crash("python", error, tuple(places(lines[start + 1 : end]))) if error else None


FRAME: Final = re.compile(
    r"\s*(?:at |from |in |by )\S.{0,300}[:(]\d+\)?[:'`\"]?"
    r"|\s*#\d{1,4} {1,3}\S.*|\s*\S.{0,300}:\d+:in [`'\"].*"
    r"|\s+[\w.$<>]+\(\S*(?::\d+|Native Method|Unknown Source)\)|\s+at [\w.$<>/]+\(?.*\)?"
    r"|\s*File \"[^\"]{1,300}\", line \d+.*"
)
"""One frame of a stack, in whatever language."""
FAULT: Final = re.compile(r"(?i)error|exception|panic|fatal|fault|abort")
MIN_FRAMES: Final = 2
CAPTION: Final = re.compile(r"\W*(?:(?:stack ?)?trace(?:back)?|backtrace|call stack)\b.{0,40}$", re.IGNORECASE)


def _any_stack(lines: Sequence[str]) -> Crash | None:
    """The first stack of at least two frames below a line that says something; that line is the error."""
    for at, line in enumerate(lines[:-MIN_FRAMES]):
        if FRAME.fullmatch(line) or "included from" in line:
            continue
        if not all(FRAME.fullmatch(below) for below in lines[at + 1 : at + 1 + MIN_FRAMES]):
            continue

        above = (other for other in reversed(lines[max(0, at - 3) : at + 1]) if other and not CAPTION.match(other))
        error = next(above, "").strip()
        if error and (line.strip() or FAULT.search(error)):
            return Crash("any", error, tuple(places(lines[at : at + MAX_STACK])))
    return None


def _python(lines: Sequence[str]) -> Crash | None:
    """The last traceback; its error is its first line that stands as far left as `Traceback` itself."""
    group = _group(lines)
    if group is not None:
        return group
    starts = [index for index, line in enumerate(lines) if "Traceback (most recent call last):" in line]
    for start in reversed(starts):
        head = lines[start].index("Traceback")
        prefix = lines[start][:head]
        for end in range(start + 1, min(start + 400, len(lines))):
            line = lines[end].removeprefix(prefix)
            if line and not line[0].isspace():
                stack = lines[start + 1 : end]
                error = f"{line} {lines[end + 1].strip()}" if line.endswith(":") and end + 1 < len(lines) else line
                return Crash("python", error, tuple(places(stack)), _functions(stack))
    return None


def _functions(stack: Sequence[str]) -> tuple[str, ...]:
    """The functions of the project's frames."""
    frames = [line for line in stack if line.lstrip().startswith("File ") and any(places([line]))]
    return tuple(line.rpartition(", in ")[2].strip() for line in frames if ", in " in line)


def _syntax_error(lines: Sequence[str]) -> Crash | None:
    """A module that does not compile has no `Traceback` line of its own: `File`, source, caret, `SyntaxError: …`."""
    for index, line in enumerate(lines):
        if re.match(r"(?:\w+: )?(?:SyntaxError|IndentationError|TabError): ", line):
            above = lines[max(0, index - 5) : index]
            if any('File "' in row for row in above):
                return Crash("python", line, tuple(places(above)))
    return None


def _other(output: Output) -> Crash | None:
    """The first crash of the table; what looks like one without its stack is another tool's sentence."""
    for language, literal, pattern, where in CRASHES:
        for index, line in lines_with(output, literal):
            match = compiled(pattern).match(line)
            if not match:
                continue
            below = output.lines[index + 1 : index + 1 + MAX_STACK]
            if language == "go" and "goroutine " not in output.text:
                continue
            if language == "node" and not any(NODE_STACK.match(row) for row in below[:8]):
                continue
            if language == "r" and "Execution halted" not in output.text:
                continue
            if language == "node class" and not ("Node.js v" in output.text and any(map(NODE_STACK.match, below[:1]))):
                continue
            error = match[1].strip()
            if language == "haskell value":
                error = output.lines[index - 1].strip()
            if language == "node value":  # `throw 5`: no Error, no stack; the value is above
                error = f"Uncaught {output.lines[index - 1].strip()}"
            if language == "rust":
                error = _rust_message(error, below)
            if language == "c++" and below and "what():" in below[0]:
                error = f"{error}: {below[0].strip()}"
            around = [line, *(below if where == "below" else ())]
            found = tuple(places(around)) or tuple(places(output.lines[max(0, index - 5) : index]))
            return Crash(language, error, found)
    return None


def _rust_message(error: str, below: Sequence[str]) -> str:
    """`panicked at src/main.rs:3:20:` is followed by the message; older compilers put it into the line."""
    if error.endswith(":") and below:
        parts = [below[0].strip(), *(row.strip() for row in below[1:3] if re.match(r"\s*(?:left|right): ", row))]
        return "panicked: " + "; ".join(parts)
    return error
