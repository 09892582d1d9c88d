"""PHPUnit and Pest: their JUnit report, requested by a file that PHP runs before each program."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from kotef.checks.reports import status_of
from kotef.checks.runners.plugin_reports import place_of
from kotef.checks.runners.plugins import copy_of, settings_file
from kotef.checks.runners.row import REPORT_FOLDER, Leavings, Runner, RunnerCommand, Statuses
from kotef.checks.runners.xml_reports import cases_in
from kotef.checks.types import TestStatus
from kotef.integrity import test_id

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_CHOICE: Final = re.compile(r"--(?:filter|group|exclude-group|testsuite|stop-on-\w+|order-by|list-\w+)(?:=.*)?")
_OPTION_WITH_VALUE: Final = re.compile(r"-[cd]|--(?:configuration|bootstrap|cache-result-file|test-suffix|columns)")


def php_environment(command: RunnerCommand, env: Mapping[str, str]) -> dict[str, str]:
    """An additional settings folder that sets `auto_prepend_file`."""
    folder = copy_of(command.folder, "phpunit_report.php")
    path = folder / "phpunit_report.php"
    if re.search(r"[\"$\n]", str(path)):
        return {}
    settings_file(folder / "kotef.ini", f'auto_prepend_file="{path}"\n')
    before = env.get("PHP_INI_SCAN_DIR", "")  # empty: where PHP itself looks
    return {REPORT_FOLDER: str(command.folder), "PHP_INI_SCAN_DIR": f"{before}:{folder}"}


def php_report(left: Leavings) -> Statuses | None:
    """The tests of all reports, one for each process."""
    root = left.command.root.resolve()

    def cases(report: "Element") -> Iterator[tuple[str, TestStatus]]:
        for case in report.iter("testcase"):
            name = case.get("class") or case.get("classname") or ""
            place = place_of((case.get("file") or "").partition("::")[0], name, root)
            yield test_id(place, re.split(r"[\\.]", name)[-1], case.get("name") or ""), _status(case)

    return cases_in(left.command.folder, r"phpunit-\d+\.xml", cases)


def _status(case: "Element") -> TestStatus:
    """A risky test is reported as an error although it passed."""
    kinds = [(child.tag, child.get("type") or "") for child in case]
    return status_of((tag, kind) for tag, kind in kinds if "Risky" not in kind)


def php_single(arguments: Sequence[str], tests: Sequence[str], exists: Callable[[str], bool]) -> list[str] | None:
    """`--filter` with the names, and the files of the tests."""
    parts = [test.split("::") for test in tests]
    is_named = all(len(names) >= 3 for names in parts)  # noqa: PLR2004 - file, class, test
    if not is_named or any(_CHOICE.fullmatch(word) for word in arguments):
        return None

    files = dict.fromkeys(names[0] for names in parts)
    if len(files) > 1 or not all(map(exists, files)):
        files = dict.fromkeys(())
    kept: list[str] = []
    for word in arguments:
        is_value = bool(kept) and _OPTION_WITH_VALUE.fullmatch(kept[-1]) is not None
        is_place = bool(files) and exists(word) and not word.startswith("-")
        if is_value or not is_place:
            kept.append(word)

    names = dict.fromkeys(f"{re.escape(above)}::{re.escape('::'.join(rest))}" for _, above, *rest in parts)
    return [*kept, "--filter", rf"/(?:^|\\)(?:{'|'.join(names)})$/".replace("\\ ", " "), *files]


PHPUNIT: Final = Runner(
    name="PHPUnit, Pest",
    ids="`path::Class::test`, with the data set as PHPUnit names it",
    tools=frozenset({"phpunit", "pest"}),
    environment=php_environment,
    closing="phpunit",
    report=php_report,
    single=php_single,
    failing_status=lambda status, _: status in {1, 2},  # 2: errors
)
