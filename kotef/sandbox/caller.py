"""Memory and files of a thread of a command, as the kernel shows them below `/proc`."""

import errno
import os
from typing import Final, NamedTuple

from kotef.sandbox.libc import fault

CWD: Final = -100
"""AT_FDCWD: the working directory in the place of a descriptor."""
NOT_THE_LINKED, EMPTY_PATH = 0x100, 0x1000  # AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH
HOLD: Final = os.O_PATH | os.O_CLOEXEC if hasattr(os, "O_PATH") else 0
"""To hold a file without opening it for anything."""
_PATH_MAX: Final = 4096
_PAGE: Final = 4096


class FileArgument(NamedTuple):
    """How the arguments of a call name its file."""

    directory: int = CWD
    """A descriptor of the caller: a directory, or the file itself if there is no path."""
    path: int = 0
    """Address of the path in the caller's memory; 0 for none."""
    flags: int = 0
    """AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH."""


def file_of(thread: int, argument: FileArgument) -> int:
    """The file that a call means, wherever it is; held, not opened for anything. Raises `OSError`."""
    path = string_at(thread, argument.path, _PATH_MAX) if argument.path else b""
    if path:
        return _by_path(thread, argument, path)
    if argument.path and not argument.flags & EMPTY_PATH:
        raise fault(errno.ENOENT)
    return _by_descriptor(thread, argument.directory)


def _by_descriptor(thread: int, descriptor: int, flags: int = 0) -> int:
    entry = "cwd" if descriptor == CWD else f"fd/{descriptor}"
    try:
        return os.open(f"/proc/{thread}/{entry}", HOLD | flags)
    except FileNotFoundError:
        raise fault(errno.EBADF) from None


def _by_path(thread: int, argument: FileArgument, path: bytes) -> int:
    if os.readlink(f"/proc/{thread}/root") != "/":  # noqa: PTH115  quick
        raise fault(errno.EPERM)  # the path means something else there
    flags = HOLD | (os.O_NOFOLLOW if argument.flags & NOT_THE_LINKED else 0)
    if path.startswith(b"/"):
        return os.open(_of_the_caller(path, thread), flags)
    directory = _by_descriptor(thread, argument.directory, os.O_DIRECTORY)
    try:
        return os.open(path, flags, dir_fd=directory)
    finally:
        os.close(directory)


def _of_the_caller(path: bytes, thread: int) -> bytes:
    """The path with `/proc/self` and the like replaced by the caller's: libraries change files through them."""
    own = b"/proc/%d" % thread
    for prefix, meant in ((b"/proc/self/", own), (b"/proc/thread-self/", own), (b"/dev/fd/", own + b"/fd")):
        if path.startswith(prefix):
            return meant + b"/" + path[len(prefix) :]
    return path


def string_at(thread: int, address: int, most: int) -> bytes:
    """A NUL-terminated string in the caller's memory, without the NUL. Raises `OSError`."""
    found = b""
    while len(found) < most:
        here = address + len(found)
        part = bytes_at(thread, here, min(_PAGE - here % _PAGE, most - len(found)))
        text, end, _ = part.partition(b"\0")
        found += text
        if end:
            return found
    raise fault(errno.ENAMETOOLONG)


def bytes_at(thread: int, address: int, size: int) -> bytes:
    """Exactly `size` bytes of the caller's memory. Raises `OSError` with EFAULT if some are not mapped."""
    memory = os.open(f"/proc/{thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = os.pread(memory, size, address)
    except (OSError, OverflowError):
        raise fault(errno.EFAULT) from None
    finally:
        os.close(memory)
    if len(found) < size:
        raise fault(errno.EFAULT)
    return found
