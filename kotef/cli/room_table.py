"""The two rooms side by side: what commands may write, and what the checks see."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from rich.table import Table

from kotef.sandbox import Level
from kotef.workspace import find_environments

_NAMED: Final = 3
"""Environments of the workspace that are named in the table."""

_COMPARED: Final = "yes, but compared and put back (with --allow-install: trusted)"


class Shared(NamedTuple):
    """One kind of files, and the access of each room to it."""

    what: str
    commands: str
    """What a command of the coder may write."""
    checks: str
    """What a check that judges sees."""


_WORKSPACE: Final = Shared("files of the workspace", "yes", "as written; tests and their configuration put back")


def rows_of(level: Level, root: Path, tracked: Collection[str]) -> list[Shared]:
    """One row per kind of files, at this level."""
    installed = find_environments(root, tracked)
    return list(_unconfined(installed) if level == "off" else _confined(level, installed))


def _confined(level: Level, installed: Collection[str]) -> Iterator[Shared]:
    read_only = level == "bwrap"
    yield _WORKSPACE
    yield Shared(
        ".git, .sdd",
        "no" if read_only else "yes, but git's own files are put back",
        "as before the run",
    )
    yield Shared("home", "a private one for the whole run", "a fresh one for each check")
    yield Shared("temporary files", "a private folder for the whole run", "a fresh folder for each check")
    yield Shared("caches", "a copy of the baseline's", "a fresh copy for each check")
    held = "no (--allow-install opens them)" if read_only else _COMPARED
    yield Shared(_named(installed), held, "as before the run")
    yield Shared("caches in node_modules", *_caches(read_only=read_only))
    yield Shared("everything else on the machine", "no: read-only or hidden", "as it is on this machine")


def _unconfined(installed: Collection[str]) -> Iterator[Shared]:
    yield _WORKSPACE
    yield Shared(".git, .sdd", "yes, but git's own files are put back", "as before the run")
    yield Shared(_named(installed), _COMPARED, "as before the run")
    yield Shared("everything else on the machine", "whatever you may write", "as it is: nothing is promised")


def _caches(*, read_only: bool) -> tuple[str, str]:
    if read_only:
        return "a private folder instead", "an empty folder for each check"
    return "yes", "removed if a command wrote them"


def _named(installed: Collection[str]) -> str:
    """`installed (.venv, node_modules)`."""
    names = sorted(installed)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"installed: {', '.join(names[:_NAMED])}{more}" if names else "installed environments (none here yet)"


def table_of(rows: Collection[Shared], level: Level) -> Table:
    """A table with one column of file kinds and one for each room."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False, header_style="bold")
    table.add_column(f"at {level}", ratio=2)
    table.add_column("commands may write", ratio=3)
    table.add_column("the checks see", ratio=3)
    for row in rows:
        table.add_row(*row)
    return table
