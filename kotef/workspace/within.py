"""How is a file below a folder opened when somebody may put a link in its way at any moment?"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

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
