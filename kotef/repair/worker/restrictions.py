"""Restrictions on what code under trial can do to the machine."""

from __future__ import annotations

import fcntl
import functools
import mmap
import os
import resource
import signal
import sys
import threading
from typing import Any, Callable

_NO_DIRECTORY = 9
"""A place that no event has: its path is relative to the working directory alone."""
_CHANGES = {
    "os.remove": ((0, 1),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.mkdir": ((0, 2),),
    "os.link": ((1, 3),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, _NO_DIRECTORY),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.utime": ((0, 3),),
    "os.setxattr": ((0, _NO_DIRECTORY),),
    "shutil.rmtree": ((0, 1),),
    "sqlite3.connect": ((0, _NO_DIRECTORY),),
}
"""Audit events that change the file system, with the places of the paths they change and of the directory descriptors
these are relative to."""
_OF_ENTRIES = frozenset({"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "shutil.rmtree"})
"""Events that change an entry of a directory: a link that is there is not followed."""
_STARTS = frozenset({"os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec", "subprocess.Popen"})
_PROGRAMS = _STARTS - {"os.fork", "os.forkpty"}
"""Starts of another program, which does not see what is edited in memory; a fork does."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MEMORY = 768 << 20
"""Bytes of address space a trial may take beyond what the collected suite holds."""
_FILE = 32 << 20
_PROCESSES = 64
"""Processes that one trial, with all its descendants, may start."""


class Restrictions:
    """Refuses what Python code does to files outside `scratch`, to processes of others and to other machines.

    It watches audit events, so what a C library does by itself goes unseen.
    """

    def __init__(self, scratch: str) -> None:
        self.refused = ""
        """What was last refused, empty for nothing."""
        self.programs = 0
        """How many other programs this process has started."""
        self._allowed = (os.path.realpath(scratch) + os.sep, "/dev/")
        self._started = mmap.mmap(-1, 8)  # shared with all descendants: a bomb counts as one
        self._opening = threading.local()  # `directory`: what the path of an `os.open` under way is relative to
        self._rules: dict[str, Callable[[str, tuple[Any, ...]], None]] = {
            "open": self._open,
            "os.kill": self._kill,
            "os.killpg": self._kill,
            "socket.connect": self._connect,
            **dict.fromkeys(_CHANGES, self._change),
            **dict.fromkeys(_STARTS, self._start),
        }
        self._watching = False
        sys.addaudithook(self._audit)

    def close(self) -> None:
        """From now on; there is no way back."""
        self._started[:8] = bytes(8)
        self._note_directories()
        self._watching = True

    def open_again(self) -> None:
        """For the worker's own needs between two trials."""
        self._watching = False

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._watching:
            rule = self._rules.get(event)
            if rule is not None:
                rule(event, arguments)

    def _note_directories(self) -> None:
        """Have `os.open` say what its path is relative to, which its audit event leaves out."""
        plain = os.open

        @functools.wraps(plain)
        def noted(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            self._opening.directory = dir_fd
            try:
                return plain(path, flags, mode, dir_fd=dir_fd)
            finally:
                self._opening.directory = None

        os.open = noted
        os.supports_dir_fd.add(noted)

    def _open(self, event: str, arguments: tuple[Any, ...]) -> None:
        path, mode, flags = arguments
        if (isinstance(flags, int) and flags & _WRITING) or (isinstance(mode, str) and set(mode) & set("wax+")):
            if not isinstance(path, int):  # a descriptor was judged when it was opened
                self._check(event, path, getattr(self._opening, "directory", None))

    def _change(self, event: str, arguments: tuple[Any, ...]) -> None:
        for place, directory in _CHANGES[event]:
            path = arguments[place]
            if isinstance(path, int):
                self._check_descriptor(event, path)
            else:
                self._check(event, path, arguments[directory] if directory < len(arguments) else None)

    def _check_descriptor(self, event: str, descriptor: int) -> None:
        path = _path_of(descriptor)
        if os.path.exists(path):  # a pipe, a socket or a file without a name is the trial's own
            self._check(event, path, None)

    def _check(self, event: str, path: Any, directory: int | None) -> None:
        if path is None:
            return
        name = os.fsdecode(path)
        if directory is not None and directory >= 0 and not os.path.isabs(name):
            name = os.path.join(_path_of(directory), name)
        if name == ":memory:" or (_resolved(name, follow=event not in _OF_ENTRIES) + os.sep).startswith(self._allowed):
            return
        self._refuse(PermissionError, f"{event} {name}")

    def _start(self, event: str, _arguments: tuple[Any, ...]) -> None:
        self.programs += event in _PROGRAMS
        count = int.from_bytes(self._started[:8], "little") + 1
        self._started[:8] = count.to_bytes(8, "little")
        if count > _PROCESSES:
            self._refuse(PermissionError, f"{event}: too many processes")

    def _kill(self, event: str, arguments: tuple[Any, ...]) -> None:
        if arguments[0] in {-1, 0, 1, os.getppid()}:
            self._refuse(PermissionError, f"{event} {arguments[0]}")

    def _connect(self, event: str, arguments: tuple[Any, ...]) -> None:
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) and address else ""
        if isinstance(host, str) and host and not host.startswith("127.") and host not in {"::1", "localhost"}:
            self._refuse(ConnectionRefusedError, f"{event} {host}")

    def _refuse(self, error: type[OSError], what: str) -> None:
        self.refused = what
        raise error(f"not allowed while repairs are tried: {what}")


def _path_of(descriptor: int) -> str:
    """Where an open directory or file lies; the root, which is never allowed, where the system does not say."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        pass
    try:
        found: bytes = fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(1024))  # type: ignore[attr-defined]  # macOS
        return os.fsdecode(found.rstrip(b"\0"))
    except (AttributeError, OSError):
        return "/"


def _resolved(name: str, *, follow: bool) -> str:
    """The path without links; the last name is left as it is where a link there is not followed."""
    folder, last = os.path.split(name.rstrip("/") or "/")
    if follow or last in {"", ".", ".."}:
        return os.path.realpath(name)
    return os.path.join(os.path.realpath(folder), last)


def limit(cpu: float) -> None:
    """Bound this process: `cpu` seconds of its own time, its memory, the size of its files; no core dumps."""
    if sys.platform == "linux":
        with open("/proc/self/statm", "rb") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        _lower(resource.RLIMIT_AS, now + _MEMORY)
    _lower(resource.RLIMIT_FSIZE, _FILE)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_CPU, int(cpu) + 2)  # should the trial get hold of the timer
    allow(cpu)


def allow(cpu: float) -> None:
    """Seconds of CPU time until this process ends itself, counted from now; 0 switches the timer off."""
    signal.setitimer(signal.ITIMER_PROF, cpu)


class TimeIsUpError(BaseException):
    """Raised inside what takes too long, where it is to be ended without its process."""


class SoftLimit:
    """Ends Python code by an exception; code that resists it, or is not Python, is ended with its process."""

    def __init__(self) -> None:
        self._rung = 0
        signal.signal(signal.SIGPROF, self._ring)

    def allow(self, cpu: float) -> None:
        """Seconds of CPU time from now; 0 switches it off."""
        self._rung = 0
        signal.setitimer(signal.ITIMER_PROF, cpu, cpu)
        signal.setitimer(signal.ITIMER_VIRTUAL, 3 * cpu)  # its signal is not handled: it ends the process

    def _ring(self, _number: int, _frame: Any) -> None:
        self._rung += 1
        if self._rung > 2:  # it catches what it should not
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGPROF)
        raise TimeIsUpError


def _lower(what: int, value: int) -> None:
    hard = resource.getrlimit(what)[1]
    wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(what, (wanted, hard))
