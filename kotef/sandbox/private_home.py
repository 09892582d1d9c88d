"""Folders in which commands keep their home, their temporary files and their caches."""

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

PARTS: Final = ("home", "tmp", "cache")
_PREFIX: Final = "room-"
_LOCK: Final = "lock"
_HELD: Final[dict[Path, int]] = {}
"""Room → descriptor of its lock; the kernel releases the locks when this process ends."""


def take_room(place: Path) -> Path:
    """A fresh folder below `place` with an empty `home`, `tmp` and `cache`, this process's own until it leaves it.

    Every command starts with an empty folder: an earlier one could have left a `sitecustomize.py` there, or a link in
    place of a folder.
    """
    room = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
    lock = os.open(room / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    _HELD[room] = lock
    for name in PARTS:
        (room / name).mkdir(mode=0o700)
    (room / "empty").touch(mode=0o400)
    return room


def leave_room(room: Path) -> None:
    """Remove a room of this process; what cannot be removed is left for `clear_rooms` of a later process."""
    remove_tree(room)
    if (lock := _HELD.pop(room, None)) is not None:
        os.close(lock)


def clear_rooms(place: Path) -> None:
    """Remove the rooms whose process has ended."""
    for left in place.glob(f"{_PREFIX}*"):
        _clear(left)


def remove_tree(path: Path) -> None:
    """Remove a folder that commands filled, including folders without owner permissions; ignores what remains."""
    with suppress(OSError):
        shutil.rmtree(path, onerror=_opened)


def _clear(room: Path) -> None:
    """Remove a room that no one holds; what resists is left for the next time."""
    with suppress(OSError):
        lock = os.open(room / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(room, onerror=_opened)
        finally:
            os.close(lock)


def _opened(remove: Callable[[str], object], path: str, _: object) -> None:
    """Again, for a folder that a command has closed to its owner."""
    above = os.path.dirname(path)  # noqa: PTH120  rmtree speaks in strings
    for folder in (above, path):
        if stat.S_ISDIR(os.lstat(folder).st_mode):
            os.chmod(folder, 0o700)  # noqa: PTH101  the same
    if remove in {os.open, os.scandir, os.listdir, os.lstat}:
        shutil.rmtree(path)
    else:
        remove(path)
