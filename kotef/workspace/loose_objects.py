"""The loose objects of kotef's own store, read and written without starting git: contents and trees."""

import hashlib
import os
import re
import secrets
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from kotef.workspace.file_entry import FileEntry

ObjectKind = Literal["blob", "tree"]

_DIRECTORY: Final = "40000"
"""The mode of a tree inside a tree."""
_TREES: Final = 4096
"""Parsed trees that are remembered."""
_ID: Final = re.compile("[0-9a-f]{40}")
_ID_BYTES: Final = 20

_Tree = Mapping[bytes, FileEntry]
"""Name → mode and id of what one folder holds."""


class UnreadableObjectError(Exception):
    """An object that is not here as a loose file, or is damaged: git is to be asked for it."""


class LooseObjects:
    """The `objects` folder of a bare repository. An object is checked against its id whenever it is read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tree = lru_cache(maxsize=_TREES)(self._read_tree)

    def has(self, oid: str) -> bool:
        """Whether there is a file for this object."""
        return self._path(oid).exists()

    def read(self, oid: str, kind: ObjectKind) -> bytes:
        """The content of an object. Raises `UnreadableObjectError`."""
        if not _ID.fullmatch(oid):
            raise UnreadableObjectError(oid)
        try:
            whole = zlib.decompress(self._path(oid).read_bytes())
        except (OSError, zlib.error) as error:
            raise UnreadableObjectError(oid) from error
        header, _, content = whole.partition(b"\0")
        is_whole = hashlib.sha1(whole, usedforsecurity=False).hexdigest() == oid
        if not is_whole or header != b"%s %d" % (kind.encode(), len(content)):
            raise UnreadableObjectError(oid)
        return content

    def write(self, kind: ObjectKind, content: bytes) -> str:
        """Keep an object, unless it is here already; returns its id. Raises `OSError`."""
        whole = b"%s %d\0" % (kind.encode(), len(content)) + content
        oid = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        path = self._path(oid)
        if path.exists():
            return oid
        path.parent.mkdir(exist_ok=True)
        temporary = path.with_name(f"tmp_obj_{secrets.token_hex(4)}")  # git's prune deletes what a killed run left
        try:
            file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
            with open(file, "wb") as stream:  # noqa: PTH123 - a descriptor
                stream.write(zlib.compress(whole, level=1))
            temporary.rename(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        return oid

    def files(self, tree: str) -> dict[str, FileEntry]:
        """Path → mode and id of every file of a tree, sorted as git sorts them. Raises `UnreadableObjectError`."""
        return {os.fsdecode(path): entry for path, entry in self._files(tree, b"")}

    def changed(self, old: str, new: str) -> tuple[str, ...]:
        """Paths of the files that differ between two trees, sorted. Raises `UnreadableObjectError`."""
        return tuple(sorted({os.fsdecode(path) for path in self._differing(old, new, b"")}))

    def updated(self, tree: str, changes: Mapping[str, FileEntry | None]) -> str:
        """The id of a tree with these files changed, added or (None) removed; an empty id stands for the empty tree.

        Only the folders on the way to a change are read and written. Raises `UnreadableObjectError`, also where a
        file and a folder would share a name, and `OSError`.
        """
        names = {os.fsencode(path): entry for path, entry in changes.items()}
        return self._updated(tree, names) or self.write("tree", b"")

    def _path(self, oid: str) -> Path:
        return self._folder / oid[:2] / oid[2:]

    def _read_tree(self, oid: str) -> _Tree:
        if not oid:
            return {}
        content, start = self.read(oid, "tree"), 0
        entries: dict[bytes, FileEntry] = {}
        while start < len(content):
            end = content.index(b"\0", start)
            mode, _, name = content[start:end].partition(b" ")
            start = end + 1 + _ID_BYTES
            entries[name] = FileEntry(mode.decode(), content[end + 1 : start].hex())
        return entries

    def _files(self, tree: str, prefix: bytes) -> Iterator[tuple[bytes, FileEntry]]:
        for name, entry in self._tree(tree).items():
            if entry.mode == _DIRECTORY:
                yield from self._files(entry.oid, prefix + name + b"/")
            else:
                yield prefix + name, entry

    def _differing(self, old: str, new: str, prefix: bytes) -> Iterator[bytes]:
        before, after = self._tree(old), self._tree(new)
        for name in before.keys() | after.keys():
            pair = before.get(name), after.get(name)
            if pair[0] == pair[1]:
                continue
            folders = [entry.oid if entry and entry.mode == _DIRECTORY else "" for entry in pair]
            if any(folders):
                yield from self._differing(folders[0], folders[1], prefix + name + b"/")
            if any(entry and entry.mode != _DIRECTORY for entry in pair):
                yield prefix + name

    def _updated(self, tree: str, changes: Mapping[bytes, FileEntry | None]) -> str:
        """Empty if no file is left: git keeps no empty folders."""
        entries = dict(self._tree(tree))
        here, below = _by_folder(changes)
        for name in here:
            if name in entries and entries[name].mode != _DIRECTORY:
                del entries[name]
        for name, inner in below.items():
            was = entries.pop(name, None)
            if was is not None and was.mode != _DIRECTORY:
                raise UnreadableObjectError(name)
            if folder := self._updated(was.oid if was else "", inner):
                entries[name] = FileEntry(_DIRECTORY, folder)
        for name, entry in here.items():
            if entry is not None and name in entries:
                raise UnreadableObjectError(name)
            if entry is not None:
                entries[name] = entry
        return self.write("tree", _tree_content(entries)) if entries else ""


def _by_folder(
    changes: Mapping[bytes, FileEntry | None],
) -> tuple[dict[bytes, FileEntry | None], dict[bytes, dict[bytes, FileEntry | None]]]:
    """The changes of a folder's own files, and those below each folder in it."""
    here: dict[bytes, FileEntry | None] = {}
    below: dict[bytes, dict[bytes, FileEntry | None]] = {}
    for path, entry in changes.items():
        name, slash, rest = path.partition(b"/")
        if slash:
            below.setdefault(name, {})[rest] = entry
        else:
            here[name] = entry
    return here, below


def _tree_content(entries: _Tree) -> bytes:
    """A folder in git's own form: sorted as if the names of folders ended with a slash."""

    def order(name: bytes) -> bytes:
        return name + b"/" if entries[name].mode == _DIRECTORY else name

    names = sorted(entries, key=order)
    return b"".join(
        b"%s %s\0%s" % (entries[name].mode.encode(), name, bytes.fromhex(entries[name].oid)) for name in names
    )
