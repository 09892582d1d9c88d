"""Catch2 and doctest: the XML they print on request, and the report that Catch2 writes for Bazel."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from kotef.checks.reports import status_of_case, xml_root
from kotef.checks.runner_summaries import SummaryCounts
from kotef.checks.runners.line_reports import add
from kotef.checks.runners.row import Leavings, Runner, RunnerCommand, Statuses, as_counted
from kotef.checks.runners.xml_reports import cases_in
from kotef.files import read_within
from kotef.integrity import test_id

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from kotef.checks.types import TestStatus

_REPORT: Final = "catch2.xml"
_BUILD_FILES: Final = tuple(
    f"{folder}{name}"
    for folder in ("", "tests/", "test/")
    for name in ("CMakeLists.txt", "meson.build", "Makefile", "conanfile.txt", "vcpkg.json")
)
_MAX_BUILD_FILE: Final = 1024 * 1024
_DOCUMENT: Final = re.compile(
    r"^<(?P<root>testsuites|Catch|Catch2TestRun|doctest)[ >].*?^</(?P=root)>", re.MULTILINE | re.DOTALL
)
_EXPECTED: Final = re.compile(r"tagged with !(?:mayfail|shouldfail)")


def catch_environment(command: RunnerCommand, env: Mapping[str, str]) -> dict[str, str]:
    """The variables that Bazel sets, only if a build file names Catch2, because other programs react to them too."""
    if env.keys() & {"BAZEL_TEST", "XML_OUTPUT_FILE"} or not any(_names_catch(command, name) for name in _BUILD_FILES):
        return {}
    return {"BAZEL_TEST": "1", "XML_OUTPUT_FILE": str(command.folder / _REPORT)}


def _names_catch(command: RunnerCommand, name: str) -> bool:
    try:
        return b"catch2" in read_within(command.root, name, largest=_MAX_BUILD_FILE).lower()
    except OSError:
        return False


def catch_report(left: Leavings) -> Statuses | None:
    """The tests of the JUnit report for Bazel, which Catch2 writes from version 3.1 on."""
    found = cases_in(left.command.folder, re.escape(_REPORT), _junit_cases)
    return _as_closed([*found.items()], left.closings.of("catch2")) if found else None


def _as_closed(found: Sequence[tuple[str, "TestStatus"]], counted: Sequence[SummaryCounts]) -> Statuses:
    """The test cases. A section follows its test case after `/`, but titles may contain `/`: the counts decide."""
    whole = _merged(found)
    if any(as_counted(whole, counts) for counts in counted):
        return whole
    return _merged((test.partition("/")[0], status) for test, status in found)


def _merged(found: Iterable[tuple[str, "TestStatus"]]) -> Statuses:
    tests: Statuses = {}
    for test, status in found:
        add(tests, test, status)
    return tests


def _junit_cases(report: "Element") -> Iterator[tuple[str, "TestStatus"]]:
    """Each test by its name, below the class of its fixture; an expected failure is not a failure."""
    for case in report.iter("testcase"):
        owner = (case.get("classname") or "").rpartition(".")[2]
        skipped = case.find("skipped")
        expected = skipped is not None and _EXPECTED.search(skipped.get("message") or "")
        status: TestStatus = "xfailed" if expected else status_of_case(case)
        yield test_id("" if owner == "global" else owner, case.get("name") or ""), status


def printed_xml(left: Leavings) -> Statuses | None:
    """The test cases of XML on standard output (`--reporter xml` or `junit`), if no runner printed a closing line."""
    if left.closings.runners:
        return None
    found: list[tuple[str, TestStatus]] = []
    for document in _DOCUMENT.finditer(left.stdout):
        root = xml_root(document[0].encode("utf-8", "replace"))
        if root is None or root.find("testsuite[@doctest_version]") is not None:  # it has no word for expected failures
            return None
        found += _cases_of(root)
    return _merged(found) or None


def _cases_of(root: "Element") -> Iterator[tuple[str, "TestStatus"]]:
    if root.tag == "testsuites":
        return iter(_as_closed([*_junit_cases(root)], ()).items())
    return _doctest_cases(root) if root.tag == "doctest" else _catch_cases(root)


def _catch_cases(root: "Element") -> Iterator[tuple[str, "TestStatus"]]:
    for case in root.iter("TestCase"):
        verdict = case.find("OverallResult")
        passed = verdict is not None and verdict.get("success") == "true"
        skipped = verdict is not None and verdict.get("skips", "0") != "0"
        yield test_id(case.get("name") or ""), _status(case, passed=passed, skipped=skipped)


def _doctest_cases(root: "Element") -> Iterator[tuple[str, "TestStatus"]]:
    for suite in root.iter("TestSuite"):
        for case in suite.findall("TestCase"):
            verdict = case.find("OverallResultsAsserts")
            passed = verdict is not None and verdict.get("test_case_success") == "true"
            skipped = case.get("skipped") == "true"
            yield (
                test_id(suite.get("name") or "", case.get("name") or ""),
                _status(case, passed=passed, skipped=skipped),
            )


def _status(case: "Element", *, passed: bool, skipped: bool) -> "TestStatus":
    """A test case that passed although an expression failed was expected to fail."""
    if skipped:
        return "skipped"
    if not passed:
        return "failed"
    return "xfailed" if any(part.get("success") == "false" for part in case.iter("Expression")) else "passed"


CATCH2: Final = Runner(
    name="Catch2",
    ids="name of the test case, below the class of its fixture",
    environment=catch_environment,
    report=catch_report,
    closing="catch2",
    kind="program",
)
PRINTED: Final = Runner(
    name="XML of Catch2, doctest",
    ids="name of the test case; for doctest, below its suite",
    lines=printed_xml,
    kind="program",
)
