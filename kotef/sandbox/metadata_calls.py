"""System calls that change mode, owner, times or extended attributes: which file each means, and what it does to it."""

import ctypes
import errno
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from kotef.sandbox import seccomp
from kotef.sandbox.caller import CWD, EMPTY_PATH, NOT_THE_LINKED, FileArgument, bytes_at, string_at
from kotef.sandbox.libc import checked, fault, libc

_NAME_MAX, _VALUE_MAX = 256, 65536
_UNCHANGED: Final = 0xFFFFFFFF
"""Leaves the owner, or the group, as it is."""
_MICROS: Final = 1_000_000


class MetadataCall(NamedTuple):
    """One system call that waits for its answer."""

    id: int
    """The kernel's id of the request."""
    thread: int
    """Id of the calling thread."""
    name: str
    arguments: Sequence[int]

    def integer(self, at: int) -> int:
        """An argument of the C type `int`."""
        value: int = ctypes.c_int(self.arguments[at] & 0xFFFFFFFF).value
        return value


Change = Callable[[int], None]
"""Carries out the change on an open file."""


def _mode(call: MetadataCall, file: FileArgument, at: int) -> tuple[FileArgument, Change]:
    mode = call.arguments[at] & 0o7777
    return file, lambda handle: _call("fchmodat", CWD, _magic(handle), mode, 0)


def _owner(call: MetadataCall, file: FileArgument, at: int) -> tuple[FileArgument, Change]:
    uid = _outer(call, "uid_map", at)
    gid = _outer(call, "gid_map", at + 1)
    return file, lambda handle: _call("fchownat", handle, b"", uid, gid, EMPTY_PATH)


def _outer(call: MetadataCall, table: str, at: int) -> int:
    """A user or group id as this process sees it: a command may run in a user namespace."""
    number = call.arguments[at] & _UNCHANGED
    if number == _UNCHANGED:
        return number
    for line in Path(f"/proc/{call.thread}/{table}").read_text(encoding="ascii").splitlines():
        inside, outside, count = map(int, line.split())
        if inside <= number < inside + count:
            return outside + number - inside
    raise fault(errno.EINVAL)


def _times(call: MetadataCall, file: FileArgument, at: int, kind: str) -> tuple[FileArgument, Change]:
    """`kind` is the unit of the two times: seconds, with microseconds, or with nanoseconds."""
    times = _nanoseconds(call, at, kind) if call.arguments[at] else None
    return file, lambda handle: _call("utimensat", handle, b"", times, EMPTY_PATH)


def _nanoseconds(call: MetadataCall, at: int, kind: str) -> bytes:
    form = {"s": "qq", "us": "qqqq", "ns": "qqqq"}[kind]
    values = struct.unpack(form, bytes_at(call.thread, call.arguments[at], struct.calcsize(form)))
    if kind == "s":
        return struct.pack("qqqq", values[0], 0, values[1], 0)
    if kind == "ns":
        return struct.pack("qqqq", *values)
    seconds, micros = values[::2], values[1::2]
    if not all(0 <= micro < _MICROS for micro in micros):
        raise fault(errno.EINVAL)
    return struct.pack("qqqq", seconds[0], micros[0] * 1000, seconds[1], micros[1] * 1000)


def _attribute(call: MetadataCall, file: FileArgument) -> tuple[FileArgument, Change]:
    name, size = _attribute_name(call), call.arguments[3]
    if size > _VALUE_MAX:
        raise fault(errno.E2BIG)
    value, flags = bytes_at(call.thread, call.arguments[2], size) if size else b"", call.integer(4)
    return file, lambda handle: _call("setxattr", _magic(handle), name, value, size, flags)


def _no_attribute(call: MetadataCall, file: FileArgument) -> tuple[FileArgument, Change]:
    name = _attribute_name(call)
    return file, lambda handle: _call("removexattr", _magic(handle), name)


def _attribute_name(call: MetadataCall) -> bytes:
    try:
        return string_at(call.thread, call.arguments[1], _NAME_MAX)
    except OSError as error:
        raise fault(errno.ERANGE if error.errno == errno.ENAMETOOLONG else error.errno or errno.EFAULT) from None


def _path(call: MetadataCall, flags: int = 0) -> FileArgument:
    if not call.arguments[0]:
        raise fault(errno.EFAULT)
    return FileArgument(path=call.arguments[0], flags=flags)


def _descriptor(call: MetadataCall) -> FileArgument:
    if call.integer(0) < 0:
        raise fault(errno.EBADF)
    return FileArgument(directory=call.integer(0))


def _at(call: MetadataCall, flags: int = 0, *, or_none: bool = False) -> FileArgument:
    """A path relative to a directory; `or_none`: without a path, the directory's descriptor itself."""
    directory, path = call.integer(0), call.arguments[1]
    is_itself = not path and or_none and directory != CWD
    if flags & ~(NOT_THE_LINKED | EMPTY_PATH) or (is_itself and flags):
        raise fault(errno.EINVAL)
    if not path and not is_itself:
        raise fault(errno.EFAULT)
    return FileArgument(directory, path, flags)


READERS: Final[dict[str, Callable[[MetadataCall], tuple[FileArgument, Change]]]] = {
    "chmod": lambda call: _mode(call, _path(call), 1),
    "fchmod": lambda call: _mode(call, _descriptor(call), 1),
    "fchmodat": lambda call: _mode(call, _at(call), 2),
    "fchmodat2": lambda call: _mode(call, _at(call, call.integer(3)), 2),
    "chown": lambda call: _owner(call, _path(call), 1),
    "lchown": lambda call: _owner(call, _path(call, NOT_THE_LINKED), 1),
    "fchown": lambda call: _owner(call, _descriptor(call), 1),
    "fchownat": lambda call: _owner(call, _at(call, call.integer(4)), 2),
    "utime": lambda call: _times(call, _path(call), 1, "s"),
    "utimes": lambda call: _times(call, _path(call), 1, "us"),
    "futimesat": lambda call: _times(call, _at(call, or_none=True), 2, "us"),
    "utimensat": lambda call: _times(call, _at(call, call.integer(3), or_none=True), 2, "ns"),
    "setxattr": lambda call: _attribute(call, _path(call)),
    "lsetxattr": lambda call: _attribute(call, _path(call, NOT_THE_LINKED)),
    "fsetxattr": lambda call: _attribute(call, _descriptor(call)),
    "removexattr": lambda call: _no_attribute(call, _path(call)),
    "lremovexattr": lambda call: _no_attribute(call, _path(call, NOT_THE_LINKED)),
    "fremovexattr": lambda call: _no_attribute(call, _descriptor(call)),
}
"""System call → how to read its file and the change from its arguments."""


def _magic(file: int) -> bytes:
    """A path of an open file, for system calls that do not accept an `O_PATH` descriptor."""
    return b"/proc/self/fd/%d" % file


def _call(name: str, *arguments: int | bytes | None) -> None:
    checked(libc().syscall(seccomp.number(name), *map(_argument, arguments)), name)


def _argument(value: int | bytes | None) -> object:
    return ctypes.c_ulong(value & 0xFFFFFFFFFFFFFFFF) if isinstance(value, int) else value
