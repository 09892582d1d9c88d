"""An in-memory copy of a small folder of the workspace, from which the folder is restored after a command.

Every name is opened from the workspace down without following links, because the command may have planted some.
"""

import errno
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from kotef.errors import WorkspaceError
from kotef.files.paths import os_fault, write_atomic
from kotef.files.safe_open import (
    chmod_within,
    directory_within,
    list_within,
    parent_within,
    read_within,
    remove_within,
    write_within,
)

LARGEST: Final = 16 * 1024 * 1024
"""Bytes of one file."""
LARGEST_ALTOGETHER: Final = 64 * 1024 * 1024
MOST: Final = 10_000
"""Files, links and folders in total."""
_MOST_ASIDE: Final = 200
"""Files of a removed folder that are copied aside."""
_LARGEST_ASIDE: Final = 1024 * 1024

_FOLDER_MODE: Final = 0o755
_FILE_MODE: Final = 0o644

_OWN_WRITES: Final[dict[Path, bytes]] = {}
"""Path → content of kotef's own last write in a folder that commands may not change."""


def note_own_write(path: Path, content: bytes) -> None:
    """Record that kotef itself wrote a file, so that the file is not put back to an earlier state."""
    _OWN_WRITES[path] = content


class _CopiedEntry(NamedTuple):
    mode: int
    """File type and permissions."""
    content: bytes | None = None
    """A file's bytes or a link's target; None for a folder, and for a file that is too large or cannot be read."""
    signature: tuple[int, ...] = ()
    """Inode, size and times: if they are unchanged, so is the content. Empty for what kotef wrote itself."""


class FolderCopy:
    """The remembered content of one folder of the workspace; one instance per run."""

    def __init__(self, root: Path, folder: str, *, without: Collection[str] = ()) -> None:
        """`without` are names in the folder that are ignored."""
        self._root, self._folder = Path(os.path.realpath(root)), folder
        self._without = {f"{folder}/{name}" for name in without}
        self._entries: dict[str, _CopiedEntry] | None = None

    def look(self) -> None:
        """Remember the current content. Raises `WorkspaceError` if it is too large or cannot be read."""
        known, self._entries = self._entries or {}, None
        try:
            entries = self._copied(known)
        except OSError as error:
            raise os_fault(self._root / self._folder, error) from error
        for own in self._own_writes():
            del _OWN_WRITES[self._root / own]
        self._entries = entries

    def _copied(self, known: dict[str, _CopiedEntry]) -> dict[str, _CopiedEntry]:
        """The current content of the folder; unchanged entries are taken from `known`."""
        entries, size = {}, 0
        for path, facts in self._found():
            entries[path] = self._entry(path, facts, known.get(path))
            size += len(entries[path].content or b"")
            if len(entries) > MOST or size > LARGEST_ALTOGETHER:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        return entries

    def put_back(self, aside: Path) -> tuple[str, ...]:
        """Restore the content of the last `look`; returns the names in the folder that differed, sorted.

        Replaced content is copied into `aside`. Raises `WorkspaceError` if something cannot be put back.
        """
        if self._entries is None:
            return ()
        try:
            known = self._with_own_writes(self._entries)
            names = [*self._folders(known), *self._extra(known, aside), *self._changed(known, aside)]
        except OSError as error:
            why = f"cannot be put back: {(error.strerror or str(error)).lower()}"
            raise WorkspaceError(self._root / self._folder, why, hint="check it by hand") from error
        return tuple(sorted({self._name(path) for path in names}))

    def _own_writes(self) -> list[str]:
        """Paths that kotef wrote here since the last `look`."""
        here = self._root / self._folder
        return [path.relative_to(self._root).as_posix() for path in _OWN_WRITES if path.is_relative_to(here)]

    def _with_own_writes(self, entries: dict[str, _CopiedEntry]) -> dict[str, _CopiedEntry]:
        """`entries` plus what kotef wrote since then, and the folders it made for that."""
        known = dict(entries)
        for path in self._own_writes():
            for above in Path(path).parents:
                folder = above.as_posix()
                if folder.startswith(self._folder) and folder not in known:
                    known[folder] = _CopiedEntry(stat.S_IFDIR | _FOLDER_MODE)
            mode = known[path].mode if path in known else stat.S_IFREG | _FILE_MODE
            known[path] = _CopiedEntry(mode, _OWN_WRITES[self._root / path])
        return known

    def _folders(self, known: dict[str, _CopiedEntry]) -> Iterator[str]:
        """Restore folders first, from the top down, because the other entries are reached through them."""
        for path in sorted(known):
            was = known[path]
            now = self._facts(path)
            if not stat.S_ISDIR(was.mode) or (now and now.st_mode == was.mode):
                continue
            is_folder = now is not None and stat.S_ISDIR(now.st_mode)
            if is_folder and not was.signature:  # kotef made this folder; any mode is fine
                continue
            if not is_folder:
                remove_within(self._root, path)
                with parent_within(self._root, path) as (directory, name):
                    os.mkdir(name, dir_fd=directory)
            chmod_within(self._root, path, stat.S_IMODE(was.mode), folder=True)
            yield path

    def _extra(self, known: dict[str, _CopiedEntry], aside: Path) -> Iterator[str]:
        """Remove what is new, whole folders at once."""
        if self._folder not in known and not self._is_folder(self._folder):
            if self._facts(self._folder):
                remove_within(self._root, self._folder)
                yield self._folder
            return
        for path, _ in list(self._found(into=known)):
            if path not in known and path != self._folder:
                self._keep_aside(path, aside)
                remove_within(self._root, path)
                yield path

    def _changed(self, known: dict[str, _CopiedEntry], aside: Path) -> Iterator[str]:
        """Restore files and links that differ."""
        for path, was in known.items():
            if stat.S_ISDIR(was.mode) or was.content is None:
                continue
            facts = self._facts(path)
            now = self._entry(path, facts, was) if facts else None
            if now and now.content == was.content and (now.mode == was.mode or not was.signature):
                continue
            self._keep_aside(path, aside)
            self._write(path, was.mode, was.content)
            yield path

    def _write(self, path: str, mode: int, content: bytes) -> None:
        if not stat.S_ISLNK(mode):
            if self._is_folder(path):
                remove_within(self._root, path)
            write_within(self._root, path, content, mode=stat.S_IMODE(mode))
            return
        remove_within(self._root, path)
        with parent_within(self._root, path, create=True) as (directory, name):
            os.symlink(os.fsdecode(content), name, dir_fd=directory)

    def _found(self, into: Collection[str] | None = None) -> Iterator[tuple[str, os.stat_result]]:
        """The folder and everything below it; only the folders in `into` are entered (None: all).

        Entries that disappear during the walk are skipped.
        """
        facts = self._facts(self._folder)
        waiting = [self._folder] if facts and stat.S_ISDIR(facts.st_mode) else []
        if facts and waiting:
            yield self._folder, facts
        while waiting:
            folder = waiting.pop()
            with suppress(FileNotFoundError, NotADirectoryError), directory_within(self._root, folder) as directory:
                for name in os.listdir(directory):  # noqa: PTH208  an open directory
                    path = f"{folder}/{name}"
                    if path in self._without:
                        continue
                    with suppress(FileNotFoundError):
                        facts = os.stat(name, dir_fd=directory, follow_symlinks=False)
                        yield path, facts
                        if stat.S_ISDIR(facts.st_mode) and (into is None or path in into):
                            waiting.append(path)

    def _entry(self, path: str, facts: os.stat_result, known: _CopiedEntry | None) -> _CopiedEntry:
        signature = (facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
        if known and known.signature == signature and known.mode == facts.st_mode:
            return known
        content = None
        with suppress(OSError):
            if stat.S_ISLNK(facts.st_mode):
                with parent_within(self._root, path) as (directory, name):
                    content = os.fsencode(os.readlink(name, dir_fd=directory))
            elif stat.S_ISREG(facts.st_mode):
                content = read_within(self._root, path, largest=LARGEST)
        return _CopiedEntry(facts.st_mode, content, signature)

    def _facts(self, path: str) -> os.stat_result | None:
        try:
            with parent_within(self._root, path) as (directory, name):
                return os.stat(name, dir_fd=directory, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _is_folder(self, path: str) -> bool:
        facts = self._facts(path)
        return facts is not None and stat.S_ISDIR(facts.st_mode)

    def _keep_aside(self, path: str, aside: Path) -> None:
        """Copy files that a person may want to see; unreadable and large ones are skipped."""
        files = [path]
        if self._is_folder(path):
            with suppress(OSError):
                listed = list_within(self._root, path, most=_MOST_ASIDE)
                files = [f"{path}/{entry.name}" for entry in listed if entry.is_file]
        for file in files:
            with suppress(OSError):
                content = read_within(self._root, file, largest=_LARGEST_ASIDE)
                write_atomic(aside / self._name(file), content)

    def _name(self, path: str) -> str:
        return path.removeprefix(f"{self._folder}/")
