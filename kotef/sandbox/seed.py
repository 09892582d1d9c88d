"""The seed: caches that the user's own code and `[setup]` filled. It fills the rooms; commands cannot write it."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from kotef.sandbox.private_home import remove_tree

MOST_BYTES: Final = 1024 * 1024 * 1024
"""Bytes of caches that are copied into a room; larger caches are read in the seed."""
_MOST_FILES: Final = 50_000
_WRITTEN: Final = frozenset({"go-build", "gradle"})
"""Caches whose program fails if it cannot write them: a room lacks them if they are too large to be copied."""
_READ_IN_PLACE: Final = frozenset({"m2", "go-pkg", "cargo-git", "cargo-registry"})
"""Caches that programs can read from a second, read-only place: they are not copied."""


def keep_caches(cache: Path, seed: Path) -> None:
    """Move the caches of a room that is no longer used into the seed.

    No command is running. A cache replaces the seed's cache of that name; those in `_READ_IN_PLACE` are merged into it.
    """
    for entry in _entries(cache):
        if entry.name in _READ_IN_PLACE:
            _merge(entry, seed / entry.name)
        elif _holds_something(entry):
            remove_tree(seed / entry.name)
            with suppress(OSError):
                entry.rename(seed / entry.name)


def copy_caches(seed: Path, cache: Path, *, writable: bool) -> None:
    """Fill `cache`, the empty cache folder of a room, from the seed: small caches are copied, others are linked.

    `writable`: also copy caches that are otherwise read in place, because commands with network access add to them.
    """
    budget, files = MOST_BYTES, _MOST_FILES
    sized = sorted(((*_extent(entry), entry) for entry in _entries(seed)), key=lambda found: found[:2])
    copied = []
    for size, count, entry in sized:
        in_place = entry.name in _READ_IN_PLACE
        if (writable or not in_place) and size <= budget and count <= files:
            budget, files = budget - size, files - count
            copied.append(entry)
        elif not in_place and entry.name not in _WRITTEN:
            (cache / entry.name).symlink_to(entry)
    if copied:
        words = ["cp", "-a", "--reflink=auto", "--", *map(str, copied), str(cache)]
        subprocess.run(words, capture_output=True, check=False)  # an incomplete cache is only slower


def _merge(source: Path, target: Path) -> None:
    """Move the contents of a folder into another one, replacing files of the same name; no link is followed."""
    with suppress(OSError):
        if not target.is_dir() or target.is_symlink():
            target.unlink(missing_ok=True)
            source.rename(target)
            return
        for entry in list(source.iterdir()):
            if entry.is_dir() and not entry.is_symlink():
                _merge(entry, target / entry.name)
            elif not (target / entry.name).is_dir() or (target / entry.name).is_symlink():
                entry.replace(target / entry.name)


def _entries(folder: Path) -> list[Path]:
    """Its folders; files and links are not caches."""
    with suppress(OSError), os.scandir(folder) as found:
        return [Path(entry.path) for entry in found if entry.is_dir(follow_symlinks=False)]
    return []


def _holds_something(folder: Path) -> bool:
    with suppress(OSError), os.scandir(folder) as found:
        return any(True for _ in found)
    return False


def _extent(folder: Path) -> tuple[int, int]:
    """Total bytes and number of files below a folder."""
    found = folder.lstat()
    return _measured(folder, found.st_ino, found.st_ctime_ns)


@lru_cache(maxsize=256)
def _measured(folder: Path, _number: int, _changed: int) -> tuple[int, int]:
    """The same, measured once per state of the folder, since nothing writes the seed."""
    sizes = list(_sizes(folder))
    return sum(sizes), len(sizes)


def _sizes(folder: Path) -> Iterator[int]:
    waiting: list[str] = [str(folder)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry.stat(follow_symlinks=False).st_size
