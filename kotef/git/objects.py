"""Protection of the user's git objects from commands that delete them."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from kotef.errors import WorkspaceError
from kotef.files import os_fault

_MOST: Final = 100_000
"""Files linked; a repository with more must be packed first."""


class GitObjects:
    """Hard links to the files of `objects/`: they cost no room, and what is deleted there is still here.

    They protect from deletion (`rm -rf .git`, `git gc --prune=now`), not from a program that overwrites one in place.
    """

    def __init__(self, objects: Path, store: Path) -> None:
        """`store` must be on the file system of `objects`."""
        self.objects, self.store = objects, store
        self._kept: frozenset[str] = frozenset()

    def keep(self) -> None:
        """Link what is there now. Raises `WorkspaceError` if that cannot be."""
        names = frozenset(_files(self.objects))
        if len(names) > _MOST:
            raise WorkspaceError(self.objects, f"holds more than {_MOST:,} files", hint="`git gc` packs them")
        try:
            self.store.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name in names.difference(_files(self.store)):
                link(self.objects / name, self.store / name)
        except FileNotFoundError:  # someone packs them just now: what is packed was linked, or is next time
            return
        except OSError as error:
            raise os_fault(self.objects, error) from error
        finally:
            self._kept = names

    def bring_back(self) -> int:
        """Link back what is gone; returns how many files. Raises `OSError`."""
        gone = self._kept.difference(_files(self.objects))
        for name in gone:
            with suppress(FileNotFoundError):
                link(self.store / name, self.objects / name)
        return len(gone)


def drop_kept_objects(store: Path) -> None:
    """The run is over, and git has its objects."""
    shutil.rmtree(store, ignore_errors=True)


def _files(objects: Path) -> Iterator[str]:
    """Loose objects and packs, relative to the directory."""
    try:
        directories = [entry.name for entry in os.scandir(objects) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return
    for directory in directories:
        if len(directory) == 2 or directory == "pack":  # noqa: PLR2004  the first byte of an id, in hexadecimal
            with suppress(OSError):
                yield from (f"{directory}/{entry.name}" for entry in os.scandir(objects / directory))


def link(source: Path, target: Path) -> None:
    """Make a hard link at `target` if it is missing; a copy if the file system has no hard links."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        if not source.exists():
            raise
        target.parent.mkdir(parents=True, exist_ok=True)
        link(source, target)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK):
            raise
        shutil.copy2(source, target)
