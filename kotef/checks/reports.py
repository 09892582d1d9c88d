"""Parsers for the per-test reports of test runners."""

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kotef.checks.types import TestStatus

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_REPORT: Final = 64 * 1024 * 1024
"""Bytes of a report that are read; a larger one is not a report."""

REPORT_NAME: Final = "junit.xml"

_BEST_TO_WORST: Final[tuple[TestStatus, ...]] = ("passed", "xpassed", "xfailed", "skipped", "failed", "error")


def worse(one: TestStatus, other: TestStatus) -> TestStatus:
    """The worse of two statuses of the same test: an error is worse than a failure, a skip worse than a pass."""
    return one if _BEST_TO_WORST.index(one) > _BEST_TO_WORST.index(other) else other


def report_request(directory: Path, env: Mapping[str, str]) -> dict[str, str]:
    """What to add to the environment of a command so that a pytest in it writes its report into `directory`.

    pytest reads PYTEST_ADDOPTS also behind make, npm and scripts; tox 4 passes it on when TOX_OVERRIDE says so. The
    family `xunit1` is the one with a `file` per test. Existing values are kept in front.
    """
    options = f"--junitxml={shlex.quote(str(directory / REPORT_NAME))} -o junit_family=xunit1"
    return {
        "PYTEST_ADDOPTS": f"{env.get('PYTEST_ADDOPTS', '')} {options}".strip(),
        "TOX_OVERRIDE": env.get("TOX_OVERRIDE") or "testenv.pass_env+=PYTEST_ADDOPTS",
    }


def parse_junit(xml: bytes) -> dict[str, TestStatus] | None:
    """Status of each test id of a JUnit report; None when it is truncated, hostile or no such report.

    Ids are pytest's own (`path::Class::test[param]`) where the report names files; a file that could not be collected
    is there by its path alone. Of several entries for one id the worst counts.
    """
    root = junit_root(xml)
    if root is None:
        return None
    tests: dict[str, TestStatus] = {}
    for case in root.iter("testcase"):
        if (case.get("classname"), case.get("name")) == ("pytest", "internal"):
            continue  # pytest's own crash, written as if it were a test
        test = _test_id(case.get("file") or "", case.get("classname") or "", case.get("name") or "")
        status = status_of_case(case)
        tests[test] = worse(tests[test], status) if test in tests else status
    return tests


def junit_root(xml: bytes) -> "Element | None":
    """The root of a JUnit report; None when it is truncated, hostile, too large, or something else."""
    root = xml_root(xml)
    return root if root is not None and root.tag in {"testsuites", "testsuite"} else None


def xml_root(xml: bytes) -> "Element | None":
    """The root of an XML file; None when it is truncated, hostile or too large."""
    from defusedxml.ElementTree import ParseError, fromstring

    if len(xml) > MAX_REPORT:
        return None
    try:
        root: Element = fromstring(xml)
    except (ParseError, ValueError, LookupError):  # malformed; entities (a ValueError of defusedxml); unknown encoding
        return None
    return root


def counted_tests(tests: Mapping[str, TestStatus]) -> dict[str, TestStatus]:
    """The tests that their runner counts: not those inside a program that is one test of a harness itself.

    Tests in a file that could not be run as a whole are counted: of these the file is not a test.
    """
    heads = {test for test, status in tests.items() if "::" not in test and status != "error"}
    return {test: status for test, status in tests.items() if test in heads or test.partition("::")[0] not in heads}


def executed(tests: Mapping[str, TestStatus]) -> int:
    """How many tests of a report really ran; a file that could not be collected is not a test."""
    counted = counted_tests(tests).items()
    return sum(status != "skipped" and not (status == "error" and "::" not in test) for test, status in counted)


def _test_id(file: str, classname: str, name: str) -> str:
    """The id as pytest writes it.

    Where file and class name differ, the class name gives the module: an inherited test is reported with the file it
    was written in.
    """
    module = file.removesuffix(".py").replace("/", ".").replace("\\", ".")
    if not classname:
        return file or name
    if file and (classname == module or classname.startswith(f"{module}.")):
        path, classes = file, classname[len(module) + 1 :]
    elif file:
        parts = classname.split(".")
        at = next((index for index, part in enumerate(parts) if part[:1].isupper()), len(parts))
        path, classes = "/".join(parts[:at]) + ".py", ".".join(parts[at:])
    else:
        path, classes = classname, ""
    return "::".join((path, *classes.split("."), name) if classes else (path, name))


def status_of_case(case: "Element") -> TestStatus:
    """From what a test case of a JUnit report holds."""
    return status_of((child.tag, child.get("type") or "") for child in case)


def status_of(children: Iterable[tuple[str, str]]) -> TestStatus:
    """From the tags and types below a test case; a strict xpass is a failure already."""
    status: TestStatus = "passed"
    for tag, kind in children:
        match tag:
            case "error":
                status = worse(status, "error")
            case "failure":
                status = worse(status, "failed")
            case "skipped":
                status = worse(status, "xfailed" if kind == "pytest.xfail" else "skipped")
            case _:  # output and properties
                pass
    return status
