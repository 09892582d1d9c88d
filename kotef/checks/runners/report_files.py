"""Report files in build folders, and which of them a command wrote."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from kotef.files import parent_within, regular_file_stat, walk_within

_PASSED_OVER: Final = frozenset({".git", ".gradle", ".idea", ".m2", ".venv", "venv", "node_modules", "CMakeFiles"})
_MAX_FOLDERS: Final = 20_000
_MAX_ENTRIES: Final = 20_000
_SLACK: Final = 1.0
"""Seconds: file systems keep times less exactly than the clock."""


class WrittenReport(NamedTuple):
    """A file that a command wrote."""

    path: str
    """From the root."""
    folder: re.Match[str]
    """How the pattern matched its folder."""
    changed: float
    """Seconds since 1970."""


def written_files(
    root: Path,
    started: float,
    folder: re.Pattern[str],
    name: re.Pattern[str],
    *,
    passed_over: frozenset[str] = frozenset(),
) -> Iterator[WrittenReport]:
    """The files below the root that are newer than `started` and whose folder and name match in full.

    Folders named in `passed_over` are not searched.
    """
    never = _PASSED_OVER | passed_over
    for number, here in enumerate(walk_within(root, most=_MAX_ENTRIES)):
        if number > _MAX_FOLDERS:
            return
        here.folders[:] = [name for name in here.folders if name not in never]
        matched = folder.fullmatch(here.path)
        if matched is None:
            continue
        for file in filter(name.fullmatch, here.others):
            path = f"{here.path}/{file}" if here.path else file
            changed = _changed(root, path)
            if changed >= started - _SLACK:
                yield WrittenReport(path, matched, changed)


def _changed(root: Path, path: str) -> float:
    try:
        with parent_within(root, path) as (folder, name):
            facts = regular_file_stat(name, folder)
            return facts.st_mtime if facts else 0.0
    except OSError:
        return 0.0
