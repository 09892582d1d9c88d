# ruff: noqa: E501 - a row of a table is one line, so that columns can be compared
"""Parsers for the messages of linters, type checkers, formatters and compilers, each with its place."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from kotef.classification.locations import LIBRARY_PATH, shorten
from kotef.classification.output_lines import Output
from kotef.classification.rules import compiled

Complaint = Literal["lint", "types", "format", "compile"]
MessageAt = Literal["here", "above", "below", "around"]
"""Where the message stands: in the line, as a headline above it, under it, or above or below the quoted source."""
MAX_DIAGNOSTICS: Final = 300

PATH: Final = r"(?P<path>(?:[A-Za-z]:[\\/])?[^\s:()'\"`,;<>|]{1,300})"


class Shape(NamedTuple):
    """The form in which some tools write one complaint; groups `path`, `line`, `message`, matched at the line's start."""

    hint: str
    pattern: str
    complaint: Complaint | None
    """None: determined from the message and the command."""
    tools: str
    message: MessageAt = "here"


SHAPES: Final = (
    Shape("-->", rf"\s*--> {PATH}:(?P<line>\d+):\d+$", None, "rustc, clippy, ruff, ty", "above"),
    Shape("[", rf"(?:\[ERROR\] ){PATH}:\[(?P<line>\d+),\d+\] (?P<message>\S.*)", "compile", "javac through Maven"),
    Shape("): ", rf"\s*{PATH}\((?P<line>\d+)(?:,\d+){{0,3}}\): (?P<message>(?:fatal )?(?:error|warning|info)\b.*)", None, "tsc, MSBuild, cl"),
    Shape(" - ", rf"\s*{PATH}:(?P<line>\d+):\d+ - (?P<message>(?:error|warning)\b.*)", "types", "tsc --pretty, pyright"),
    Shape(":", rf"(?:\[(?:ERROR|WARN)\] |ERROR: |e: (?:file://)?|vet: )?\s*{PATH}:(?P<line>\d+)(?::\d+)?(?:-\d+)?:? +(?P<message>\S.*)", None,
          "gcc, clang, go, mypy, pylint, flake8, ruff --output-format concise, golangci-lint, hadolint, markdownlint, javac, …"),
    Shape(" line ", r"In (?P<path>\S+) line (?P<line>\d+):", "lint", "shellcheck", "below"),
    Shape("Location: ", rf"\s*Location: {PATH}:(?P<line>\d+)", "lint", "bandit", "above"),
    Shape(", col ", rf"{PATH}: line (?P<line>\d+), col \d+, (?P<message>\S.*)", "lint", "jshint, eslint -f compact"),
    Shape("::", r"::(?:error|warning) (?:(?=[^:\n]{0,400}?title=(?P<title>[^,:\n]{1,300})))?(?=[^:\n]{0,400}?file=(?P<path>[^,:\n]{1,300}))(?:(?=[^:\n]{0,400}?line=(?P<line>\d+)))?[^\n]{0,400}?::(?P<message>.*)", None,
          "annotations for GitHub"),
    Shape("** (", rf"\s*\*\* \((?P<title>CompileError|SyntaxError|TokenMissingError|MismatchedDelimiterError)\) {PATH}:(?P<line>\d+)(?::\d+)?: (?P<message>.*)", "compile",
          "Elixir"),
    Shape('File "', r'File "(?P<path>[^"]+)", lines? (?P<line>\d+)[-\d]*, characters [\d-]+:$', "compile", "OCaml, dune", "below"),
    Shape("ERROR in ", rf"ERROR in {PATH}[: ](?P<line>\d+):\d+(?:-\d+)?(?:-\d+:\d+)?$", "compile", "webpack", "below"),
    Shape(":", rf"\s*(?:[╭,][─-]\[ ?|at (?:file://)?|→ |from (?:file://)?)?{PATH}:(?P<line>\d+):\d+(?: ?\])?:?$", None, "esbuild, deno, gfortran, rolldown, oxlint", "around"),
    Shape(") Error: ", rf"{PATH}\((?P<line>\d+), ?\d+\) (?P<message>(?:Error|Warning): .*)", "compile", "nim"),
    Shape("from ", r"from (?:file://)?(?P<path>/\S+):(?P<message>)$", "format", "deno fmt"),
    Shape("\t", r"(?P<message>\d+\t[A-Z]{1,5}\d+\t\S.*)", "lint", "ruff --statistics, flake8 --statistics"),
    Shape("✖", r"✖ +(?P<message>[^\[\]]+ \[[\w-]+\])$", "lint", "commitlint"),
    Shape("is not allowed to import", r"(?P<message>\S+ is not allowed to import \S+?):?$", "lint", "import-linter"),
    Shape(": line ", rf"{PATH}: line (?P<line>\d+): (?P<message>syntax error.*)", "compile", "bash -n"),
    Shape("would reformat ", r"would reformat (?P<path>\S.*)(?P<message>)", "format", "black"),
    Shape("Would reformat: ", r"Would reformat: (?P<path>\S.*)(?P<message>)", "format", "ruff format"),
    Shape("cannot format ", r"error: cannot format (?P<path>.+?): (?P<message>.*)", "format", "black"),
    Shape("incorrectly sorted", r"ERROR: (?P<path>.+?) (?P<message>Imports are incorrectly sorted.*)", "format", "isort"),
    Shape("[warn] ", r"\[warn\] (?P<path>\S+\.\w+)(?P<message>)$", "format", "prettier --check"),
    Shape("[error] ", r"\[error\] (?P<path>\S+\.\w+): (?P<message>.*)", "format", "prettier, a file that does not parse"),
    Shape("Diff in ", r"Diff in (?P<path>\S+?)(?: at line |:)(?P<line>\d+):(?P<message>)", "format", "rustfmt"),
    Shape("+++ ", r"\+\+\+ (?:b/)?(?P<path>[^\s\t]+)(?P<message>)", "format", "a formatter's --diff"),
    Shape("undefined reference", rf"(?:\S*ld: )?{PATH}:.*?(?P<message>undefined reference to .*)", "compile", "GNU ld"),
)  # fmt: skip

# eslint, stylelint, yamllint, ruff --output-format grouped, sqlfluff: the file on a line of its own, complaints indented under it.
NESTED: Final = re.compile(
    r"\s+(?P<line>\d+):\d+\s+(?P<message>(?:error|warning|✖|⚠|×|[A-Z]{1,5}\d+)\s+\S.*)"
    r"|L: +(?P<sql>\d+) \| P: +\d+ \| +(?P<rule>\S.*)"
)
FILE_LINE: Final = re.compile(r"(?:== \[)?(?P<path>(?:\./|/|[A-Za-z]:\\)?[\w@.+~-][^\s:\[\]]*\.\w{1,8})(?::|\] FAIL)?$")
RUST_HEAD: Final = re.compile(r"(?:error|warning)(?:\[[\w:-]+\])?: ")
RUFF_HEAD: Final = re.compile(r"(?:[A-Z]{1,5}\d{2,5}|invalid-syntax|error\[)")

AROUND: Final = re.compile(
    r"\s*(?:[✘✗X×] \[(?:ERROR|WARNING)\] )?(?P<said>(?<=\] )\S.*|TS\d+ \[ERROR\]: .*|\[[A-Z_]{4,40}\] .*|[×x⚠✖✗!] \S.*"
    r"|(?:Fatal )?(?:Error|Warning): .*)$"
)
"""Headlines of esbuild, deno, rolldown, oxlint and biome, gfortran."""
UNDER: Final = re.compile(r"SC\d{4} .*|^(?:Fatal )?(?:Error|Warning): .*")
"""What is under a place: ShellCheck's rules, OCaml's error."""
RULER: Final = re.compile(r"\s*[━─=]{3,}$")

WEAK: Final = re.compile(r"(?:\[?(?:warning|warn|info|note|hint|help|remark|style)\b|W\d|⚠)", re.IGNORECASE)
"""A warning stands behind an error when one complaint is chosen to be shown first."""
CONTEXT: Final = re.compile(
    r"(?:Compile failed; see|The following error occurred|note|In function|In file included|required from|instantiated|At top level|help)\b"
)

TYPES: Final = re.compile(r"TS\d{4}|\[[a-z]+(?:-[a-z]+)+\]$|\(report\w+\)$")
COMPILE: Final = re.compile(
    r"error\[E\d+\]|(?:fatal )?error: |undefined: |cannot find symbol|undefined reference|CS\d{4}|could not compile"
    r"|declared (?:and|but) not used|imported and not used|syntax error|cannot use|SyntaxError"
)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One complaint about the code."""

    path: str
    line: str
    message: str
    complaint: Complaint | None

    @property
    def told(self) -> str:
        """`path:line: message`, what is there of it."""
        return ": ".join(part for part in (self.place, self.message) if part)

    @property
    def place(self) -> str:
        """`path:line`, or the path alone."""
        return f"{shorten(self.path)}:{self.line}" if self.line else shorten(self.path)

    @property
    def essence(self) -> str:
        """The same without the line."""
        return f"{self.path} {self.message}"


def diagnostics_of(output: Output) -> list[Diagnostic]:
    """Complaints in order of appearance, errors before warnings, notes left out; at most `MAX_DIAGNOSTICS`."""
    found: list[Diagnostic] = []
    shapes = [shape for shape in SHAPES if shape.hint in output.text]
    for index, line in enumerate(output.lines):
        if not line:
            continue
        diagnostic = _nested(output.lines, index, found) or _plain(output.lines, index, shapes)
        if diagnostic and (diagnostic.path or diagnostic.message) and not CONTEXT.match(diagnostic.message):
            found.append(diagnostic)
        if len(found) >= MAX_DIAGNOSTICS:
            break
    return sorted(dict.fromkeys(found), key=lambda one: bool(WEAK.match(one.message)))


def _plain(lines: Sequence[str], index: int, shapes: Sequence[Shape]) -> Diagnostic | None:
    line = lines[index]
    for shape in shapes:
        if shape.hint not in line:
            continue
        match = compiled(shape.pattern).match(line)
        if not match:
            continue
        fields = match.groupdict()
        if shape.hint == ":" and not _credible(fields["path"]):
            continue
        message = fields.get("message") or _message(shape.message, lines, index)
        if not message and shape.message == "around":
            continue
        if fields.get("title"):
            message = f"{message.partition('%0A')[0]} [{fields['title']}]"
        if message.endswith(":") and index + 1 < len(lines) and lines[index + 1][:1].isspace():
            message = f"{message} {lines[index + 1].strip()}"
        return Diagnostic(
            fields.get("path") or "", fields.get("line") or "", RULER.sub("", message).strip(), shape.complaint
        )
    return None


def _credible(path: str) -> bool:
    """Whether the part before `:12:` is a file: it has an extension or a directory, and is not a library or address."""
    name = path.rpartition("/")[2]
    return ("." in name or "/" in path or name in {"Makefile", "Dockerfile"}) and not (
        LIBRARY_PATH.search(path) or re.fullmatch(r"[\d.]+|https?|.*\.(?:com|org|net|io|local)", path)
    )


def _message(at: MessageAt, lines: Sequence[str], index: int) -> str:
    """The message of a complaint whose line holds only its place."""
    match at:
        case "here":
            return ""
        case "above":
            return _above(lines, index)
        case "below":
            messages = (match[0].strip() for line in lines[index + 1 : index + 8] if (match := UNDER.search(line)))
            return next(messages, "") or (lines[index + 1].strip() if index + 1 < len(lines) else "")
        case "around":
            near = (*reversed(lines[max(0, index - 8) : index]), *lines[index + 1 : index + 8])
            return next((match["said"] for line in near if (match := AROUND.match(line))), "")


def _above(lines: Sequence[str], index: int) -> str:
    """The headline of a complaint whose place is below it, in rustc's, ruff's and Bandit's manner."""
    for above in range(index - 1, max(-1, index - 6), -1):
        line = lines[above].strip()
        if RUST_HEAD.match(line) or RUFF_HEAD.match(line) or line.startswith(">> Issue: "):
            return line.removeprefix(">> Issue: ")
    return lines[index - 1].strip() if index else ""


def _nested(lines: Sequence[str], index: int, found: Sequence[Diagnostic]) -> Diagnostic | None:
    """A complaint that is under the name of its file; the blank line between two files ends neither."""
    match = NESTED.match(lines[index])
    if not match:
        return None
    above = lines[index - 1].strip() if index else ""
    named = FILE_LINE.match(above)
    path = found[-1].path if found else ""
    if named:
        path = named["path"]
    return Diagnostic(
        path, match["line"] or match["sql"], " ".join((match["message"] or match["rule"]).split()), "lint"
    )
