"""Copying and moving files between the workspace and kotef's own folders, without following links in the workspace."""

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from kotef.files.safe_open import OPEN_DIRECTORY, OPEN_FILE, parent_within, remove_within


def copy_out(root: Path, path: str, target: Path, *, link: bool = False) -> None:
    """Copy a file, link or folder below `root` to `target`, which must not exist; missing parents get mode 0700.

    Modes, times and attributes are copied; pipes, sockets and devices are skipped. `link`: make a hard link instead,
    if the file system supports it. Raises `OSError`.
    """
    with parent_within(root, path) as (directory, name):
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if link:
            with suppress(OSError):
                os.link(name, target, src_dir_fd=directory, follow_symlinks=False)
                return
        _copy(directory, name, target)


def move_out(root: Path, path: str, target: Path) -> None:
    """Move a file, link or folder below `root` to `target`, replacing what is there. Raises `OSError`."""
    _clear(target)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with parent_within(root, path) as (directory, name):
        try:
            os.rename(name, target, src_dir_fd=directory)
        except FileNotFoundError:
            raise
        except OSError:  # another file system, or a folder without write permission
            _copy(directory, name, target)
            remove_within(root, path)


def copy_in(source: Path, root: Path, path: str, *, link: bool = False) -> None:
    """Copy a file or link of kotef's to an unused path below `root`; missing folders are made. Raises `OSError`.

    `link`: make a hard link instead, if the file system supports it.
    """
    with parent_within(root, path, create=True) as (directory, name):
        if source.is_symlink():
            os.symlink(source.readlink(), name, dir_fd=directory)
            return
        if link:
            with suppress(OSError):
                os.link(source, name, dst_dir_fd=directory, follow_symlinks=False)
                return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with source.open("rb") as read, open(os.open(name, flags, 0o600, dir_fd=directory), "wb") as write:  # noqa: PTH123 - a descriptor
            shutil.copyfileobj(read, write)
            write.flush()
            _same_facts(read.fileno(), write.fileno())


def _copy(directory: int, name: str, target: Path) -> None:
    found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        target.symlink_to(os.readlink(name, dir_fd=directory))
    elif stat.S_ISDIR(found.st_mode):
        _copy_folder(directory, name, target)
    elif stat.S_ISREG(found.st_mode):
        with open(os.open(name, OPEN_FILE, dir_fd=directory), "rb") as read, target.open("xb") as write:  # noqa: PTH123 - a descriptor
            shutil.copyfileobj(read, write)
            write.flush()
            _same_facts(read.fileno(), write.fileno())


def _copy_folder(directory: int, name: str, target: Path) -> None:
    folder = os.open(name, OPEN_DIRECTORY, dir_fd=directory)
    try:
        target.mkdir(mode=0o700)
        for inside in sorted(os.listdir(folder)):  # noqa: PTH208 - a descriptor, not a path
            _copy(folder, inside, target / inside)
        target.chmod(stat.S_IMODE(os.fstat(folder).st_mode) | stat.S_IRWXU)
    finally:
        os.close(folder)


def _same_facts(source: int, target: int) -> None:
    """Copy mode, times and attributes, as far as the system permits."""
    found = os.fstat(source)
    with suppress(OSError):
        for name in os.listxattr(source):
            os.setxattr(target, name, os.getxattr(source, name))
    with suppress(OSError):
        os.fchmod(target, stat.S_IMODE(found.st_mode))
    with suppress(OSError):
        os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
