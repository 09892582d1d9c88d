"""The content of one path of the workspace, and its replacement, without following links."""

import hashlib
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kotef.files import OPEN_FILE, parent_within, regular_file_stat, walk_within, write_new


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file as git knows it."""

    mode: str
    """`100644`, `100755` (the owner may execute it) or `120000` (a symbolic link, its content the target)."""
    oid: str
    """SHA-1 of the blob, 40 hexadecimal digits."""


PLAIN: Final = "100644"
EXECUTABLE: Final = "100755"
LINK: Final = "120000"
UNKNOWN: Final = FileEntry("", "")
"""An entry that no snapshot contains: a device, a file too large or unreadable."""
DIRECTORY: Final = FileEntry("040000", "")
"""A directory with a file somewhere below it, whatever that is."""
_MOST_FOLDERS: Final = 1_000
"""Folders of a tree without files that are looked at; a larger tree counts as one with files."""


def entry_at(root: Path, path: str, *, largest: int) -> FileEntry | None:
    """The entry at `path`; None if there is nothing, or only folders. Files above `largest` bytes are unknown."""
    return content_at(root, path, largest=largest)[0]


def content_at(root: Path, path: str, *, largest: int) -> tuple[FileEntry | None, bytes]:
    """Like `entry_at`, with the content of a file or the target of a link."""
    try:
        with parent_within(root, path) as (directory, name):
            found = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                target = os.fsencode(os.readlink(name, dir_fd=directory))
                return FileEntry(LINK, blob_id(target)), target
            if stat.S_ISDIR(found.st_mode):
                return (None if _folders_alone(root, path) else DIRECTORY), b""
            if not stat.S_ISREG(found.st_mode) or found.st_size > largest:
                return UNKNOWN, b""
            with open(os.open(name, OPEN_FILE, dir_fd=directory), "rb") as file:  # noqa: PTH123 - a descriptor
                content = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None, b""
    except OSError:  # unreadable: whatever it is, it is not known to be ours
        return UNKNOWN, b""
    return FileEntry(EXECUTABLE if found.st_mode & stat.S_IXUSR else PLAIN, blob_id(content)), content


def write_entry(root: Path, path: str, mode: str, content: bytes, permissions: int | None = None) -> None:
    """Make `path` hold this content and mode, atomically, with the directories it needs; raises `OSError`.

    `permissions` are all permission bits, if they are known and agree with the mode; None keeps those of the existing
    file. A directory of that name is replaced if no file is below it; a link is replaced, not followed.
    """
    executable = mode == EXECUTABLE
    known = None if permissions is None or bool(permissions & stat.S_IXUSR) != executable else permissions
    folders = _folders_alone(root, path)
    with parent_within(root, path, create=True) as (directory, name):
        temporary = f".kotef-{secrets.token_hex(8)}.tmp"
        like = regular_file_stat(name, directory)
        try:
            if mode == LINK:
                os.symlink(content, os.fsencode(temporary), dir_fd=directory)
            else:
                bits = executable if known is None else None
                write_new(temporary, content, like=like, mode=known, executable=bits, directory=directory)
            for folder in reversed(folders):
                with parent_within(root, folder) as (above, last):
                    os.rmdir(last, dir_fd=above)
            os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=directory)


def delete_entry(root: Path, path: str) -> None:
    """Remove a file or link, and the directories that leaves empty; raises `OSError`."""
    with parent_within(root, path) as (directory, name):
        os.unlink(name, dir_fd=directory)
    delete_empty(root, path)


def delete_empty(root: Path, path: str) -> None:
    """Remove the parent directories of a path that are empty now."""
    while "/" in path:
        path = path.rpartition("/")[0]
        try:
            with parent_within(root, path) as (directory, name):
                os.rmdir(name, dir_fd=directory)
        except OSError:  # it holds something still
            return


def _folders_alone(root: Path, path: str) -> list[str]:
    """The folders at and below `path`, the outer ones first; empty if there is none, or a file in one of them."""
    folders: list[str] = []
    for walked in walk_within(root, path, most=_MOST_FOLDERS):
        if walked.others or len(folders) == _MOST_FOLDERS:
            return []
        folders.append(walked.path)
    return folders


def blob_id(content: bytes) -> str:
    """The name git gives this content (gitformat: `blob`, its length, NUL, the bytes)."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
