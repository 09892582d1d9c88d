"""The folder `.sdd` of a workspace: links and other files at the paths that kotef writes are refused."""

import os
import stat
from pathlib import Path
from typing import Final

from kotef.errors import SpecError
from kotef.files import list_within

FOLDER: Final = ".sdd"
RUNS: Final = ".sdd/runs"
_MOST: Final = 20_000
"""Entries of `.sdd/runs` that are checked."""
_PLAIN: Final = "remove it, or put a plain {wanted} in its place"


def refuse_misplaced(root: Path) -> None:
    """Refuse a workspace whose `.sdd` or `.sdd/runs` is a link or not a directory, or in which a run is a link.

    kotef writes there, and a link could lead a write out of the workspace. Missing folders are fine.

    Raises `SpecError` that names the path and the way out.
    """
    for name in (FOLDER, RUNS):
        try:
            kind = os.lstat(root / name).st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _unreadable(name, error) from error
        if not stat.S_ISDIR(kind):
            raise _misplaced(name, kind, "directory")
    _refuse_linked_runs(root)


def _refuse_linked_runs(root: Path) -> None:
    try:
        entries = list_within(root, RUNS, most=_MOST)
        linked = [entry.name for entry in entries if entry.is_link and not entry.name.startswith(".")]
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unreadable(RUNS, error) from error
    if linked:
        raise _misplaced(f"{RUNS}/{linked[0]}", stat.S_IFLNK, "file or directory")


def _misplaced(name: str, kind: int, wanted: str) -> SpecError:
    what = "a symbolic link" if stat.S_ISLNK(kind) else f"not a {wanted}"
    return SpecError(name, f"is {what}", hint=_PLAIN.format(wanted=wanted))


def _unreadable(name: str, error: OSError) -> SpecError:
    return SpecError(name, f"cannot be read: {(error.strerror or str(error)).lower()}", hint="check its owner and mode")
