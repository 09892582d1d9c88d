"""The JUnit report of one run."""

import re
from collections.abc import Iterable
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kotef.checks.types import RED
from kotef.checks.verification import Verification
from kotef.redaction import redactor
from kotef.report.failure_locations import Located, judged, located
from kotef.report.finished_run import ended
from kotef.runs.ending_text import headline
from kotef.runs.result import Result
from kotef.runs.store import RunDir

_NOT_XML: Final = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML does not allow, and the control characters that it does."""


def as_junit(run: RunDir) -> str:
    """JUnit XML: the run as one test, every check as one, and every test that the runners reported.

    It reports the tree that the run was left at. A test red before the run that no one asked for counts as skipped.
    """
    result = redactor().whole(ended(run))
    verification = redactor().whole(judged(run, result.tree_visit))
    failures = redactor().whole(located(run, result))
    suites = Element("testsuites", name=f"kotef {result.run_id}")
    _suite(suites, "kotef", [_run_case(result)], result)
    if verification is not None:
        _suite(
            suites, "checks", [_check_case(verification, number) for number in range(len(verification.checks))], result
        )
        _suite(suites, "tests", _tests(verification, failures), result)
    _counts(suites, suites.iter("testcase"))
    indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _suite(suites: Element, name: str, cases: Iterable[Element], result: Result) -> None:
    suite = SubElement(suites, "testsuite", name=name, timestamp=result.started_at.removesuffix("Z"), hostname="kotef")
    suite.extend(cases)
    _counts(suite, suite)


def _counts(element: Element, cases: Iterable[Element]) -> None:
    found = list(cases)
    element.set("tests", str(len(found)))
    for tag, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        element.set(name, str(sum(case.find(tag) is not None for case in found)))
    element.set("time", f"{sum(float(case.get('time', 0)) for case in found):.3f}")


def _case(suite: str, name: str, *, seconds: float = 0.0) -> Element:
    named = _xml(name).strip() or "(no name)"
    return Element("testcase", classname=_xml(suite).strip() or "tests", name=named, time=f"{seconds:.3f}")


def _with_message(case: Element, tag: str, message: str, text: str = "") -> Element:
    element = SubElement(case, tag, message=_xml(message)[:1000])
    if tag == "failure":
        element.set("type", tag)
    element.text = _xml(text) or None
    return case


def _run_case(result: Result) -> Element:
    case = _case("kotef", (result.goal.partition("\n")[0] or "the checks")[:200], seconds=result.usage.seconds)
    return case if result.done else _with_message(case, "failure", headline(result), result.evidence)


def _check_case(verification: Verification, number: int) -> Element:
    check = verification.checks[number]
    case = _case("checks", check.command, seconds=check.seconds)
    if check.passed:
        return case
    what = "failed, and is advisory" if check.advisory else "failed because of tests that were red before the run"
    if check.advisory or check.satisfied:
        return _with_message(case, "skipped", what)
    return _with_message(case, "failure", check.summary.partition("\n")[0] or "failed", check.summary)


def _tests(verification: Verification, failures: Iterable[Located]) -> Iterable[Element]:
    by_test = {key: one for one in failures for key in (one.test, f"{one.check}: {one.test}")}
    for test, status in verification.tests.items():
        file, name = _split(test, verification)
        case = _case(file or "tests", name)
        if file:
            case.set("file", _xml(file))
        if status in RED and test in verification.preexisting:
            _with_message(case, "skipped", "red before the run, not part of the task")
        elif status in RED:
            one = by_test.get(test)
            where = f"{one.file}:{one.line}" if one and one.line else ""
            _with_message(case, "failure" if status == "failed" else "error", one.message if one else status, where)
        elif status == "skipped":
            _with_message(case, "skipped", status)
        elif status == "xfailed":  # it ran, and ended as it is expected to
            SubElement(case, "system-out").text = "failed, as it is expected to"
        yield case
    for test in verification.missing:
        file, name = _split(test, verification)
        yield _with_message(_case(file or "tests", name), "failure", "no longer runs")


def _split(test: str, verification: Verification) -> tuple[str, str]:
    """The file of a test (empty if its id names none) and its name, including the check's name if needed."""
    heads = (f"{check.name}: " for check in verification.checks)
    head = max((head for head in heads if test.startswith(head)), key=len, default="")
    file, _, name = test.removeprefix(head).partition("::")
    return (file, f"{head}{name}") if file and name else ("", test)


def _xml(text: str) -> str:
    """The text without characters that XML does not allow; its readers take every kind of line end for a newline."""
    return _NOT_XML.sub("�", text.replace("\r\n", "\n").replace("\r", "\n"))
