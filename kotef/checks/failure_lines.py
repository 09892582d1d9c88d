# ruff: noqa: E501 - a row of a table is one line, so that columns can be compared
"""Output lines that prove a tool failed, regardless of its exit status."""

import re
from typing import Final, Literal, NamedTuple

from kotef.classification import plain_lines


class Admission(NamedTuple):
    """A closing line that no tool prints when all is well."""

    tool: str
    hint: str
    """A literal of the line, looked for first."""
    pattern: str
    """Matched against the whole line, for programs print sentences that begin alike."""
    kind: Literal["test_failure", "lint_failure"]
    source: str
    """Where the tool prints it."""
    needs: str = ""
    """A pattern found at the start of some line of the output, where the line alone could be anybody's."""


_ADMISSIONS: Final = (
    Admission("pytest", " failed", r"\d+ failed(?:, \d+ [a-z]+)*", "test_failure", "closing line with its time taken off, below the short summary", r"(?:FAILED|ERROR) \S+\.py\b"),
    Admission("pytest", " error", r"(?:\d+ [a-z]+, )*[1-9]\d* errors?", "test_failure", "the same", r"ERROR \S+\.py\b"),
    Admission("pytest-cov", "FAIL Required", r"FAIL Required test coverage of [\d.]+% not reached\. .*", "test_failure", "--cov-fail-under"),
    Admission("coverage", "Coverage failure", r"Coverage failure: total of [\d.]+ is less than fail-under=[\d.]+.*", "test_failure", "coverage report"),
    Admission("doctest", "***Test Failed***", r"\*\*\*Test Failed\*\*\* \d+ failures?\.", "test_failure", "last line"),
    Admission("behave", " failed", r"\d+ scenarios? passed, [1-9]\d* failed, \d+ skipped.*", "test_failure", "summary"),
    Admission("robot", " failed", r"\d+ tests?, \d+ passed, [1-9]\d* failed(?:, \d+ skipped)?", "test_failure", "console"),
    Admission("tap", "not ok ", r"not ok \d+ - (?!.*# *(?i:todo|skip)\b).*", "test_failure", "TAP 14: a test point; TODO and SKIP are not failures"),
    Admission("tap", "not ok ", r"not ok \d+(?! *#? *(?i:todo|skip)\b)(?! .*# *(?i:todo|skip)\b)(?: .*)?", "test_failure", "the same without its dash: bats", r"1\.\.\d|ok \d|TAP version"),
    Admission("prove", "Result: FAIL", r"Result: FAIL", "test_failure", "summary", r"Files=\d"),
    Admission("go", "FAIL\t", r"FAIL\t\S+(?:\t[\d.]+s| \[(?:build|setup) failed\])", "test_failure", "go test, per package"),
    Admission("cargo", "to rerun pass", r"error: (?:doc)?test failed, to rerun pass .*", "test_failure", "cargo test"),
    Admission("cargo", "could not compile", r"error: could not compile `\S+` \(.*", "lint_failure", "last line"),
    Admission("gradle", " completed, ", r"\d+ tests? completed, [1-9]\d* failed(?:, \d+ skipped)?", "test_failure", "Test task, with ignoreFailures too"),
    Admission("gradle", "were failing tests", r"(?:> )?There were failing tests(?:\. See the (?:report|results) at: .*)?", "test_failure", "the same"),
    Admission("maven", "There are test failures", r"\[\w+\] There are test failures\.", "test_failure", "Surefire with testFailureIgnore"),
    Admission("junit", " tests failed", r"\[ +[1-9]\d* tests failed +\]", "test_failure", "console launcher"),
    Admission("sbt", "Failed: Total", r"\[error\] (?:Failed|Error): Total \d+, .*", "test_failure", "summary"),
    Admission("dart", "Some tests failed", r"\d\d:\d\d \+\d+(?: ~\d+)? -\d+: Some tests failed\.", "test_failure", "last line"),
    Admission("testthat", "[ FAIL", r"\[ FAIL [1-9]\d* \| WARN \d+ \| SKIP \d+ \| PASS \d+ \]", "test_failure", "summary"),
    Admission("busted", " / ", r"\d+ success(?:es)? / (?:[1-9]\d* failures? / \d+|\d+ failures? / [1-9]\d*) errors? / .*", "test_failure", "summary"),
    Admission("bazel", "Executed ", r"Executed \d+ out of \d+ tests?: .*\bfails? (?:locally|remotely).*", "test_failure", "summary"),
    Admission("npm", "Test failed", r"npm (?:ERR!|error) Test failed\..*", "test_failure", "npm test"),
    Admission("make", "***", r"g?make: \*\*\* \[.*\] Error \d+(?: \(ignored\))?", "test_failure", "GNU make gave up on a target; a `-` before a recipe line prints no asterisks"),
    Admission("mypy", "Found ", r"Found [1-9]\d* errors? in \d+ files?(?: \(.*\))?", "lint_failure", "last line"),
    Admission("ruff", "Found ", r"Found [1-9]\d* errors?\.", "lint_failure", "last line", r" *(?:--> )?[^\s:]+:\d+:\d+\b|\d+\t[A-Z]+\d+\t"),
    Admission("ruff", " remaining", r"Found \d+ errors? \(\d+ fixed, [1-9]\d* remaining\)\.", "lint_failure", "ruff check --fix"),
    Admission("tsc", "error TS", r"(?:\S+\(\d+,\d+\): |\S+:\d+:\d+ - )?error TS\d+: .*", "lint_failure", "each, plain and --pretty"),
    Admission("eslint", " problem", r"✖ \d+ problems? \([1-9]\d* errors?, \d+ warnings?\)", "lint_failure", "stylish formatter, last line"),
    Admission("pyright", " error", r"[1-9]\d* errors?, \d+ warnings?, \d+ informations? ?", "lint_failure", "last line"),
)  # fmt: skip


class Admitted(NamedTuple):
    """An admission that was found."""

    line: str
    kind: Literal["test_failure", "lint_failure"]


def admission_in(output: str) -> Admitted | None:
    """The first line of an output with which a tool says that something failed; None without one. Linear."""
    lines = plain_lines(output)
    text = "\n".join(lines)
    possible = [
        (row, re.compile(row.pattern))
        for row in _ADMISSIONS
        if row.hint in text and (not row.needs or re.search(f"(?m)^(?:{row.needs})", text))
    ]
    for line in lines if possible else ():
        for row, pattern in possible:
            if row.hint in line and pattern.fullmatch(line):
                return Admitted(line, row.kind)
    return None
