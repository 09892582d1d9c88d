"""A reader for XML reports below a folder, whichever tool wrote them."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kotef.checks.model import TestStatus
from kotef.checks.reports import MAX_REPORT, xml_root
from kotef.checks.runners.lines import add
from kotef.checks.runners.row import Statuses
from kotef.workspace.safe_open import read_within, walk_within

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MAX_FILES: Final = 20_000


def cases_in(
    folder: Path, files: str, cases: Callable[["Element"], Iterable[tuple[str, TestStatus]]]
) -> Statuses | None:
    """The tests of all files whose path from the folder matches; None without one, or where one is damaged."""
    pattern = re.compile(files)
    tests: Statuses = {}
    budget = MAX_REPORT
    found = False
    for below in walk_within(folder, most=_MAX_FILES):
        for name in below.others:
            path = f"{below.path}/{name}".lstrip("/")
            if not pattern.fullmatch(path):
                continue
            try:
                xml = read_within(folder, path, largest=budget)
            except OSError:
                return None
            budget -= len(xml)
            root = xml_root(xml)
            if root is None:
                return None
            found = True
            for test, status in cases(root):
                add(tests, test, status)
    return tests if found else None
