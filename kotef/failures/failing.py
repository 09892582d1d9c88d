# ruff: noqa: E501 - a row of a table is one line, so that columns can be compared
"""Which tests failed, with which error, and where?"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from kotef.failures.output import Output
from kotef.failures.places import places
from kotef.failures.rules import compiled

MAX_FAILING: Final = 200
MAX_BLOCK: Final = 120
"""Lines below a header that may belong to it."""


class Header(NamedTuple):
    """A line that names a failing test; what follows it, down to the next header, tells why."""

    runner: str
    needs: str
    """A literal somewhere in the output that shows this runner is speaking."""
    hint: str
    pattern: str
    """Matched at the start of the line; group `test` is the name, `error` the reason if it stands there too."""
    source: str


HEADERS: Final = (
    Header("pytest", "___", "___", r"_{3,} (?:ERROR (?:at \w+ of |collecting ))?(?P<test>\S.*?) _{3,}$", "section"),
    Header("pytest", "FAILED ", "FAILED ", r"(?:\[gw\d+\] \[ *\d+%\] )?FAILED (?P<test>[^\s:()|]+\.\w+(?:::.+?)?)(?: - (?P<error>.+))?$", "summary"),
    Header("pytest", "ERROR ", "ERROR ", r"ERROR (?P<test>[^\s:]+\.py(?:::.+?)?)(?: - (?P<error>.+))?$", "summary"),
    Header("pytest", "::", " FAILED", r"(?P<test>[^\s:]+\.py::.+?) FAILED(?: +\[ *\d+%\])?$", "-v"),
    Header("unittest", "======", "FAIL", r"FAIL: (?P<test>\w+ \([\w.<>]+\)(?: .*)?|\S.*)$", "section"),
    Header("unittest", "======", "ERROR", r"ERROR: (?P<test>\w+ \([\w.<>]+\).*)$", "section"),
    Header("doctest", "***Test Failed***", ", in ", r'File "[^"]+", line \d+, in (?P<test>\S+)$', "section"),
    Header("jest", "●", "●", r"\s*● (?P<test>(?!Validation|Console|Deprecation|Unrecognized).+)$", "section"),
    Header("jest", "✕", "✕", r"\s*✕ (?P<test>.+?)(?: \(\d[\d.]* m?s\))?$", "--verbose"),
    Header("vitest", " FAIL ", " FAIL ", r" FAIL  (?P<test>\S.*?)(?: \[ .* \])?$", "section"),
    Header("mocha", " failing", ") ", r"  \d+\) (?P<test>\S.*)$", "section below the counts"),
    Header("node", "failing tests:", "✖ ", r"\s*✖ (?P<test>(?!failing tests:).+?)(?: \(\d[\d.]*ms\))?$", "spec reporter"),
    Header("tap", "not ok ", "not ok ", r"\s*not ok \d+(?: -)? (?P<test>(?!.*# (?:TODO|SKIP))\S.*?)(?: # .*)?$", "TAP"),
    Header("bun", "(fail)", "(fail)", r"\(fail\) (?P<test>.+?)(?: \[[\d.]+ms\])?$", "bun test"),
    Header("go", "--- FAIL:", "--- FAIL:", r"\s*--- FAIL: (?P<test>\S+)(?: \([\d.]+s\))?$", "go test"),
    Header("go", "FAIL\t", "FAIL\t", r"FAIL\t(?P<test>\S+) \[(?:build|setup) failed\]$", "go test"),
    Header("cargo", "test result:", " stdout ----", r"---- (?P<test>\S.*) stdout ----$", "libtest"),
    Header("cargo", "... FAILED", "... FAILED", r"test (?P<test>\S.*?) \.\.\. FAILED$", "libtest"),
    Header("nextest", "FAIL [", "FAIL [", r"\s*FAIL \[ *[\d.]+s\](?: \([ \d/]+\))? (?P<test>\S.*)$", "nextest"),
    Header("surefire", "<<< ", "<<< ", r"(?:\[ERROR\] +)?(?P<test>[\w.$]+(?:\([\w.$]+\))?(?:\[.*\])?) +(?:--)? *Time elapsed: .*<<< (?:FAILURE|ERROR)!$",
           "per test"),
    Header("surefire", "[ERROR]", "Test", r"\[ERROR\] {2,}(?P<test>\w+(?:\.|->)\w+)(?::\d+(?:->\S+)?)? (?P<error>\S.*)$", "results"),
    Header("gradle", " > ", " FAILED", r"(?P<test>\w\S*(?: > .+)+) FAILED$", "test logging"),
    Header("ctest", "% tests passed", " (", r"\s+\d+ - (?P<test>\S+) \((?:Failed|Timeout|SEGFAULT|Subprocess aborted|Not Run|Exception: .*|.*)\)$", "list"),
    Header("gtest", "[  FAILED  ]", "[ RUN      ]", r"\[ RUN      \] (?P<test>\S+)$", "what follows belongs to this test"),
    Header("gtest", "[  FAILED  ]", "[  FAILED  ]", r"\[  FAILED  \] (?P<test>\w\S*\.[^\s,]+)", "verdict"),
    Header("rspec", "examples,", "rspec ", r"rspec \./\S+:\d+ # (?P<test>.+)$", "list"),
    Header("rspec", "Failure/Error", ") ", r"  \d+\) (?P<test>\S.*)$", "section"),
    Header("minitest", "assertions,", "#test", r"(?P<test>[\w:]+#test\w*)(?: \[.*\])?:$", "section"),
    Header("phpunit", "Assertions:", "::", r"\d+\) (?P<test>[\w\\]+::\w+.*)$", "section"),
    Header("dotnet", "Failed", "Failed ", r"\s+Failed (?P<test>[\w.+]+(?:\(.*\))?) \[.*\]$", "vstest"),
    Header("exunit", "failure", ") ", r"  \d+\) (?P<test>test .+) \([\w.]+\)$", "section"),
)  # fmt: skip

PASSED_GTEST: Final = "[       OK ]"
BLOCK_ENDS: Final = re.compile(
    r"-{2,} Captured |=+ (?:short test summary|warnings summary|.*\bin [\d.]+s)|Test Suites: |^ *Tests? +(?:Files )?\d+ (?:failed|passed)"
    r"|\d+ (?:failed|passed)\b.* in |Ran \d+ tests? in |test result: |failures:$|make(?:\[\d+\])?: \*\*\*|npm (?:error|ERR!)|⎯{8}"
)
SEPARATOR: Final = re.compile(r"[-=_~*#⎯─ ]*$")


@dataclass(frozen=True, slots=True)
class FailingTest:
    """One failing test as the output tells it; `error` and `places` may be empty."""

    name: str
    error: str
    places: tuple[str, ...]
    runner: str


def failing_tests(output: Output) -> list[FailingTest]:
    """Failing tests in the order in which the runner tells about them, each once, with all that was said about it.

    pytest tells about failed fixtures first, in a section of their own; here they come last, as in its summary.
    """
    headers = [header for header in HEADERS if header.needs in output.text and header.hint in output.text]
    found: list[FailingTest] = []
    marks = _marks(output, headers)
    for position, (index, header, name, said) in enumerate(marks):
        if header.source == "what follows belongs to this test" and not _failed_gtest(output, name):
            continue
        end = marks[position + 1][0] if position + 1 < len(marks) else len(output.lines)
        if header.runner == "mocha":
            name, index = _whole_title(output.lines, name, index)  # noqa: PLW2901 - a title may span lines
        block = _block(output.lines[index + 1 : min(end, index + 1 + MAX_BLOCK)])
        error = error_of(block)
        if said and (not error or not said.endswith("...")):
            error = error or said
        found.append(FailingTest(name.strip(), error, tuple(places(block)), header.runner))
    merged = _merged(found)[:MAX_FAILING]
    return sorted(merged, key=lambda test: f"ERROR at setup of {_key(test)} " in output.text)


def _marks(output: Output, headers: Sequence[Header]) -> list[tuple[int, Header, str, str]]:
    """(line, header, test, error said there) of every header line."""
    marks = []
    for index, line in enumerate(output.lines):
        for header in headers:
            if header.hint not in line:
                continue
            match = compiled(header.pattern).match(line)
            if match:
                marks.append((index, header, match["test"], match.groupdict().get("error") or ""))
                break
        if len(marks) >= 2 * MAX_FAILING:
            break
    return marks


def _failed_gtest(output: Output, name: str) -> bool:
    """Whether GoogleTest, which announces every test, said that this one failed."""
    return f"[  FAILED  ] {name}" in output.text


def _whole_title(lines: Sequence[str], name: str, index: int) -> tuple[str, int]:
    """Mocha writes the path of suites and the test on lines of their own; the last ends with a colon."""
    if name.endswith(":"):
        return name[:-1], index
    for below in range(index + 1, min(index + 6, len(lines))):
        part = lines[below].strip()
        if not part:
            break
        name = f"{name} {part}"
        index = below
        if part.endswith(":"):
            return name[:-1], index
    return name, index


def _block(lines: Sequence[str]) -> list[str]:
    """The lines that tell why: up to captured output, a summary, or a wrapper's epilogue."""
    for index, line in enumerate(lines):
        if BLOCK_ENDS.match(line.lstrip("│ ")):
            return list(lines[:index])
    return list(lines)


# What an error looks like in a block, best evidence first; group 1 is the error.
ERRORS: Final = (
    r"E   ((?!\+)\S.*)",  # pytest; what it indents deeper continues a line or quotes source
    r"E  +((?!\+)\S.*)",
    r"\s*Error: +\t?(?!Trace)(\S.*)",  # testify
    r"\s*(expect\(.*\)\..*)$",  # jest matchers
    r"\s*(?:→ |Uncaught |\[?Caused by: |✖ )*((?:[a-z][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Failure|Failed|Fault)\b(?: \[\w+\])?(?::.*|$))",
    r"\s*(?:thread '.*' )?panicked at '(.*)', ",  # Rust before 1.73
    r"\s*((?:[a-z]\w*\.)+[A-Z]\w*(?:Error|Exception)\b.*)",  # JVM
    r"\s*error: ['\"|>-]*(\w.*?)['\"]?$",  # TAP diagnostics
    r"\s*(panic: .*)",  # Go
    r"\s*Failure/Error: (.*)",  # RSpec
    r"\s+[\w.-]+_test\.go:\d+: (.*)",  # Go
    r"\s*((?:[Ee]xpected|EXPECT|ASSERT|CHECK|REQUIRE)\b.*)",
    r".*?\b((?:error|Error|Failure|FAIL)\b.*)",
)
MORE: Final = re.compile(
    r"\s*(?:-|\+)? *((?:[Ee]xpected|[Rr]eceived|[Aa]ctual|[Gg]ot|left|right|want|Which is|Number of calls)\b[^:]{0,40}:?(?: .*|$))"
)
CHAINED: Final = re.compile(
    r"(?:E +)?(?:The above exception was the direct cause|During handling of the above exception)"
)


def error_of(block: Sequence[str]) -> str:
    """The error a block tells, with what was expected and what came, in one line; empty if there is none.

    Of chained exceptions the last is meant: it is the one that reached the test.
    """
    chained = [index for index, line in enumerate(block) if CHAINED.search(line)]
    block = block[chained[-1] + 1 :] if chained else block
    if any(line.startswith("Traceback (most recent") for line in block):
        last = _last_of_traceback(block)
        if last:
            return last
    for index, line in enumerate(block):
        if line.lstrip().startswith(("thread '", "panicked at ")) and line.rstrip().endswith(":"):
            return _joined(block, index + 1, block[index + 1].strip() if index + 1 < len(block) else "")
    for pattern in ERRORS:
        for index, line in enumerate(block):
            match = compiled(pattern).match(line)
            if match:
                return _joined(block, index, match[1].strip())
    return next((line.strip() for line in block if not SEPARATOR.match(line)), "")


def _joined(block: Sequence[str], index: int, error: str) -> str:
    """`error` and what belongs to it: the line after a colon, pytest's rewritten assert, expected and received."""
    below = [line for line in block[index + 1 : index + 16] if line.strip()]
    if error.endswith(":") and below:
        error = f"{error} {below[0].removeprefix('E ').strip()}"
    rewritten = [line[1:].strip() for line in below[:6] if re.match(r"E +assert ", line)]
    compared = []
    for line, after in zip(below[:12], [*below[1:13], ""], strict=False):
        match = MORE.match(line)
        if match:
            compared.append(f"{match[1].strip()} {after.strip() if match[1].endswith(':') else ''}".strip())
    told = [part for part in (*rewritten[:1], *compared[:2]) if part not in error]
    return "; ".join((error, *told))


def _last_of_traceback(block: Sequence[str]) -> str:
    """The exception under the last traceback of the block: its first line that is not indented."""
    start = max(index for index, line in enumerate(block) if line.startswith("Traceback (most recent"))
    for index in range(start + 1, len(block)):
        line = block[index]
        if line and not line[0].isspace() and not SEPARATOR.match(line):
            return _joined(block, index, line) if line.endswith(":") else line
    return ""


def _merged(found: list[FailingTest]) -> list[FailingTest]:
    """One entry per test: a section and a summary line that name the same test tell about it together.

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
        richer = known if known.places or known.error else test
        name = max(known.name, test.name, key=len)
        merged[at] = FailingTest(name, richer.error, richer.places or test.places or known.places, known.runner)
    return merged


def _key(test: FailingTest) -> str:
    """What two tellings of one test have in common."""
    name = test.name
    if test.runner == "pytest":
        return name.partition("::")[2].replace("::", ".") or name.rpartition("/")[2]
    if test.runner in {"jest", "rspec"}:
        return name.rpartition("›")[2].strip()
    if test.runner == "surefire":
        method, _, owner = name.partition("(")
        parts = [*owner.rstrip(")").split("."), *method.split(".")] if owner else name.split(".")
        return ".".join(parts[-2:])
    return name
