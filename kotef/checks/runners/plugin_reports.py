"""The reports of kotef's plug-ins: one JSON file for each process, with the file, names and status of each test."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from kotef.checks.reports import MAX_REPORT, worse
from kotef.checks.runners.row import Leavings, Statuses
from kotef.checks.types import TestStatus
from kotef.files import list_within, read_within
from kotef.integrity import name_part, numbered

MAX_FILES: Final = 20_000
"""Entries of the folder that are looked at; more is not a report."""

_STATUSES: Final[frozenset[TestStatus]] = frozenset({"passed", "failed", "error", "skipped", "xfailed", "xpassed"})
_JEST: Final[dict[str, TestStatus]] = {"passed": "passed", "failed": "failed"}


class DamagedReportError(ValueError):
    """A report that is truncated, too large or malformed."""


def recorded(folder: Path, root: Path, runners: Iterable[str], *, repeats: bool = True) -> Statuses | None:
    """The tests in all files whose names begin with one of the runners; None if there is no file or one is damaged.

    If an id occurs more than once, its worst status counts. Without `repeats`, tests of the same name in a report are
    different tests: the second is called `name (2)`.
    """
    try:
        entries = list_within(folder, most=MAX_FILES + 1)
        names = [entry.name for entry in entries if entry.name.endswith(".json")]
        wanted = [name for name in names if name.startswith(tuple(f"{runner}-" for runner in runners))]
        if not wanted or len(entries) > MAX_FILES:
            return None
        return _merged(folder, root.resolve(), wanted, repeats=repeats)
    except (OSError, DamagedReportError):
        return None


def report_of(runner: str, *, repeats: bool = True) -> Callable[[Leavings], Statuses | None]:
    """A reader of what the processes of this runner recorded; see `recorded`."""
    return lambda left: recorded(left.command.folder, left.command.root, (runner,), repeats=repeats)


def place_of(file: str, module: str, root: Path) -> str:
    """The first part of an id: the path from the root, else the name of the module or package."""
    if not file:
        return name_part(module)
    try:
        inside = Path(file).relative_to(root).as_posix()
    except ValueError:
        return name_part(module) or name_part(Path(file).name)
    return name_part(module) if inside == "." else name_part(inside)


def _merged(folder: Path, root: Path, names: Iterable[str], *, repeats: bool) -> Statuses:
    left = MAX_REPORT
    tests: Statuses = {}
    for name in names:
        content = read_within(folder, name, largest=left)
        left -= len(content)
        seen: Counter[str] = Counter()
        for file, module, parts, status in _entries(content):
            test = "::".join([place_of(file, module, root), *map(name_part, parts)])
            if not repeats and parts:
                test = numbered(seen, test)
            tests[test] = worse(tests[test], status) if test in tests else status
    return tests


def _entries(content: bytes) -> Iterable[tuple[str, str, list[str], TestStatus]]:
    """File, module, names and status of each test; of Vitest's own report too."""
    try:
        report = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DamagedReportError from error
    if not isinstance(report, dict):
        raise DamagedReportError
    if "testResults" in report:
        return _of_vitest(report["testResults"])
    return _of_plugin(report.get("tests"))


def _of_plugin(tests: Any) -> Iterable[tuple[str, str, list[str], TestStatus]]:
    for entry in _listed(tests):
        match entry:
            case [str(file), str(module), list(names), str(status)] if status in _STATUSES:
                if not (file or module or names) or not all(isinstance(name, str) for name in names):
                    raise DamagedReportError
                yield file, module, names, status
            case _:
                raise DamagedReportError


def _of_vitest(files: Any) -> Iterable[tuple[str, str, list[str], TestStatus]]:
    for file in _listed(files):
        match file:
            case {"name": str(path), "assertionResults": list(found)}:
                for test in found:
                    yield path, "", *_of_assertion(test)
                if not found and file.get("status") == "failed":
                    yield path, "", [], "error"
            case _:
                raise DamagedReportError


def _of_assertion(test: Any) -> tuple[list[str], TestStatus]:
    match test:
        case {"ancestorTitles": list(above), "title": str(title), "status": str(status)}:
            names = [str(name) for name in (*above, title) if name]
            return names, _JEST.get(status, "skipped")
        case _:
            raise DamagedReportError


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise DamagedReportError
    return value
