"""The broker of metadata changes: mode, owner, times and extended attributes, only below the writable folders.

Landlock has no right for them, so a filter hands these system calls to kotef (seccomp_unotify(2)). kotef reads the
arguments, opens the file from a writable folder down without following a link, changes that very file, and answers
with the result. No call goes on after a look at its path: the path could lead elsewhere by then.
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

from kotef.workspace.sandbox import seccomp
from kotef.workspace.sandbox.caller import HOLD, file_of
from kotef.workspace.sandbox.libc import drop_capabilities, fault, libc
from kotef.workspace.sandbox.metadata_calls import READERS, Call

_RECEIVE, _SEND, _IS_VALID, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40082104
"""SECCOMP_IOCTL_NOTIF_RECV, _SEND, _ID_VALID, _SET_FLAGS of linux/seccomp.h."""
_NOTIFICATION: Final = struct.Struct("=QIIiIQ6Q")
"""Its id, the thread that calls, flags; then `struct seccomp_data`: number, architecture, place, arguments."""
_ANSWER: Final = struct.Struct("=Qqii")
_BENEATH_WITHOUT_LINKS: Final = 0x08 | 0x04
"""RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS of openat2(2)."""
_TRIES: Final = 3
"""How often a file is looked for that is renamed meanwhile."""
_PTRACE_SCOPE: Final = Path("/proc/sys/kernel/yama/ptrace_scope")
_FOR_ANCESTORS: Final = 1
"""Above it nobody but root of the machine may read the memory of a command, and with it the path of a call."""
_SHARED: Final = (Path("/dev/shm"), Path("/dev/pts"))  # noqa: S108  devices that every command has
"""Folders of files that a command may write, though the folders themselves are not its own."""


def readable() -> bool:
    """Whether the system lets kotef read the arguments of its commands' calls."""
    try:
        return int(_PTRACE_SCOPE.read_text(encoding="ascii")) <= _FOR_ANCESTORS
    except (OSError, ValueError):  # without Yama the same user may
        return True


def serve(listener: int, writable: Sequence[Path]) -> None:
    """Answer the calls of one command and all it starts, in a thread of its own, until the last of them has ended.

    `listener` is the descriptor of the filter; it is closed at the end.
    """
    Thread(target=_Broker(listener, writable).run, name="metadata", daemon=True).start()


class _Broker:
    """What one command may change."""

    def __init__(self, listener: int, writable: Sequence[Path]) -> None:
        self._listener = listener
        self._writable = [(str(path), path not in _SHARED, path) for path in (*writable, *_SHARED)]
        self._numbers = {seccomp.number(name): name for name in seccomp.METADATA}
        self._roots: list[tuple[str, bool, int]] = []

    def run(self) -> None:
        """Serve until nobody is left; whatever fails is an answer."""
        with ExitStack() as stack:
            stack.callback(os.close, self._listener)
            drop_capabilities()
            for name, itself, path in self._writable:
                with suppress(OSError):
                    root = os.open(path, HOLD)
                    stack.callback(os.close, root)
                    self._roots.append((name, itself, root))
            with suppress(OSError):  # a kernel before 6.6 is only slower
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
                if error.errno in {errno.ENOENT, errno.EINTR}:  # the caller has ended meanwhile
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
        with suppress(OSError):  # the caller has ended meanwhile
            fcntl.ioctl(self._listener, _SEND, _ANSWER.pack(call.id, 0, -refusal, 0))

    def _change(self, call: Call) -> None:
        argument, change = READERS[call.name](call)
        found = file_of(call.thread, argument)
        try:
            # valid after the opening: the files that were opened are those of the caller, not of a successor in number
            fcntl.ioctl(self._listener, _IS_VALID, struct.pack("Q", call.id))
            file = self._owned(found)
            try:
                change(file)
            finally:
                os.close(file)
        finally:
            os.close(found)

    def _owned(self, found: int) -> int:
        """The same file, opened from a writable folder down. Raises `OSError` where it lies in none."""
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
        """None where nothing is there now, without links on the way. Raises `OSError` outside."""
        for folder, itself, root in self._roots:
            if name == folder and itself:
                return os.dup(root)
            if name.startswith(f"{folder}/"):
                return _beneath(root, name[len(folder) + 1 :])
        raise fault(errno.EPERM)


def _is_nameless(name: str, facts: os.stat_result) -> bool:
    """Whether nobody else can find it: a pipe, a socket, a file that was deleted or never had a name."""
    if name.startswith("/"):
        return not facts.st_nlink and name.endswith(" (deleted)")
    return stat.S_ISFIFO(facts.st_mode) or stat.S_ISSOCK(facts.st_mode)


def _beneath(root: int, path: str) -> int | None:
    how = struct.pack("QQQ", HOLD | os.O_NOFOLLOW, 0, _BENEATH_WITHOUT_LINKS)
    file: int = libc().syscall(seccomp.number("openat2"), root, os.fsencode(path), how, len(how))
    return file if file >= 0 else None
