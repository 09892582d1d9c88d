"""TAP, from the output or from the files that Perl's harness saves."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from kotef.checks.reports import MAX_REPORT
from kotef.checks.runners.line_reports import add
from kotef.checks.runners.row import Leavings, Runner, RunnerCommand, Statuses
from kotef.checks.tap import TapStream, leaves, read_tap
from kotef.files import read_within, walk_within
from kotef.integrity import name_part, numbered, test_id

_PERL_FOLDER: Final = "perl"
_MAX_FILES: Final = 20_000


def tests_of_tap(lines: Iterable[str]) -> Statuses | None:
    """The tests of one or more streams; None without a plan, or if points are missing."""
    stream = read_tap(lines)
    return _tests(stream) if stream.is_whole else None


def _tests(stream: TapStream, place: str = "") -> Statuses | None:
    """The points by their names; the second of the same name is `name [2]`."""
    tests: Statuses = {}
    seen: Counter[str] = Counter()
    for point in leaves(stream.points):
        tests[numbered(seen, test_id(place, *point.names), "[{}]")] = point.status
    return tests or None


def perl_environment(command: RunnerCommand, env: Mapping[str, str]) -> dict[str, str]:
    """The folder in which Perl's harness saves the output of each test file."""
    if "PERL_TEST_HARNESS_DUMP_TAP" in env:
        return {}
    return {"PERL_TEST_HARNESS_DUMP_TAP": str(command.folder / _PERL_FOLDER)}


def perl_report(left: Leavings) -> Statuses | None:
    """The points of each file; a file with fewer points than planned, or none, is an error."""
    tests: Statuses = {}
    root = left.command.root.resolve()
    for folder in walk_within(left.command.folder, _PERL_FOLDER, most=_MAX_FILES):
        for name in folder.others:
            path = f"{folder.path}/{name}"
            try:
                text = read_within(left.command.folder, path, largest=MAX_REPORT).decode("utf-8", "replace")
            except OSError:
                return None
            inside = path.removeprefix(f"{_PERL_FOLDER}/")
            place = os.path.relpath(f"/{inside}", root) if f"/{inside}".startswith(f"{root}/") else inside
            stream = read_tap(text.splitlines())
            for test, status in (_tests(stream, place) or {}).items():
                add(tests, test, status)
            if not stream.points or not stream.is_whole:
                add(tests, name_part(place), "skipped" if stream.is_whole else "error")
    return tests or None


def perl_single(arguments: Sequence[str], tests: Sequence[str], exists: Callable[[str], bool]) -> list[str] | None:
    """The files of the tests, because a single point cannot be selected."""
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    if not all(map(exists, files)) or any(word in {"--state", "-"} for word in arguments):
        return None
    return [*(word for word in arguments if word.startswith("-") and word not in {"-r", "-s"}), *files]


PROVE: Final = Runner(
    name="prove",
    ids="`path::name`, or the number of the point; for a file that was skipped or did not end, its path",
    tools=frozenset({"prove"}),
    environment=perl_environment,
    closing="prove",
    report=perl_report,
    single=perl_single,
)
TAP: Final = Runner(
    name="TAP", ids="`subtest::name`, or the number of the point", lines=lambda left: tests_of_tap(left.out)
)
