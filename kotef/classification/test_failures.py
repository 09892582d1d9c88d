# ruff: noqa: E501 - a row of a table is one line, so that columns can be compared
"""Failed tests in an output, each with its error and its place."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from kotef.classification.locations import places
from kotef.classification.output_lines import Output
from kotef.classification.rules import compiled
from kotef.classification.test_headers import HEADERS, Header

MAX_FAILING: Final = 200
MAX_SECTION: Final = 1000
"""Lines below a header that may belong to it."""
MAX_BLOCK: Final = 120
"""Lines of these that are read, a third of them from the front."""
MAX_ABOVE: Final = 40


BLOCK_ENDS: Final = re.compile(
    r"-{2,} Captured |══ |=+ (?:FAILURES|ERRORS|short test summary|warnings summary|.*\bin [\d.]+s)|Test Suites: |^ *Tests? +(?:Files )?\d+ (?:failed|passed)"
    r"|\d+ (?:failed|passed)\b.* in |Ran \d+ tests? in |test result: |failures:$|make(?:\[\d+\])?: \*\*\*|npm (?:error|ERR!)|⎯{8}"
)
SEPARATOR: Final = re.compile(r"[-=_~*#⎯─―✀ ]*$")


@dataclass(frozen=True, slots=True)
class FailingTest:
    """One failing test as the output reports it; `error` and `places` may be empty."""

    name: str
    error: str
    places: tuple[str, ...]
    runner: str


def failing_tests(output: Output) -> list[FailingTest]:
    """Failing tests in the order in which the runner reports them, each once, with all that was said about it.

    pytest reports failed fixtures first, in a section of their own; here they come last, as in its summary.
    """
    headers = [header for header in HEADERS if header.needs in output.text and header.hint in output.text]
    marks = _marks(output, headers)
    found = [_failing_test(output.lines, marks, position) for position in range(len(marks))]
    merged = _merged(found)[:MAX_FAILING]
    return sorted(merged, key=lambda test: f"ERROR at setup of {_key(test)} " in output.text)


class Mark(NamedTuple):
    """A header line that was found."""

    at: int
    header: Header
    name: str
    error: str


def _marks(output: Output, headers: Sequence[Header]) -> list[Mark]:
    """Every header line of a test that failed, at most `2 * MAX_FAILING`."""
    marks: list[Mark] = []
    for index, line in enumerate(output.lines):
        for header in headers:
            match = compiled(header.pattern).match(line) if header.hint in line else None
            if not match:
                continue
            name = match["test"]
            if header.only_if and not re.search(header.only_if.format(test=re.escape(name)), output.text):
                break
            marks.append(Mark(index, header, name, match.groupdict().get("error") or ""))
            break
        if len(marks) >= 2 * MAX_FAILING:
            break
    return marks


def _failing_test(lines: Sequence[str], marks: Sequence[Mark], position: int) -> FailingTest:
    """What the lines around a header say about its test."""
    at, header, name, message = marks[position]
    if header.runner in {"mocha", "busted", "jasmine"}:
        name, at = _whole_title(lines, name, at)
    elif header.runner == "catch2":
        name = _title_between_rules(lines, at)

    block: list[str] = []
    if header.below == "above":
        start = marks[position - 1].at + 1 if position else 0
        block = list(lines[max(start, at - MAX_ABOVE) : at])
    elif header.below == "why":
        end = marks[position + 1].at if position + 1 < len(marks) else len(lines)
        block = _block(lines[at + 1 : min(end, at + 1 + MAX_SECTION)])

    found = evident_error(block) if header.runner in PROSE else error_of(block)
    is_cut = WEAK_REASON.match(message) or message.endswith("...")
    error = found if not message or (is_cut and found) else message
    return FailingTest(name.strip(), error, tuple(places([lines[marks[position].at], *block])), header.runner)


PROSE: Final = frozenset({"tap", "node", "vitest", "pytest", "go"})
"""Runners whose sections hold source, output and nested tests: their first line says nothing."""
WEAK_REASON: Final = re.compile(r"(?:\*\*\*)?(?:Failed|FAIL|Exception)\b|Dubious|$")
"""A reason in a header that says less than what is below it."""


def _whole_title(lines: Sequence[str], name: str, index: int) -> tuple[str, int]:
    """Mocha writes the path of suites and the test on lines of their own, the last ends with a colon; busted below."""
    if name.endswith(":"):
        return name[:-1], index
    if not name and index + 1 < len(lines):
        return lines[index + 1], index + 1
    whole, last = name, index
    for below in range(index + 1, min(index + 6, len(lines))):
        part = lines[below].strip()
        if not part:
            break
        whole, last = f"{whole} {part}", below
        if part.endswith(":"):
            return whole[:-1], last
    return name, index


RULE: Final = re.compile(r"-{20,}$")


def _title_between_rules(lines: Sequence[str], index: int) -> str:
    """Catch2 names a test case between two rulers, once for all its failures."""
    for above in range(index - 1, max(1, index - MAX_BLOCK), -1):
        if RULE.match(lines[above]) and above > 1 and not RULE.match(lines[above - 1]):
            first = next((row for row in range(above - 1, max(-1, above - 8), -1) if RULE.match(lines[row])), above - 2)
            return lines[first + 1].strip()
    return ""


QUOTED: Final = re.compile(r"\s{0,40}#[ \t]{0,12}(?=\S)|[│├┤┐┘┌└╵╷ ]*[│├┐┘┌└╵╷] ?")
"""What some runners put in front of every line: TAP's comments, boxes."""


def _block(lines: Sequence[str]) -> list[str]:
    """The lines that tell why: up to captured output, a summary, or a wrapper's epilogue."""
    for index, line in enumerate(lines):
        if BLOCK_ENDS.match(line.lstrip("│ ")):
            lines = lines[:index]
            break
    if len(lines) > MAX_BLOCK:
        lines = [*lines[: MAX_BLOCK // 3], *lines[-2 * MAX_BLOCK // 3 :]]
    return [QUOTED.sub("", line, count=1) if QUOTED.match(line) else line for line in lines]


# What an error looks like in a block, best evidence first; group 1 is the error.
ERRORS: Final = (
    r"E   ((?!\+)\S.*)",  # pytest; what it indents deeper continues a line or quotes source
    r"E  +((?!\+)\S.*)",
    r"\s*Error: +\t?(?!Trace)(\S.*)",  # testify
    r"\s*(?:error: )?(expect\(.*\)\..*)$",  # jest and bun matchers
    r"\s*(\*\* \([A-Z][\w.]*\) .*)",  # Elixir
    r"\s*(Assertion with \S+ failed.*)",  # ExUnit
    r"\s*(Failed asserting that .*)",  # PHPUnit
    r"\s*(?:→ |Uncaught |error: |\[?Caused by: |✖ )*((?:[a-z][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Failure|Failed|Fault)\b(?: \[\w+\])?(?::.*|$))",
    r"\s*(?:thread '.*' )?panicked at '(.*)', ",  # Rust before 1.73
    r"\s*((?:[a-z]\w*\.)+[A-Z]\w*(?:Error|Exception)\b.*)",  # JVM
    r"\s*(?i:assertion failed|assert failed): (\S.*)",  # behave
    r"\s*(Difference(?: \(.*\))?:)$",  # AVA
    r"\s*error: ['\"|>-]*(\w.*?)['\"]?$",  # TAP diagnostics
    r"\s*(panic: .*)",  # Go
    r"\s*Failure/Error: (.*)",  # RSpec
    r"\s+[\w.-]+_test\.go:\d+: (.*)",  # Go
    r"\s*(`.*' failed.*)",  # Bats
    r"\s*(<.*> expected but was)",  # test-unit
    r"\s*(got: .*|\$got\S* = .*)",  # Test::More
    r"\s*message: ['\"](\S.*?)['\"]$",  # TAP of vitest
    r"\s*(Cannot find (?:module|package) .*)",  # Node's loaders
    r"\s*(Error Message:)$",  # vstest
    r"\s*[\w./-]{1,200}\.\w{1,5}:\d+: (?!FAILED|Failure|\w+$)(\S.*)",  # busted, doctest
    r"\s*((?:[Ee]xpected|EXPECT|ASSERT|CHECK|REQUIRE)\b.*)",
    r"\s*message: '?(\S.*?)'?$",  # TAP of QUnit
    r".*?\b((?:error|Error|Failure|FAIL)\b.*)",
)
MORE: Final = re.compile(
    r"\s*(?:-|\+)? *((?:[Ee]xpected|[Rr]eceived|[Aa]ctual|[Gg]ot|left|right|want|\$expected|Rejected to|Resolved to|Thrown|code|values|with expansion|Which is|Number of calls)\b[^:]{0,40}:?(?: .*|$))"
)
CHAINED: Final = re.compile(
    r"(?:E +)?(?:The above exception was the direct cause|During handling of the above exception)"
)


def error_of(block: Sequence[str]) -> str:
    """The error a block tells, with what was expected and what came, in one line; at least its first line."""
    return evident_error(block) or next(
        (line.strip() for line in block if not (SEPARATOR.match(line) or CAPTION.match(line))), ""
    )


def evident_error(block: Sequence[str]) -> str:
    """The error a block tells in a form that some runner uses; empty if there is none.

    Of chained exceptions the last is meant: it is the one that reached the test.
    """
    chained = [index for index, line in enumerate(block) if CHAINED.search(line)]
    block = block[chained[-1] + 1 :] if chained else block

    has_traceback = any(line.startswith("Traceback (most recent") for line in block)
    if has_traceback and (last := _last_of_traceback(block)):
        return last
    panic = _panic(block)
    return _by_pattern(block) if panic is None else panic


def _panic(block: Sequence[str]) -> str | None:
    """What a panic of Rust says, on the lines behind the one that announces it; None where none is announced."""
    for index, line in enumerate(block):
        if line.lstrip().startswith(("thread '", "panicked at ")) and line.rstrip().endswith(":"):
            following = block[index + 1].strip() if index + 1 < len(block) else ""
            return _joined(block, index + 1, following)
    return None


def _by_pattern(block: Sequence[str]) -> str:
    for pattern in ERRORS:
        for index, line in enumerate(block):
            if match := compiled(pattern).match(line):
                return _joined(block, index, match[1].strip())
    return ""


CAPTION: Final = re.compile(r"\s*(?:>>> |(?:stdout|stderr|[Oo]utput|Stack):$|\S+:\d+(?::\d+)?$)")
"""A line in a block that introduces the message, or a bare place."""


def _joined(block: Sequence[str], index: int, error: str) -> str:
    """`error` and what belongs to it: the line after a colon, pytest's rewritten assert, expected and received."""
    below = [line for line in block[index + 1 : index + 16] if line.strip()]
    if error.endswith(":") and below:
        behind = below[:2] if error == "Difference:" else below[:1]
        error = " ".join((error, *(line.removeprefix("E ").strip() for line in behind)))

    rewritten = [line[1:].strip() for line in below[:6] if re.match(r"E +assert ", line)]
    parts = [part for part in (*rewritten[:1], *_compared(below)[:3]) if part not in error]
    return "; ".join((error, *parts))


def _compared(below: Sequence[str]) -> list[str]:
    """Expected and received, each with the value on its line or on the next."""
    compared = []
    for line, after in zip(below[:12], [*below[1:13], ""], strict=False):
        if match := MORE.match(line):
            value = after.strip() if match[1].endswith(":") else ""
            compared.append(f"{match[1].strip()} {value}".strip())
    return compared


def _last_of_traceback(block: Sequence[str]) -> str:
    """The exception under the last traceback of the block: its first line that is not indented."""
    start = max(index for index, line in enumerate(block) if line.startswith("Traceback (most recent"))
    for index in range(start + 1, len(block)):
        line = block[index]
        if line and not line[0].isspace() and not SEPARATOR.match(line):
            return _joined(block, index, line) if line.endswith(":") else line
    return ""


def _merged(found: list[FailingTest]) -> list[FailingTest]:
    """One entry per test: a section and a summary line that name the same test report it together.

    The longest name wins (pytest's node id over the section's `TestX.test_y`), and the first error and places.
    """
    merged: list[FailingTest] = []
    by_key: dict[str, int] = {}
    for test in found:
        key = _key(test)
        at = by_key.get(key)
        if at is None:
            by_key[key] = len(merged)
            merged.append(test)
            continue
        known = merged[at]
        first, second = (known, test) if known.places or not test.places else (test, known)
        name = max(known.name, test.name, key=len)
        merged[at] = FailingTest(name, first.error or second.error, first.places or second.places, known.runner)
    return merged


def _key(test: FailingTest) -> str:
    """What two tellings of one test have in common."""
    name = test.name
    if test.runner == "pytest":
        name = name.removeprefix("[doctest] ")
        return name.partition("::")[2].replace("::", ".") or name.rpartition("/")[2]
    if test.runner in {"jest", "rspec"}:
        return name.rpartition("›")[2].strip()
    if test.runner == "surefire":
        method, _, owner = name.partition("(")
        parts = [*owner.rstrip(")").split("."), *method.split(".")] if owner else name.split(".")
        return ".".join(parts[-2:])
    return name
