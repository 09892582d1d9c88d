"""Installed environments of the workspace that commands may read but not write, even after a folder was renamed."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from kotef.files import directory_within, facts_of, is_folder

Number = tuple[int, int]

JS_CACHES: Final = (".cache", ".vite", ".vite-temp", ".vitest")
"""Folders in `node_modules` that test runners and bundlers write while they run."""

Identity = tuple[int, int, str]
"""Device and inode number of a folder; of a link also its target."""


class Environments:
    """The environments are writable until `close_off`, because `[setup]` and the baseline's checks may install.

    A command cannot rename an environment, because it is a mount point, but it can rename a parent folder. Before each
    command the environments are therefore looked up, and searched for by inode number if they have moved.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._places: dict[Path, Number] = {}
        self._made: list[Path] = []

    def close_off(self, places: Mapping[str, Identity]) -> None:
        """Make these read-only from now on, except links to environments elsewhere."""
        self._places = {self._root / path: (one[0], one[1]) for path, one in places.items() if not one[2]}
        for path in places:
            if path.rpartition("/")[2] == "node_modules":
                self._made += self._room_for_caches(path)

    def current(self) -> tuple[Path, ...]:
        """The current paths of the environments."""
        if any(_number(path) != number for path, number in self._places.items()):
            self._places = _sought(self._root, self._places)
        return tuple(self._places)

    def caches(self) -> tuple[Path, ...]:
        """Folders in them that tools write while they run; each command gets a private one instead."""
        modules = (path for path in self.current() if path.name == "node_modules")
        return tuple(path / name for path in modules for name in JS_CACHES if is_folder(path / name))

    def open_again(self) -> None:
        """Called after the last command: remove the cache folders that were made here."""
        self._places = {}
        while self._made:
            with suppress(OSError):  # it is no longer empty
                self._made.pop().rmdir()

    def _room_for_caches(self, modules: str) -> Iterable[Path]:
        """Make the cache folders, because only an existing folder can be a mount point."""
        place = self._root / modules
        wanted: tuple[str, ...] = ()
        if any((place / name).exists() for name in ("vite", "vitest")):
            wanted = JS_CACHES
        elif "/" not in modules:
            wanted = JS_CACHES[:1]
        for name in wanted:
            with suppress(OSError), directory_within(self._root, modules) as folder:
                os.mkdir(name, mode=0o755, dir_fd=folder)
                yield place / name


def _number(path: Path) -> Number | None:
    facts = facts_of(path)
    return (facts.st_dev, facts.st_ino) if facts is not None else None


def _sought(root: Path, places: Mapping[Path, Number]) -> dict[Path, Number]:
    """The current paths of the folders; one that is not found at all is dropped."""
    wanted = set(places.values())
    found = {path: number for path, number in places.items() if _number(path) == number}
    missing = wanted - set(found.values())
    for directory, names, _ in os.walk(root):
        if not missing:
            break
        for name in list(names):
            path = Path(directory, name)
            if (number := _number(path)) in missing and number is not None:
                found[path] = number
                missing.discard(number)
                names.remove(name)
    return found
