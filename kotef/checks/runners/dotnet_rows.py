"""dotnet test: its TRX report, requested by MSBuild properties in the environment, or else its output lines."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from kotef.checks.runners.line_reports import Lines, read_by
from kotef.checks.runners.row import Leavings, Runner, RunnerCommand, Statuses
from kotef.checks.runners.xml_reports import cases_in
from kotef.integrity import test_id

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from kotef.checks.types import TestStatus

_LINES: Final = Lines(
    "[",
    re.compile(
        r"  (?P<status>Passed|Failed|Skipped) (?P<name>\S.*?)(?: \[< ?\d+ m?s\]| \[[\d.,]+ m?s?(?: \d+ m?s)?\])$"
    ),
    {"Passed": "passed", "Failed": "failed", "Skipped": "skipped"},
)
_SPACE: Final = "{http://microsoft.com/schemas/VisualStudio/TeamTest/2010}"
_FOLDER: Final = "dotnet"
_OUTCOMES: Final[dict[str, "TestStatus"]] = {
    "Passed": "passed",
    "PassedButRunAborted": "passed",
    "Warning": "passed",
    "NotExecuted": "skipped",
    "NotRunnable": "skipped",
    "Inconclusive": "skipped",
    "Pending": "skipped",
    "Error": "error",
    "Aborted": "error",
}
"""What is not here failed: Failed, Timeout."""


def dotnet_environment(command: RunnerCommand, env: Mapping[str, str]) -> dict[str, str]:
    """The logger and its folder; nothing if the user has set either."""
    if env.keys() & {"VSTestLogger", "VSTestResultsDirectory"}:
        return {}
    return {"VSTestLogger": "trx", "VSTestResultsDirectory": str(command.folder / _FOLDER)}


def dotnet_report(left: Leavings) -> Statuses | None:
    """The tests of all TRX files; None if there is no file."""
    return cases_in(left.command.folder, rf"{_FOLDER}/(?:.*/)?[^/]*\.trx", _cases)


def _cases(report: "Element") -> Iterator[tuple[str, "TestStatus"]]:
    """Each test by its class and name; a row of a theory has its arguments after the name."""
    methods = report.iter(f"{_SPACE}UnitTest")
    classes = {test.get("id"): _class_of(test) for test in methods}
    for result in report.iter(f"{_SPACE}UnitTestResult"):
        owner = classes.get(result.get("testId"), "")
        name = (result.get("testName") or "").removeprefix(f"{owner}.")
        yield test_id(owner, name), _OUTCOMES.get(result.get("outcome") or "", "failed")


def _class_of(test: "Element") -> str:
    method = test.find(f"{_SPACE}TestMethod")
    return (method.get("className") or "").partition(",")[0] if method is not None else ""


DOTNET: Final = Runner(
    name="dotnet test",
    ids="`Namespace.Class::test`, or its full name if read from the lines",
    tools=frozenset({"dotnet"}),
    environment=dotnet_environment,
    report=dotnet_report,
    lines=read_by(_LINES),
    closing="dotnet",
    untried=True,
)
