"""A broker for metadata changes: commands may change mode, owner, times and attributes only below writable folders.

Landlock has no access right for them, so a seccomp filter passes these system calls to kotef (seccomp_unotify(2)).
kotef reads the arguments, opens the file from a writable folder down without following links, changes that file, and
returns the result. The kernel never continues a call whose path was only checked, since the path could lead elsewhere
by then.
"""

import errno
import fcntl
import os
import select
import stat
import struct
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread
from typing import Final

from kotef.sandbox import seccomp
from kotef.sandbox.caller import HOLD, file_of
from kotef.sandbox.libc import drop_capabilities, fault, libc
from kotef.sandbox.metadata_calls import READERS, MetadataCall

_RECEIVE, _SEND, _IS_VALID, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40082104
"""SECCOMP_IOCTL_NOTIF_RECV, _SEND, _ID_VALID, _SET_FLAGS of linux/seccomp.h."""
_NOTIFICATION: Final = struct.Struct("=QIIiIQ6Q")
"""Id of the request, calling thread, flags; then `struct seccomp_data`: number, architecture, address, arguments."""
_ANSWER: Final = struct.Struct("=Qqii")
_BENEATH_WITHOUT_LINKS: Final = 0x08 | 0x04
"""RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS of openat2(2)."""
_TRIES: Final = 3
"""Attempts to open a file that is renamed at the same time."""
_PTRACE_SCOPE: Final = Path("/proc/sys/kernel/yama/ptrace_scope")
_FOR_ANCESTORS: Final = 1
"""Above this value only root may read a command's memory, and with it the path argument of a call."""
_SHARED: Final = (Path("/dev/shm"), Path("/dev/pts"))  # noqa: S108  devices that every command has
"""Folders in which a command may write files, though it may not change the folders themselves."""


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
            drop_capabilities()
            for name, itself, path in self._writable:
                with suppress(OSError):
                    root = os.open(path, HOLD)
                    stack.callback(os.close, root)
                    self._roots.append((name, itself, root))
            with suppress(OSError):  # kernels before 6.6 lack it; they are only slower
                fcntl.ioctl(self._listener, _SET_FLAGS, 1)
            for call in self._calls():
                self._answer(call)

    def _calls(self) -> Iterator[MetadataCall]:
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
            yield MetadataCall(identity, thread, self._numbers[number], arguments)

    def _answer(self, call: MetadataCall) -> None:
        try:
            self._change(call)
            refusal = 0
        except OSError as error:
            refusal = error.errno or errno.EPERM
        except (ValueError, OverflowError, MemoryError):
            refusal = errno.EINVAL
        with suppress(OSError):  # the caller has ended
            fcntl.ioctl(self._listener, _SEND, _ANSWER.pack(call.id, 0, -refusal, 0))

    def _change(self, call: MetadataCall) -> None:
        argument, change = READERS[call.name](call)
        found = file_of(call.thread, argument)
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
        raise fault(errno.EPERM)

    def _opened(self, name: str) -> int | None:
        """None if the path does not exist or contains a link. Raises `OSError` if it is outside."""
        for folder, itself, root in self._roots:
            if name == folder and itself:
                return os.dup(root)
            if name.startswith(f"{folder}/"):
                return _beneath(root, name[len(folder) + 1 :])
        raise fault(errno.EPERM)


def _is_nameless(name: str, facts: os.stat_result) -> bool:
    """Whether no other process can open it by name: a pipe, a socket, or a file that was deleted or had no name."""
    if name.startswith("/"):
        return not facts.st_nlink and name.endswith(" (deleted)")
    return stat.S_ISFIFO(facts.st_mode) or stat.S_ISSOCK(facts.st_mode)


def _beneath(root: int, path: str) -> int | None:
    how = struct.pack("QQQ", HOLD | os.O_NOFOLLOW, 0, _BENEATH_WITHOUT_LINKS)
    file: int = libc().syscall(seccomp.number("openat2"), root, os.fsencode(path), how, len(how))
    return file if file >= 0 else None
