"""C and C++ test libraries: GoogleTest, Boost.Test, Check, CMocka, Criterion and Unity."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from kotef.checks.reports import status_of_case
from kotef.checks.runner_summaries import Closings
from kotef.checks.runners.line_reports import Lines, read_by, tests_in
from kotef.checks.runners.row import Leavings, Runner, RunnerCommand, Statuses, as_counted, as_many_ran
from kotef.checks.runners.tap_rows import tests_of_tap
from kotef.checks.runners.xml_reports import cases_in
from kotef.checks.types import TestStatus
from kotef.integrity import name_part, test_id

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def _in_brackets(name: str) -> Lines:
    """Lines such as `[       OK ] name`."""
    statuses: dict[str, TestStatus] = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}
    return Lines("[ ", re.compile(rf"\[ *(?P<status>{'|'.join(statuses)}) *\] {name}$"), statuses)


_GTEST: Final = _in_brackets(r"(?P<name>[\w/]+\.[\w/]+)(?:,.*)? \(\d+ ms\)")
_CMOCKA: Final = _in_brackets(r"(?P<name>(?!GROUP )[^\s:]+)")
_UNITY: Final = Lines(
    ":",
    re.compile(r"(?:[^\s:]*/)?(?P<place>[^\s:/]+):\d+:(?P<name>\w[^:]*):(?P<status>PASS|FAIL|IGNORE)\b"),
    {"PASS": "passed", "FAIL": "failed", "IGNORE": "skipped"},
)
_ROWS: Final = (("gtest", _GTEST), ("cmocka", _CMOCKA), ("unity", _UNITY))


ReportReader = Callable[[Leavings], Statuses | None]


def tests_of_program(lines: Sequence[str]) -> Statuses | None:
    """The tests in the output of one test program; None if it does not list all of them."""
    closings = Closings(lines)
    for runner, row in _ROWS:
        tests = tests_in(row, lines)
        if tests and any(as_counted(tests, counts) for counts in closings.of(runner)):
            return tests
    return tests_of_tap(lines)


def variable(name: str, value: str) -> Callable[[RunnerCommand, Mapping[str, str]], dict[str, str]]:
    """An environment variable, unless the user has set it; `{folder}` is the report folder."""
    return lambda command, env: {} if name in env else {name: value.format(folder=command.folder)}


def report_in(files: str, cases: Callable[["Element"], Iterable[tuple[str, TestStatus]]]) -> ReportReader:
    """A reader of the matching XML files in the report folder."""
    return lambda left: cases_in(left.command.folder, files, cases) or None


def _junit_cases(root: "Element") -> Iterator[tuple[str, TestStatus]]:
    """Each test by its suites and name; Boost writes the suites as class name, Criterion as the enclosing suite."""
    for suite in root.iter("testsuite"):
        for case in suite.findall("testcase"):
            above = case.get("classname") or ("" if root is suite else suite.get("name") or "")
            yield test_id(*above.split("."), case.get("name") or ""), status_of_case(case)


def _gtest_cases(root: "Element") -> Iterator[tuple[str, TestStatus]]:
    """Each test as GoogleTest prints it; a mere list of tests has no status."""
    for case in root.iter("testcase"):
        if "status" in case.keys():  # noqa: SIM118 - an element's attributes
            status: TestStatus = "skipped" if case.get("status") == "notrun" else status_of_case(case)
            yield name_part(f"{case.get('classname')}.{case.get('name')}"), status


_CHECK: Final[dict[str, TestStatus]] = {"success": "passed", "failure": "failed", "error": "error"}
_CHECK_SPACE: Final = "{http://check.sourceforge.net/ns}"


def _check_cases(root: "Element") -> Iterator[tuple[str, TestStatus]]:
    """Each test by suite, test case and function, and by its iteration in a loop test."""
    for suite in root.iter(f"{_CHECK_SPACE}suite"):
        title = suite.findtext(f"{_CHECK_SPACE}title") or ""
        for test in suite.iter(f"{_CHECK_SPACE}test"):
            case, name, turn = (
                test.findtext(f"{_CHECK_SPACE}{tag}") or "" for tag in ("description", "id", "iteration")
            )
            parts = (title, case, name if turn in {"", "0"} else f"{name}[{turn}]")
            yield "::".join(map(name_part, parts)), _CHECK.get(test.get("result") or "", "error")


def _library(name: str, ids: str, asked: tuple[str, str], report: ReportReader, closing: str, **more: Any) -> Runner:
    """A library that writes a report where an environment variable says so."""
    return Runner(
        name=name, ids=ids, environment=variable(*asked), report=report, closing=closing, kind="program", **more
    )


PROGRAMS: Final = (
    _library(
        "GoogleTest",
        "`Suite.Test`",
        ("GTEST_OUTPUT", "xml:{folder}/gtest/"),
        report_in(r"gtest/.*\.xml", _gtest_cases),
        "gtest",
        lines=read_by(_GTEST),
    ),
    _library(
        "Boost.Test",
        "`suite::case`",
        ("BOOST_TEST_LOGGER", "HRF,error,stdout:JUNIT,test_suite,{folder}/boost.xml"),
        report_in(r"boost\.xml", _junit_cases),
        "boost",
        agrees=as_many_ran,
        failing_status=lambda status, _: status == 201,  # noqa: PLR2004 - Boost's own
    ),
    _library(
        "Check",
        "`Suite::case::function`",
        ("CK_XML_LOG_FILE_NAME", "{folder}/check.xml"),
        report_in(r"check\.xml", _check_cases),
        "check",
    ),
    _library(
        "Criterion",
        "`suite::test`",
        ("CRITERION_OUTPUTS", "xml:{folder}/criterion.xml"),
        report_in(r"criterion\.xml", _junit_cases),
        "criterion",
    ),
    Runner(name="CMocka", ids="name of the function", lines=read_by(_CMOCKA), closing="cmocka", kind="program"),
    Runner(name="Unity", ids="`file::function`", lines=read_by(_UNITY), closing="unity", kind="program"),
)
