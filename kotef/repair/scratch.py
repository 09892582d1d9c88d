"""Scratch folders of searches, and the removal of those that a killed search left."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kotef.workspace import start_of

_PREFIX: Final = "kotef-repair-"
_OWNED: Final = re.compile(rf"{_PREFIX}(?P<pid>\d+)-(?P<start>\d+)-(?P<world>\d+)-\w+")


@contextmanager
def scratch(within: Path | None = None) -> Iterator[Path]:
    """A directory of this search alone; those of searches that were killed are removed first.

    It is in `within`, else where temporary files do.

    Its name shows whose it is, so that there is no moment without an owner: process number, start of the process in
    clock ticks since boot, and the namespace in which that number means something.
    """
    place = within or Path(tempfile.gettempdir())
    reap(place)
    own = f"{_PREFIX}{os.getpid()}-{start_of(os.getpid()) or 0}-{_world()}-"
    with tempfile.TemporaryDirectory(prefix=own, dir=place, ignore_cleanup_errors=True) as name:
        yield Path(name)


def reap(place: Path) -> None:
    """Remove directories whose owner is gone for certain: ours by user and namespace, and no such process runs."""
    for path in place.glob(f"{_PREFIX}*"):
        match = _OWNED.fullmatch(path.name)
        if (
            match
            and _is_ours(path)
            and int(match["world"]) == _world()
            and not _runs(int(match["pid"]), match["start"])
        ):
            shutil.rmtree(path, ignore_errors=True)  # what cannot be removed is met again by the next search


def _is_ours(path: Path) -> bool:
    try:
        return path.lstat().st_uid == os.getuid() and not path.is_symlink()
    except OSError:  # another search has just removed it
        return False


def _runs(pid: int, start: str) -> bool:
    """Whether the very process runs; where its start cannot be determined, whether any runs under its number."""
    known = start_of(pid)
    if known is not None:
        return str(known) == start or start == "0"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _world() -> int:
    """Number of the process namespace, 0 if there is none: containers may share the directory, not processes."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0
