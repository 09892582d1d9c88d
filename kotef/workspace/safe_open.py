"""Opening, listing, writing and removing files below a folder in which others may plant links, pipes or devices.

Every name that a repository, a command or a model can choose goes through here: one component at a time, no links,
regular files only, bounded.
"""

import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

TEMPORARY: Final = re.compile(r"\.kotef-[0-9a-f]{16}\.tmp")
"""Names of files that `write_within` has not finished; a killed run may leave one behind."""
OPEN_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
OPEN_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Without waiting: a pipe that nobody writes into is opened at once, and then refused for what it is."""


@contextmanager
def parent_within(root: Path, path: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
    """The open directory a path lies in, reached from the root without following a link, and its name there.

    `path` is relative to `root`, with `/`, and has neither `.` nor `..` in it. Raises `OSError`.
    """
    *directories, name = path.split("/")
    with _opened(root, path, directories, create=create, last=name) as directory:
        yield directory, name


@contextmanager
def directory_within(root: Path, path: str) -> Iterator[int]:
    """An open directory, reached in the same way; `.` is the root itself. Raises `OSError`."""
    parts = [] if path == "." else path.split("/")
    with _opened(root, path, parts) as directory:
        yield directory


@contextmanager
def _opened(root: Path, path: str, parts: list[str], *, create: bool = False, last: str = "x") -> Iterator[int]:
    if not {"", ".", ".."}.isdisjoint((*parts, last)):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    current = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=current)
            deeper = os.open(part, OPEN_DIRECTORY, dir_fd=current)
            os.close(current)
            current = deeper
        yield current
    finally:
        os.close(current)


def read_within(root: Path, path: str, *, largest: int) -> bytes:
    """The bytes of a regular file below `root`; no link is followed, no pipe or device waited for.

    Raises `OSError`: `EFBIG` above `largest` bytes, `EINVAL` for what is no regular file.
    """
    with parent_within(root, path) as (directory, name):
        file = os.open(name, OPEN_FILE, dir_fd=directory)
    return _read(file, path, largest)


def read_regular(path: Path, *, largest: int) -> bytes:
    """The bytes of a regular file wherever a link leads; as `read_within` it waits for nothing. Raises `OSError`."""
    return _read(os.open(path, OPEN_FILE & ~os.O_NOFOLLOW), str(path), largest)


def _read(file: int, path: str, largest: int) -> bytes:
    with open(file, "rb") as stream:
        mode = os.fstat(file).st_mode
        if not stat.S_ISREG(mode):
            kind = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
            raise OSError(kind, "is not a regular file", path)
        content = stream.read(largest + 1)  # what it says of its size may be wrong by now
    if len(content) > largest:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return content


def regular(name: str, directory: int) -> os.stat_result | None:
    """What is known of a regular file in an open directory; None of anything else, and of nothing. Raises `OSError`."""
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def is_below(path: str) -> bool:
    """Whether a name, relative and with `/`, can only mean something below the folder it is said of."""
    return {"", ".", ".."}.isdisjoint(path.removesuffix("/").split("/"))


class Listed(NamedTuple):
    """One entry of a folder."""

    name: str
    is_directory: bool
    """A real one: a link to a directory is not."""
    is_file: bool
    """A regular file: a link, a pipe, a socket or a device is not."""
    is_link: bool = False


def list_within(root: Path, path: str = ".", *, most: int) -> list[Listed]:
    """The entries of a folder below `root`, sorted by name; of more than `most` the first that the system gives.

    Raises `OSError` where a component of the path is missing, a link or no folder.
    """
    found = []
    with directory_within(root, path) as directory, os.scandir(directory) as entries:
        for entry in islice(entries, most):
            is_directory, is_file = entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False)
            found.append(Listed(entry.name, is_directory, is_file, entry.is_symlink()))
    return sorted(found)


def write_within(root: Path, path: str, content: bytes, *, mode: int | None = None) -> None:
    """Write a file so that at any moment it has its old content or the new one; missing folders are made.

    An existing regular file keeps its mode, where there is no `mode`, and, where permitted, its owner; a link, pipe or
    socket of that name is replaced, not followed. Raises `OSError`.
    """
    temporary = f".kotef-{secrets.token_hex(8)}.tmp"
    with parent_within(root, path, create=True) as (directory, name):
        try:
            write_new(temporary, content, like=regular(name, directory), mode=mode, directory=directory)
            os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        finally:
            with suppress(OSError):  # it is gone when all went well, and when it could not be made
                os.unlink(temporary, dir_fd=directory)


def append_within(root: Path, path: str, content: bytes) -> None:
    """Add bytes to the end of a regular file, which is made where it is missing, with its folders. Raises `OSError`."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with parent_within(root, path, create=True) as (directory, name):
        file = os.open(name, flags, 0o666, dir_fd=directory)
    with open(file, "ab") as stream:  # noqa: PTH123 - a descriptor, not a path
        facts = os.fstat(file)
        if not stat.S_ISREG(facts.st_mode) or facts.st_nlink > 1:
            raise OSError(errno.EINVAL, "is not a regular file with one name", path)
        stream.write(content)


def remove_within(root: Path, path: str) -> None:
    """Remove what stands at a path, a whole folder too; a link itself, never what it leads to. Raises `OSError`.

    Nothing happens where nothing is there.
    """
    with suppress(FileNotFoundError), parent_within(root, path) as (directory, name):
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode):
            shutil.rmtree(name, dir_fd=directory)
        else:
            os.unlink(name, dir_fd=directory)


def write_new(
    path: Path | str,
    content: bytes,
    *,
    like: os.stat_result | None = None,
    mode: int | None = None,
    executable: bool | None = None,
    directory: int | None = None,
) -> None:
    """Make a file that must not exist and see it onto the disk; raises `OSError`.

    It gets `mode`, else that of `like`, else what the umask leaves, and the owner of `like` where permitted;
    `executable` None keeps the execute bits of that mode. With `directory`, an open descriptor, `path` is a name in it.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(path, flags, 0o777 if executable else 0o666, dir_fd=directory)
    with open(file, "wb") as stream:  # noqa: PTH123 - a descriptor, not a path
        if like is not None:
            mode = stat.S_IMODE(like.st_mode) if mode is None else mode
            if executable is not None:
                mode = mode | (mode & 0o444) >> 2 if executable else mode & ~0o111
            if (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
                with suppress(PermissionError):
                    os.fchown(file, like.st_uid, like.st_gid)
        if mode is not None:
            os.fchmod(file, mode)
        stream.write(content)
        stream.flush()
        os.fsync(file)
