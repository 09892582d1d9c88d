"""Runners whose verbose lines tell of each test: believed where as many ran and failed as the closing line counts."""

import re
from typing import Final

from kotef.checks.runners.lines import Lines, read_by
from kotef.checks.runners.row import Runner

_UNITTEST: Final = Lines(
    " ... ",
    re.compile(
        r"(?P<name>\w+ \([\w.]+\)) \.\.\. (?P<status>ok|FAIL|ERROR|skipped|expected failure|unexpected success)\b"
    ),
    {"ok": "passed", "FAIL": "failed", "ERROR": "error", "skipped": "skipped", "expected": "xfailed", "unex": "failed"},
)
_XCTEST: Final = Lines(
    "Test Case",
    re.compile(r"Test Case '(?:-\[)?(?P<name>[\w. ]+)\]?' (?P<status>passed|failed|skipped) \("),
    {"passed": "passed", "failed": "failed", "skipped": "skipped"},
)
_DOTNET: Final = Lines(
    "[",
    re.compile(
        r"  (?P<status>Passed|Failed|Skipped) (?P<name>\S.*?)(?: \[< ?\d+ m?s\]| \[[\d.,]+ m?s?(?: \d+ m?s)?\])$"
    ),
    {"Passed": "passed", "Failed": "failed", "Skipped": "skipped"},
)
_DENO: Final = Lines(
    " ... ",
    re.compile(r"(?P<name>\S.*?) \.\.\. (?P<status>ok|FAILED|ignored)(?: \(.*\))?$"),
    {"ok": "passed", "FAILED": "failed", "ignored": "skipped"},
    re.compile(r"running \d+ tests? from (?:\./)?(?P<place>\S+)$"),
)
_BUN: Final = Lines(
    "",
    re.compile(r"(?P<status>\(pass\)|\(fail\)|\(skip\)|\(todo\)|✓|✗|»|✎) (?P<name>\S.*?)(?: \[[\d.]+m?s\])?$"),
    {"(pass": "passed", "✓": "passed", "(fail": "failed", "✗": "failed", "(skip": "skipped", "»": "skipped",
     "(todo": "skipped", "✎": "skipped"},
    re.compile(r"(?P<place>[\w./-]+\.(?:test|spec)\.\w+):$"),
)  # fmt: skip
_MINITEST: Final = Lines(
    " s = ",
    re.compile(r"(?P<name>\S+#\S.*?) = [\d.]+ s = (?P<status>[.FES])$"),
    {".": "passed", "F": "failed", "E": "error", "S": "skipped"},
)
_TEST_UNIT: Final = Lines(
    "\t",
    re.compile(r"\s*(?P<name>\S.*?):\s+(?P<status>[.FEPO])(?:: \([\d.]+\))?$"),
    {".": "passed", "F": "failed", "E": "error", "P": "skipped", "O": "skipped"},
    re.compile(r"\s*(?P<place>[^\s:](?:[^:]|::)*):$"),
)

OTHERS: Final = (
    Runner(
        name="unittest -v", ids="`test (module.Class.test)`, as printed", lines=read_by(_UNITTEST), closing="unittest"
    ),
    Runner(name="XCTest", ids="`Class.test`", lines=read_by(_XCTEST), closing="xctest", untried=True),
    Runner(name="dotnet test", ids="full name of the test", lines=read_by(_DOTNET), closing="dotnet", untried=True),
    Runner(name="deno test", ids="`path::name`", lines=read_by(_DENO), closing="deno", untried=True),
    Runner(name="bun test", ids="`path::describe > name`", lines=read_by(_BUN), closing="bun", untried=True),
    Runner(name="test-unit -v", ids="`Class::test`", lines=read_by(_TEST_UNIT), closing="test-unit"),
    Runner(name="minitest -v", ids="`Class#test`", lines=read_by(_MINITEST), closing="minitest"),
)
