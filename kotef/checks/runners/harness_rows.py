"""ctest, meson and automake: harnesses that start programs, and the tests that a program's output lists."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from kotef.checks.reports import MAX_REPORT
from kotef.checks.runners.line_reports import Lines, add, tests_in
from kotef.checks.runners.native_rows import tests_of_program
from kotef.checks.runners.report_files import written_files
from kotef.checks.runners.row import Leavings, Runner, Statuses, as_counted
from kotef.checks.types import RED, TestStatus
from kotef.classification import all_lines
from kotef.files import read_within
from kotef.integrity import name_part


class _HarnessTest(NamedTuple):
    """One test of a harness."""

    name: str
    status: TestStatus
    output: str = ""
    """What its program printed; empty if that is not known."""


def tests_with_parts(entries: Iterable[_HarnessTest]) -> Statuses:
    """Each entry, because the harness counts entries, and below it the tests that its output lists."""
    tests: Statuses = {}
    for entry in entries:
        name = name_part(entry.name)
        add(tests, name, entry.status)
        for part, status in _parts(entry).items():
            add(tests, f"{name}::{part}", status)
    return tests


def _parts(entry: _HarnessTest) -> Statuses:
    """The tests inside one entry; empty if there is only one, or if a failure was expected."""
    if not entry.output or entry.status not in {"passed", "failed"}:
        return {}
    inside = tests_of_program(all_lines(entry.output)) or {}
    contradicts = entry.status == "passed" and any(status in RED for status in inside.values())
    return {} if len(inside) < 2 or contradicts else inside  # noqa: PLR2004 - one alone is the entry itself


_CTEST: Final = Lines(
    "Test",
    re.compile(
        r" *\d+/\d+ +Test +#\d+: (?P<name>\S.*?) ?\.*(?: |\.)"
        r"(?P<status> *Passed|\*\*\*\w+(?: Run \(Disabled\))?|   *(?:Failed|Skipped))"
    ),
    {" ": "passed", "Passed": "passed", "***Skipped": "skipped", "***Not Run (D": "skipped", "***": "failed"},
)
_CTEST_FOLDER: Final = re.compile(r"(?:.*/)?Testing/Temporary")
_CTEST_LOG: Final = re.compile(r"LastTest\.log")
_CTEST_ENTRY: Final = re.compile(
    r"^\d+/\d+ Test: (?P<name>.*)\nCommand: .*\n(?:.*\n){0,20}?Output:\n-+\n(?P<output>(?:.*\n)*?)<end of output>$",
    re.MULTILINE,
)


def ctest_lines(left: Leavings) -> Statuses | None:
    """The line of each test, and the tests inside if ctest's log has the output of the programs.

    None if ctest counts more or fewer.
    """
    tests = tests_in(_CTEST, (*left.out, *left.err))
    if not any(as_counted(tests, counts) for counts in left.closings.of("ctest")):
        return None
    output = {name_part(name): text for name, text in _ctest_outputs(left)}
    return tests_with_parts(_HarnessTest(name, status, output.get(name, "")) for name, status in tests.items())


def _ctest_outputs(left: Leavings) -> Iterator[tuple[str, str]]:
    for path in _written(left, _CTEST_FOLDER, _CTEST_LOG):
        for found in _CTEST_ENTRY.finditer(_text(left, path)):
            yield found["name"].strip(), found["output"]


def ctest_single(arguments: Sequence[str], tests: Sequence[str], _: Callable[[str], bool]) -> list[str] | None:
    """`-R` with the names of the programs; in an id with several `::` each beginning may be the name."""
    if any(re.match(r"-[RELIUS]|--(?:tests-regex|rerun-failed|stop-on-failure|label)", word) for word in arguments):
        return None
    parts = (test.split("::") for test in tests)
    programs = dict.fromkeys("::".join(names[:end]) for names in parts for end in range(1, len(names) + 1))
    names = "|".join(re.sub(r"([^\w^\\-])", r"[\1]", program) for program in programs)
    return [*arguments, "-R", f"^({names})$"]


_MESON_FOLDER: Final = re.compile(r"(?:.*/)?meson-logs")
_MESON_LOG: Final = re.compile(r"testlog(?:-\w+)?\.json")
_MESON: Final[dict[str, TestStatus]] = {
    "OK": "passed",
    "SKIP": "skipped",
    "EXPECTEDFAIL": "xfailed",
    "UNEXPECTEDPASS": "failed",
}
"""What is not here failed: FAIL, ERROR, TIMEOUT, INTERRUPT."""


def meson_report(left: Leavings) -> Statuses | None:
    """The tests of the log in the build folder, one JSON object each."""
    if "meson" not in left.command.asked.tools and not any(line.startswith("Ok: ") for line in left.out):
        return None
    entries: list[_HarnessTest] = []
    for path in _written(left, _MESON_FOLDER, _MESON_LOG):
        for line in _text(left, path).splitlines():
            entry = _meson_entry(line)
            if entry is None:
                return None
            entries.append(entry)
    return tests_with_parts(entries) or None


def _meson_entry(line: str) -> _HarnessTest | None:
    try:
        test: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match test:
        case {"name": str(name), "result": str(result)}:
            return _HarnessTest(name, _MESON.get(result, "failed"), str(test.get("stdout") or ""))
        case _:
            return None


def meson_single(arguments: Sequence[str], tests: Sequence[str], _: Callable[[str], bool]) -> list[str] | None:
    """The names after the options, without project and suite: `demo:deep / bad`, by newer ones `deep - demo:bad`."""
    known = re.compile(r"-C|-v|--verbose|--print-errorlogs|--no-rebuild|--quiet|-q")
    if arguments[:1] != ["test"] or any(word.startswith("-") and not known.fullmatch(word) for word in arguments):
        return None
    names = dict.fromkeys(re.split(r" / |:", test.partition("::")[0])[-1] for test in tests)
    return [*arguments, *names]


_ANY_FOLDER: Final = re.compile(r".*")
_TRS: Final = re.compile(r".*\.trs")
_TRS_RESULT: Final = re.compile(
    r"^:test-result: *(?P<result>[A-Z]+)(?: +(?:\d+ *)?(?:- *)?(?P<name>.*))?$", re.MULTILINE
)
_AUTOMAKE: Final[dict[str, TestStatus]] = {
    "PASS": "passed",
    "SKIP": "skipped",
    "XFAIL": "xfailed",
    "FAIL": "failed",
    "XPASS": "failed",
    "ERROR": "failed",
}
_AUTOMAKE_LINES: Final = Lines(
    "", re.compile(r"(?P<status>PASS|FAIL|XFAIL|XPASS|SKIP|ERROR): (?P<name>\S.*)"), _AUTOMAKE
)


def automake_report(left: Leavings) -> Statuses | None:
    """The tests of the `.trs` files that the command wrote, and the tests inside if the `.log` file lists them."""
    if not any(line.startswith("# TOTAL: ") for line in left.out):
        return None
    entries: list[_HarnessTest] = []
    for path in _written(left, _ANY_FOLDER, _TRS):
        name = path.removesuffix(".trs")
        results = list(_TRS_RESULT.finditer(_text(left, path)))
        if len(results) == 1 and not results[0]["name"]:
            entries.append(_HarnessTest(name, _status(results[0]), _text(left, f"{name}.log")))
        else:
            entries += [_HarnessTest(f"{name}::{found['name']}", _status(found)) for found in results]
    return tests_with_parts(entries) or None


def _status(found: re.Match[str]) -> TestStatus:
    return _AUTOMAKE.get(found["result"], "failed")


def _written(left: Leavings, folder: re.Pattern[str], name: re.Pattern[str]) -> Iterator[str]:
    for file in written_files(left.command.root, left.started, folder, name):
        yield file.path


def _text(left: Leavings, path: str) -> str:
    try:
        return read_within(left.command.root, path, largest=MAX_REPORT).decode("utf-8", "replace")
    except OSError:
        return ""


CTEST: Final = Runner(
    name="ctest",
    ids="the name given to `add_test`; below it the tests inside the program",
    tools=frozenset({"ctest"}),
    lines=ctest_lines,
    single=ctest_single,
    failing_status=lambda status, _: status == 8,  # noqa: PLR2004 - ctest's own
    kind="harness",
)
MESON: Final = Runner(
    name="meson test",
    ids="`project:suite / name`; below it the tests inside the program",
    tools=frozenset({"meson"}),
    report=meson_report,
    single=meson_single,
    failing_status=lambda status, failed: 0 < status <= failed,  # as many programs as failed
    kind="harness",
)
AUTOMAKE: Final = Runner(
    name="automake",
    ids="path of the test; below it the tests inside the program",
    report=automake_report,
    lines=lambda left: tests_in(_AUTOMAKE_LINES, left.out) or None,
    closing="automake",
    kind="harness",
)
