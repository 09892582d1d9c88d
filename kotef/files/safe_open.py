"""Opening, listing, writing and removing files below a folder in which others may plant links, pipes or devices.

Every name that a repository, a command or a model can choose is opened here: one path component at a time, without
following links, regular files only, and with a size limit.
"""

import errno
import io
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
"""Names of the temporary files of `write_within`; a killed run may leave one behind."""
OPEN_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
OPEN_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Non-blocking: opening a pipe without a writer returns at once, and the pipe is then refused by its type."""


@contextmanager
def parent_within(root: Path, path: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
    """The open parent directory of a path, reached from the root without following a link, and the last component.

    `path` is relative to `root`, uses `/`, and contains neither `.` nor `..`. Raises `OSError`.
    """
    *directories, name = path.split("/")
    with _opened(root, path, directories, create=create, last=name) as directory:
        yield directory, name


@contextmanager
def directory_within(root: Path, path: str) -> Iterator[int]:
    """An open directory, reached in the same way; `.` is the root. Raises `OSError`."""
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
            try:
                deeper = _unlinked(part, OPEN_DIRECTORY, current, path)
            except FileNotFoundError:
                if not create:
                    raise
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=current)
                deeper = _unlinked(part, OPEN_DIRECTORY, current, path)
            os.close(current)
            current = deeper
        yield current
    finally:
        os.close(current)


def _unlinked(name: str, flags: int, directory: int, path: str) -> int:
    """Open a name in a directory; for a link, raise one message, since the system's error differs between cases."""
    try:
        return os.open(name, flags, 0o666, dir_fd=directory)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.EMLINK}:
            found = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                kind = errno.ENOTDIR if flags & os.O_DIRECTORY else errno.ELOOP
                raise OSError(kind, "is a symbolic link, or is below one", path) from error
        raise


def resolve_links(root: Path, path: str) -> str:
    """The path below `root` that a name resolves to, links followed; `.` is the root.

    A repository may link `AGENTS.md` to `CLAUDE.md`. Open the result with the other functions here: they follow no
    link. Raises `OSError`: `EXDEV` if the path leads out of `root`, `ELOOP` for a circle.
    """
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, path), strict=True)  # noqa: PTH118 - names, not paths
    if real == top:
        return "."
    if not real.startswith(top.rstrip(os.sep) + os.sep):
        raise OSError(errno.EXDEV, "leads out of the workspace", path)
    return os.path.relpath(real, top)


def read_inside(root: Path, path: str, *, largest: int, cut: bool = False) -> bytes:
    """Like `read_within`, but the name may be a link to another place below `root`. Raises `OSError`."""
    return read_within(Path(os.path.realpath(root)), resolve_links(root, path), largest=largest, cut=cut)


def list_inside(root: Path, path: str, *, most: int) -> list["Listed"]:
    """Like `list_within`, but the name may be a link to another place below `root`. Raises `OSError`."""
    return list_within(Path(os.path.realpath(root)), resolve_links(root, path), most=most)


def read_within(root: Path, path: str, *, largest: int, cut: bool = False) -> bytes:
    """The bytes of a regular file below `root`; follows no link and waits for no pipe or device.

    Raises `OSError`: `EFBIG` above `largest` bytes unless `cut` (then the file is cut there), `EINVAL` for a file
    that is not regular.
    """
    with parent_within(root, path) as (directory, name):
        file = _unlinked(name, OPEN_FILE, directory, path)
    return _read(file, path, largest, cut=cut)


def read_regular(path: Path, *, largest: int, cut: bool = False) -> bytes:
    """The bytes of a regular file, links followed; like `read_within` it never waits. Raises `OSError`."""
    return _read(os.open(path, OPEN_FILE & ~os.O_NOFOLLOW), str(path), largest, cut=cut)


def _read(file: int, path: str, largest: int, *, cut: bool) -> bytes:
    with open(file, "rb") as stream:
        mode = os.fstat(file).st_mode
        if not stat.S_ISREG(mode):
            kind = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
            raise OSError(kind, "is not a regular file", path)
        content = stream.read(largest + (not cut))  # the size that fstat reported may be wrong by now
    if len(content) > largest:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return content


def regular_file_stat(name: str, directory: int) -> os.stat_result | None:
    """The stat result of a regular file in an open directory; None if missing or not regular. Raises `OSError`."""
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def is_below(path: str) -> bool:
    """Whether a relative path (with `/`) can only name an entry below its folder: no `.`, `..` or empty component."""
    return {"", ".", ".."}.isdisjoint(path.removesuffix("/").split("/"))


class Listed(NamedTuple):
    """One entry of a folder."""

    name: str
    is_directory: bool
    """A real directory, not a link to one."""
    is_file: bool
    """A regular file, not a link, pipe, socket or device."""
    is_link: bool


def list_within(root: Path, path: str = ".", *, most: int) -> list[Listed]:
    """The entries of a folder below `root`, sorted by name; at most `most`, in the system's order.

    Raises `OSError` if a component of the path is missing, a link or not a folder.
    """
    found = []
    with directory_within(root, path) as directory, os.scandir(directory) as entries:
        for entry in islice(entries, most):
            is_directory, is_file = entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False)
            found.append(Listed(entry.name, is_directory, is_file, entry.is_symlink()))
    return sorted(found)


class Walked(NamedTuple):
    """One folder of a walk."""

    path: str
    """Relative to the root, with `/`; empty for the root."""
    folders: list[str]
    """Sorted. The caller may remove names; the walk does not enter these."""
    others: list[str]
    """Names of all other entries, links to folders included."""


def walk_within(root: Path, path: str = ".", *, most: int) -> Iterator[Walked]:
    """Every folder below `root` from `path` down, parents first, without following links; not recursive.

    Skips folders that cannot be read or have gone. Of each folder at most `most` entries are listed.
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
    """Make a folder, and its parents if they are missing. Raises `OSError`."""
    with parent_within(root, path, create=True) as (directory, name), suppress(FileExistsError):
        os.mkdir(name, dir_fd=directory)


def move_within(root: Path, path: str, target: str) -> None:
    """Move a file or folder to `target` below `root`; missing parents of `target` are made. Raises `OSError`."""
    with parent_within(root, path) as (source, name), parent_within(root, target, create=True) as (into, new):
        os.rename(name, new, src_dir_fd=source, dst_dir_fd=into)


def chmod_within(root: Path, path: str, mode: int, *, folder: bool = False) -> None:
    """Change the mode of a file or folder, never of a link's target. Raises `OSError`.

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
            Path(f"/proc/self/fd/{file}").chmod(mode)  # the only way that works on a file without read permission
        finally:
            os.close(file)


def touch_within(root: Path, path: str, seconds: float | None = None) -> None:
    """Set the times of a path (None: to now), never of a link's target. Raises `OSError`."""
    with parent_within(root, path) as (directory, name):
        times = None if seconds is None else (seconds, seconds)
        os.utime(name, times, dir_fd=directory, follow_symlinks=False)


def write_within(root: Path, path: str, content: bytes, *, mode: int | None = None) -> None:
    """Replace a file atomically: at any moment it has its old content or the new one. Makes missing folders.

    Without `mode` an existing regular file keeps its mode, and, if permitted, its owner. A link, pipe or socket of
    that name is replaced, not followed. Raises `OSError`.
    """
    temporary = f".kotef-{secrets.token_hex(8)}.tmp"
    with parent_within(root, path, create=True) as (directory, name):
        try:
            write_new(temporary, content, like=regular_file_stat(name, directory), mode=mode, directory=directory)
            os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        finally:
            with suppress(OSError):  # after success, or if it was never created, there is nothing to remove
                os.unlink(temporary, dir_fd=directory)


def append_within(root: Path, path: str, content: bytes) -> None:
    """Append bytes to a regular file; the file and missing folders are made. Raises `OSError`."""
    with _append_to(root, path, create=True) as (stream, facts):
        if not _has_one_name(facts):
            raise OSError(errno.EINVAL, "is not a regular file with one name", path)
        stream.write(content)


def append_if_size(root: Path, path: str, content: bytes, size: int) -> bool:
    """Append bytes to a regular file of exactly `size` bytes; False if the path names anything else."""
    try:
        with _append_to(root, path) as (stream, facts):
            is_it = _has_one_name(facts) and facts.st_size == size
            if is_it:
                stream.write(content)
            return is_it
    except OSError:
        return False


@contextmanager
def _append_to(root: Path, path: str, *, create: bool = False) -> Iterator[tuple[io.FileIO, os.stat_result]]:
    flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with parent_within(root, path, create=create) as (directory, name):
        file = _unlinked(name, flags | os.O_CREAT if create else flags, directory, path)
    with io.FileIO(file, "ab") as stream:
        yield stream, os.fstat(file)


def _has_one_name(facts: os.stat_result) -> bool:
    return stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1


def remove_within(root: Path, path: str) -> None:
    """Remove a file or a whole folder; of a link the link itself, never its target. Raises `OSError`.

    Does nothing if the path does not exist.
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
    """Create a file that must not exist and sync it to the disk; raises `OSError`.

    Its mode is `mode`, else that of `like`, else what the umask leaves; its owner is that of `like`, if permitted.
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
