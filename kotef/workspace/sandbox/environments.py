"""Installed environments of the workspace that commands may read and not write, wherever one has moved them."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from kotef.workspace.facts import facts_of, is_folder
from kotef.workspace.safe_open import directory_within

Number = tuple[int, int]

JS_CACHES: Final = (".cache", ".vite", ".vite-temp", ".vitest")
"""Folders in `node_modules` that test runners and bundlers write while they work."""

Identity = tuple[int, int, str]
"""Device and number of a folder, or of a link with what it leads to."""


class Environments:
    """Open until `close_off` names them: `[setup]` and the checks of the baseline may install.

    A command cannot rename such a folder, for something is mounted over it, but it can rename a folder around it: so
    before each command they are looked up, and sought by what they are if they have gone.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._places: dict[Path, Number] = {}
        self._made: list[Path] = []

    def close_off(self, places: Mapping[str, Identity]) -> None:
        """From now on these are read-only; links to environments elsewhere are none of ours."""
        self._places = {self._root / path: (one[0], one[1]) for path, one in places.items() if not one[2]}
        for path in places:
            if path.rpartition("/")[2] == "node_modules":
                self._made += self._room_for_caches(path)

    def current(self) -> tuple[Path, ...]:
        """Where they are now."""
        if any(_number(path) != number for path, number in self._places.items()):
            self._places = _sought(self._root, self._places)
        return tuple(self._places)

    def caches(self) -> tuple[Path, ...]:
        """Folders in them that tools write while they work: each command has its own instead."""
        modules = (path for path in self.current() if path.name == "node_modules")
        return tuple(path / name for path in modules for name in JS_CACHES if is_folder(path / name))

    def open_again(self) -> None:
        """Nobody runs commands any more: remove the folders for caches that were made here."""
        self._places = {}
        while self._made:
            with suppress(OSError):  # something is in it now
                self._made.pop().rmdir()

    def _room_for_caches(self, modules: str) -> Iterable[Path]:
        """Make the folders that something will be mounted over: only what is there can be."""
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
    """Where the folders are, and what stands in the place of one that is nowhere."""
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
