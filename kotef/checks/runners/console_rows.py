"""Runners that print a line for each test; the lines count only if the summary line has the same totals."""

import re
from typing import Final

from kotef.checks.runners.line_reports import Lines, read_by
from kotef.checks.runners.row import Runner, as_many_or_skipped

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
_SWIFT_TESTING: Final = Lines(
    " Test ",
    re.compile(
        r"\S+ Test (?P<name>(?!run with\b|case\b)\S.*?) (?P<status>passed after|failed after|skipped)"
        r"(?:$| [\d.]+ seconds|: )"
    ),
    {"passed": "passed", "failed": "failed", "skipped": "skipped"},
)
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
    Runner(
        name="Swift Testing",
        ids="name of the test, as printed",
        lines=read_by(_SWIFT_TESTING),
        closing="swift-testing",
        agrees=as_many_or_skipped,
        untried=True,
    ),
    Runner(name="test-unit -v", ids="`Class::test`", lines=read_by(_TEST_UNIT), closing="test-unit"),
    Runner(name="minitest -v", ids="`Class#test`", lines=read_by(_MINITEST), closing="minitest"),
)
