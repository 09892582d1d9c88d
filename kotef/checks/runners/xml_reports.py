"""A reader for XML reports below a folder."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kotef.checks.reports import MAX_REPORT, xml_root
from kotef.checks.runners.line_reports import add
from kotef.checks.runners.plugin_reports import DamagedReportError
from kotef.checks.runners.row import Statuses
from kotef.checks.types import TestStatus
from kotef.files import read_within, walk_within

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MAX_FILES: Final = 20_000


def documents(folder: Path, paths: Iterable[str]) -> Iterator[tuple[str, "Element"]]:
    """Path and root element of each file.

    Raises `DamagedReportError` if a file cannot be read or parsed, or if all together are too large.
    """
    budget = MAX_REPORT
    for path in paths:
        try:
            xml = read_within(folder, path, largest=budget)
        except OSError as error:
            raise DamagedReportError from error
        budget -= len(xml)
        root = xml_root(xml)
        if root is None:
            raise DamagedReportError
        yield path, root


def cases_in(
    folder: Path, files: str, cases: Callable[["Element"], Iterable[tuple[str, TestStatus]]]
) -> Statuses | None:
    """The tests of all files whose path from the folder matches; None if there is no file or one is damaged."""
    pattern = re.compile(files)
    tests: Statuses = {}
    found = False
    try:
        for _, root in documents(folder, filter(pattern.fullmatch, _files(folder))):
            found = True
            for test, status in cases(root):
                add(tests, test, status)
    except DamagedReportError:
        return None
    return tests if found else None


def _files(folder: Path) -> Iterator[str]:
    for below in walk_within(folder, most=_MAX_FILES):
        yield from (f"{below.path}/{name}".lstrip("/") for name in below.others)
