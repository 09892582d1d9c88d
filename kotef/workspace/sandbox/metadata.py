"""A broker for metadata changes: commands may change mode, owner, times and attributes only below writable folders.

Landlock has no access right for them, so a seccomp filter passes these system calls to kotef (seccomp_unotify(2)).
kotef reads the arguments, opens the file from a writable folder down without following links, changes that file, and
returns the result. The kernel never continues a call whose path was only checked, since the path could lead elsewhere
by then.
"""

import ctypes
import errno
import fcntl
import os
import select
import stat
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Final, NamedTuple

from kotef.workspace.sandbox import seccomp

_RECEIVE, _SEND, _IS_VALID, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40082104
"""SECCOMP_IOCTL_NOTIF_RECV, _SEND, _ID_VALID, _SET_FLAGS of linux/seccomp.h."""
_NOTIFICATION: Final = struct.Struct("=QIIiIQ6Q")
"""Id of the request, calling thread, flags; then `struct seccomp_data`: number, architecture, address, arguments."""
_ANSWER: Final = struct.Struct("=Qqii")

_CWD: Final = -100
_NOT_THE_LINKED, _EMPTY_PATH = 0x100, 0x1000  # AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH
_BENEATH_WITHOUT_LINKS: Final = 0x08 | 0x04
"""RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS of openat2(2)."""
_HOLD: Final = os.O_PATH | os.O_CLOEXEC if hasattr(os, "O_PATH") else 0
_PATH_MAX, _NAME_MAX, _VALUE_MAX = 4096, 256, 65536
_PAGE: Final = 4096
_UNCHANGED: Final = 0xFFFFFFFF
"""Leaves the owner, or the group, as it is."""
_MICROS: Final = 1_000_000
_TRIES: Final = 3
"""Attempts to open a file that is renamed at the same time."""

_PTRACE_SCOPE: Final = Path("/proc/sys/kernel/yama/ptrace_scope")
_FOR_ANCESTORS: Final = 1
"""Above this value only root may read a command's memory, and with it the path argument of a call."""

_SHARED: Final = (Path("/dev/shm"), Path("/dev/pts"))  # noqa: S108  devices that every command has
"""Folders in which a command may write files, though it may not change the folders themselves."""

_CAPABILITY_VERSION: Final = 0x20080522


class Call(NamedTuple):
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


class Place(NamedTuple):
    """How the arguments of a call name its file."""

    directory: int = _CWD
    """A descriptor of the caller: a directory, or the file itself if there is no path."""
    path: int = 0
    """Address of the path in the caller's memory; 0 for none."""
    flags: int = 0
    """AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH."""


def readable() -> bool:
    """Whether the system lets kotef read the arguments of its commands' system calls."""
    try:
        return int(_PTRACE_SCOPE.read_text(encoding="ascii")) <= _FOR_ANCESTORS
    except (OSError, ValueError):  # without Yama, a process may read others of the same user
        return True


def serve(listener: int, writable: Sequence[Path]) -> None:
    """Answer the calls of one command and its children in a separate thread, until the last of them has ended.

    `listener` is the filter's descriptor; it is closed at the end.
    """
    Thread(target=_Broker(listener, writable).run, name="metadata", daemon=True).start()


class _Broker:
    """Carries out the metadata changes of one command."""

    def __init__(self, listener: int, writable: Sequence[Path]) -> None:
        self._listener = listener
        self._writable = [(str(path), path not in _SHARED, path) for path in (*writable, *_SHARED)]
        self._numbers = {seccomp.number(name): name for name in seccomp.METADATA}
        self._roots: list[tuple[str, bool, int]] = []

    def run(self) -> None:
        """Serve until no process uses the filter; an error becomes the answer of the call."""
        with ExitStack() as stack:
            stack.callback(os.close, self._listener)
            _drop_capabilities()
            for name, itself, path in self._writable:
                with suppress(OSError):
                    root = os.open(path, _HOLD)
                    stack.callback(os.close, root)
                    self._roots.append((name, itself, root))
            with suppress(OSError):  # kernels before 6.6 lack it; they are only slower
                fcntl.ioctl(self._listener, _SET_FLAGS, 1)
            for call in self._calls():
                self._answer(call)

    def _calls(self) -> Iterator[Call]:
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        while True:
            events = poll.poll()[0][1]
            if not events & select.POLLIN:
                return
            buffer = bytearray(_NOTIFICATION.size)
            try:
                fcntl.ioctl(self._listener, _RECEIVE, buffer, True)
            except OSError as error:
                if error.errno in {errno.ENOENT, errno.EINTR}:  # the caller has ended
                    continue
                return
            identity, thread, _, number, _, _, *arguments = _NOTIFICATION.unpack(buffer)
            yield Call(identity, thread, self._numbers[number], arguments)

    def _answer(self, call: Call) -> None:
        try:
            self._change(call)
            refusal = 0
        except OSError as error:
            refusal = error.errno or errno.EPERM
        except (ValueError, OverflowError, MemoryError):
            refusal = errno.EINVAL
        with suppress(OSError):  # the caller has ended
            fcntl.ioctl(self._listener, _SEND, _ANSWER.pack(call.id, 0, -refusal, 0))

    def _change(self, call: Call) -> None:
        place, change = _READERS[call.name](call)
        found = _named(call, place)
        try:
            # checked after opening: the file was then opened for the caller, not for a new process with the same id
            fcntl.ioctl(self._listener, _IS_VALID, struct.pack("Q", call.id))
            file = self._owned(found)
            try:
                change(file)
            finally:
                os.close(file)
        finally:
            os.close(found)

    def _owned(self, found: int) -> int:
        """The same file, opened from a writable folder down. Raises `OSError` if it is below none."""
        facts = os.fstat(found)
        for _ in range(_TRIES):
            name = os.readlink(f"/proc/self/fd/{found}")  # noqa: PTH115  quick
            if _is_nameless(name, facts):
                return os.dup(found)
            file = self._opened(name)
            if file is not None and os.path.samestat(os.fstat(file), facts):
                return file
            if file is not None:
                os.close(file)
        raise _fault(errno.EPERM)

    def _opened(self, name: str) -> int | None:
        """None if the path does not exist or contains a link. Raises `OSError` if it is outside."""
        for folder, itself, root in self._roots:
            if name == folder and itself:
                return os.dup(root)
            if name.startswith(f"{folder}/"):
                return _beneath(root, name[len(folder) + 1 :])
        raise _fault(errno.EPERM)


def _drop_capabilities() -> None:
    """The thread that changes files gets the rights of the command: those of the user, without the powers of root."""
    header, none = struct.pack("Ii", _CAPABILITY_VERSION, 0), struct.pack("6I", *[0] * 6)
    if _libc().capset(header, none) < 0:
        raise _fault(ctypes.get_errno())


def _is_nameless(name: str, facts: os.stat_result) -> bool:
    """Whether no other process can open it by name: a pipe, a socket, or a file that was deleted or had no name."""
    if name.startswith("/"):
        return not facts.st_nlink and name.endswith(" (deleted)")
    return stat.S_ISFIFO(facts.st_mode) or stat.S_ISSOCK(facts.st_mode)


def _beneath(root: int, path: str) -> int | None:
    how = struct.pack("QQQ", _HOLD | os.O_NOFOLLOW, 0, _BENEATH_WITHOUT_LINKS)
    file: int = _libc().syscall(seccomp.number("openat2"), root, os.fsencode(path), how, len(how))
    return file if file >= 0 else None


def _named(call: Call, place: Place) -> int:
    """A descriptor (`O_PATH`) of the file that a call names, wherever it is."""
    path = _string(call.thread, place.path, _PATH_MAX) if place.path else b""
    if place.path and not path and not place.flags & _EMPTY_PATH:
        raise _fault(errno.ENOENT)
    return _of_path(call.thread, place, path) if path else _of_descriptor(call.thread, place.directory)


def _of_descriptor(thread: int, descriptor: int, flags: int = 0) -> int:
    entry = "cwd" if descriptor == _CWD else f"fd/{descriptor}"
    try:
        return os.open(f"/proc/{thread}/{entry}", _HOLD | flags)
    except FileNotFoundError:
        raise _fault(errno.EBADF) from None


def _of_path(thread: int, place: Place, path: bytes) -> int:
    if os.readlink(f"/proc/{thread}/root") != "/":  # noqa: PTH115  quick
        raise _fault(errno.EPERM)  # in a chroot the path means another file
    flags = _HOLD | (os.O_NOFOLLOW if place.flags & _NOT_THE_LINKED else 0)
    if path.startswith(b"/"):
        return os.open(_of_the_caller(path, thread), flags)
    directory = _of_descriptor(thread, place.directory, os.O_DIRECTORY)
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


def _string(thread: int, address: int, most: int) -> bytes:
    """A NUL-terminated string in the caller's memory, without the NUL. Raises `OSError`."""
    found = b""
    while len(found) < most:
        here = address + len(found)
        part = _bytes(thread, here, min(_PAGE - here % _PAGE, most - len(found)))
        text, end, _ = part.partition(b"\0")
        found += text
        if end:
            return found
    raise _fault(errno.ENAMETOOLONG)


def _bytes(thread: int, address: int, size: int) -> bytes:
    """Exactly `size` bytes of the caller's memory. Raises `OSError` with EFAULT if some are not mapped."""
    memory = os.open(f"/proc/{thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = os.pread(memory, size, address)
    except (OSError, OverflowError):
        raise _fault(errno.EFAULT) from None
    finally:
        os.close(memory)
    if len(found) < size:
        raise _fault(errno.EFAULT)
    return found


Change = Callable[[int], None]
"""Carries out the change on an open file."""


def _mode(call: Call, place: Place, at: int) -> tuple[Place, Change]:
    mode = call.arguments[at] & 0o7777
    return place, lambda file: _call("fchmodat", _CWD, _magic(file), mode, 0)


def _owner(call: Call, place: Place, at: int) -> tuple[Place, Change]:
    uid = _outer(call, "uid_map", at)
    gid = _outer(call, "gid_map", at + 1)
    return place, lambda file: _call("fchownat", file, b"", uid, gid, _EMPTY_PATH)


def _outer(call: Call, table: str, at: int) -> int:
    """A user or group id as this process sees it: a command may run in a user namespace."""
    number = call.arguments[at] & _UNCHANGED
    if number == _UNCHANGED:
        return number
    for line in Path(f"/proc/{call.thread}/{table}").read_text(encoding="ascii").splitlines():
        inside, outside, count = map(int, line.split())
        if inside <= number < inside + count:
            return outside + number - inside
    raise _fault(errno.EINVAL)


def _times(call: Call, place: Place, at: int, kind: str) -> tuple[Place, Change]:
    """`kind` is the unit of the two times: seconds, with microseconds, or with nanoseconds."""
    times = _nanoseconds(call, at, kind) if call.arguments[at] else None
    return place, lambda file: _call("utimensat", file, b"", times, _EMPTY_PATH)


def _nanoseconds(call: Call, at: int, kind: str) -> bytes:
    form = {"s": "qq", "us": "qqqq", "ns": "qqqq"}[kind]
    values = struct.unpack(form, _bytes(call.thread, call.arguments[at], struct.calcsize(form)))
    if kind == "s":
        return struct.pack("qqqq", values[0], 0, values[1], 0)
    if kind == "ns":
        return struct.pack("qqqq", *values)
    seconds, micros = values[::2], values[1::2]
    if not all(0 <= micro < _MICROS for micro in micros):
        raise _fault(errno.EINVAL)
    return struct.pack("qqqq", seconds[0], micros[0] * 1000, seconds[1], micros[1] * 1000)


def _attribute(call: Call, place: Place) -> tuple[Place, Change]:
    name, size = _attribute_name(call), call.arguments[3]
    if size > _VALUE_MAX:
        raise _fault(errno.E2BIG)
    value, flags = _bytes(call.thread, call.arguments[2], size) if size else b"", call.integer(4)
    return place, lambda file: _call("setxattr", _magic(file), name, value, size, flags)


def _no_attribute(call: Call, place: Place) -> tuple[Place, Change]:
    name = _attribute_name(call)
    return place, lambda file: _call("removexattr", _magic(file), name)


def _attribute_name(call: Call) -> bytes:
    try:
        return _string(call.thread, call.arguments[1], _NAME_MAX)
    except OSError as error:
        raise _fault(errno.ERANGE if error.errno == errno.ENAMETOOLONG else error.errno or errno.EFAULT) from None


def _path(call: Call, flags: int = 0) -> Place:
    if not call.arguments[0]:
        raise _fault(errno.EFAULT)
    return Place(path=call.arguments[0], flags=flags)


def _descriptor(call: Call) -> Place:
    if call.integer(0) < 0:
        raise _fault(errno.EBADF)
    return Place(directory=call.integer(0))


def _at(call: Call, flags: int = 0, *, or_none: bool = False) -> Place:
    """A path relative to a directory; `or_none`: without a path, the directory's descriptor itself."""
    directory, path = call.integer(0), call.arguments[1]
    is_itself = not path and or_none and directory != _CWD
    if flags & ~(_NOT_THE_LINKED | _EMPTY_PATH) or (is_itself and flags):
        raise _fault(errno.EINVAL)
    if not path and not is_itself:
        raise _fault(errno.EFAULT)
    return Place(directory, path, flags)


_READERS: Final[dict[str, Callable[[Call], tuple[Place, Change]]]] = {
    "chmod": lambda call: _mode(call, _path(call), 1),
    "fchmod": lambda call: _mode(call, _descriptor(call), 1),
    "fchmodat": lambda call: _mode(call, _at(call), 2),
    "fchmodat2": lambda call: _mode(call, _at(call, call.integer(3)), 2),
    "chown": lambda call: _owner(call, _path(call), 1),
    "lchown": lambda call: _owner(call, _path(call, _NOT_THE_LINKED), 1),
    "fchown": lambda call: _owner(call, _descriptor(call), 1),
    "fchownat": lambda call: _owner(call, _at(call, call.integer(4)), 2),
    "utime": lambda call: _times(call, _path(call), 1, "s"),
    "utimes": lambda call: _times(call, _path(call), 1, "us"),
    "futimesat": lambda call: _times(call, _at(call, or_none=True), 2, "us"),
    "utimensat": lambda call: _times(call, _at(call, call.integer(3), or_none=True), 2, "ns"),
    "setxattr": lambda call: _attribute(call, _path(call)),
    "lsetxattr": lambda call: _attribute(call, _path(call, _NOT_THE_LINKED)),
    "fsetxattr": lambda call: _attribute(call, _descriptor(call)),
    "removexattr": lambda call: _no_attribute(call, _path(call)),
    "lremovexattr": lambda call: _no_attribute(call, _path(call, _NOT_THE_LINKED)),
    "fremovexattr": lambda call: _no_attribute(call, _descriptor(call)),
}
"""System call → how to read its file and the change from its arguments."""


def _magic(file: int) -> bytes:
    """A path of an open file, for system calls that do not accept an `O_PATH` descriptor."""
    return b"/proc/self/fd/%d" % file


def _call(name: str, *arguments: int | bytes | None) -> None:
    if _libc().syscall(seccomp.number(name), *map(_argument, arguments)) < 0:
        raise _fault(ctypes.get_errno())


def _argument(value: int | bytes | None) -> object:
    return ctypes.c_ulong(value & 0xFFFFFFFFFFFFFFFF) if isinstance(value, int) else value


def _fault(number: int) -> OSError:
    return OSError(number, os.strerror(number))


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc
