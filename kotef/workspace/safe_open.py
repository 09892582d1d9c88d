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
            deeper = _unlinked(part, OPEN_DIRECTORY, current, path)
            os.close(current)
            current = deeper
        yield current
    finally:
        os.close(current)


def _unlinked(name: str, flags: int, directory: int, path: str) -> int:
    """Open a name in a directory; what the system says of a link differs, so it is said here."""
    try:
        return os.open(name, flags, 0o666, dir_fd=directory)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.EMLINK}:
            found = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                kind = errno.ENOTDIR if flags & os.O_DIRECTORY else errno.ELOOP
                raise OSError(kind, "is, or lies behind, a symbolic link", path) from error
        raise


def inside(root: Path, path: str) -> str:
    """What a name of the workspace leads to, links followed, as a path below `root`; `.` is the root itself.

    A repository may link `AGENTS.md` to `CLAUDE.md`. What is opened afterwards is opened without links, by the other
    functions here. Raises `OSError`: `EXDEV` for what leads out, `ELOOP` for a circle.
    """
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, path), strict=True)  # noqa: PTH118 - names, not paths
    if real == top:
        return "."
    if not real.startswith(top.rstrip(os.sep) + os.sep):
        raise OSError(errno.EXDEV, "leads out of the workspace", path)
    return os.path.relpath(real, top)


def read_inside(root: Path, path: str, *, largest: int, cut: bool = False) -> bytes:
    """As `read_within`, of a name that may be a link to another place below `root`. Raises `OSError`."""
    return read_within(Path(os.path.realpath(root)), inside(root, path), largest=largest, cut=cut)


def list_inside(root: Path, path: str, *, most: int) -> list["Listed"]:
    """As `list_within`, of a name that may be a link to another place below `root`. Raises `OSError`."""
    return list_within(Path(os.path.realpath(root)), inside(root, path), most=most)


def read_within(root: Path, path: str, *, largest: int, cut: bool = False) -> bytes:
    """The bytes of a regular file below `root`; no link is followed, no pipe or device waited for.

    Raises `OSError`: `EFBIG` above `largest` bytes, unless it is to be `cut` there; `EINVAL` for what is no regular
    file.
    """
    with parent_within(root, path) as (directory, name):
        file = _unlinked(name, OPEN_FILE, directory, path)
    return _read(file, path, largest, cut=cut)


def read_regular(path: Path, *, largest: int, cut: bool = False) -> bytes:
    """The bytes of a regular file wherever a link leads; as `read_within` it waits for nothing. Raises `OSError`."""
    return _read(os.open(path, OPEN_FILE & ~os.O_NOFOLLOW), str(path), largest, cut=cut)


def _read(file: int, path: str, largest: int, *, cut: bool) -> bytes:
    with open(file, "rb") as stream:
        mode = os.fstat(file).st_mode
        if not stat.S_ISREG(mode):
            kind = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
            raise OSError(kind, "is not a regular file", path)
        content = stream.read(largest + (not cut))  # what it says of its size may be wrong by now
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
    is_link: bool


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


class Walked(NamedTuple):
    """A folder that is walked through."""

    path: str
    """Relative to the root, with `/`; empty for the folder it began at when that is the root."""
    folders: list[str]
    """Sorted; what is taken out is not entered."""
    others: list[str]
    """Everything else by name, links to folders too."""


def walk_within(root: Path, path: str = ".", *, most: int) -> Iterator[Walked]:
    """Every folder below `root` from `path` down, without links, above before below; however deep, no stack grows.

    What cannot be read, or is gone by then, is passed over; of a folder with more than `most` entries these many count.
    """
    waiting = [path]
    while waiting:
        here = waiting.pop()
        try:
            listed = list_within(root, here, most=most)
        except OSError:
            continue
        below = "" if here == "." else f"{here}/"
        folders = [entry.name for entry in listed if entry.is_directory]
        yield Walked(below.removesuffix("/"), folders, [entry.name for entry in listed if not entry.is_directory])
        waiting += [f"{below}{name}" for name in reversed(folders)]


def make_folder_within(root: Path, path: str) -> None:
    """Make a folder with those around it, where they are missing. Raises `OSError`."""
    with parent_within(root, path, create=True) as (directory, name), suppress(FileExistsError):
        os.mkdir(name, dir_fd=directory)


def move_within(root: Path, path: str, target: str) -> None:
    """Give a file or folder another place below `root`, whose folder is made where it is missing. Raises `OSError`."""
    with parent_within(root, path) as (source, name), parent_within(root, target, create=True) as (into, new):
        os.rename(name, new, src_dir_fd=source, dst_dir_fd=into)


def chmod_within(root: Path, path: str, mode: int, *, folder: bool = False) -> None:
    """Change the mode of what stands at a path, never of what a link there leads to. Raises `OSError`.

    `folder`: only of a folder.
    """
    with parent_within(root, path) as (directory, name):
        if not hasattr(os, "O_PATH"):
            os.chmod(name, mode, dir_fd=directory, follow_symlinks=False)
            return
        kind = os.O_DIRECTORY if folder else 0
        file = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC | kind, dir_fd=directory)
        try:
            if stat.S_ISLNK(os.fstat(file).st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            Path(f"/proc/self/fd/{file}").chmod(mode)  # without the right to read there is no other way
        finally:
            os.close(file)


def touch_within(root: Path, path: str, seconds: float | None = None) -> None:
    """Set the times of what stands at a path, None: to now; never of what a link there leads to. Raises `OSError`."""
    with parent_within(root, path) as (directory, name):
        times = None if seconds is None else (seconds, seconds)
        os.utime(name, times, dir_fd=directory, follow_symlinks=False)


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
        file = _unlinked(name, flags, directory, path)
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
