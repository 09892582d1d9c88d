"""What may code under trial not do to the machine?"""

from __future__ import annotations

import mmap
import os
import resource
import signal
import sys
from typing import Any, Callable

_CHANGES = {
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.mkdir": (0,),
    "os.link": (1,),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.utime": (0,),
    "os.setxattr": (0,),
    "shutil.rmtree": (0,),
    "sqlite3.connect": (0,),
}
"""Audit events that change the file system, with the places of the paths they change."""
_STARTS = frozenset({"os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec", "subprocess.Popen"})
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MEMORY = 768 << 20
"""Bytes of address space a trial may take beyond what the collected suite holds."""
_FILE = 32 << 20
_PROCESSES = 64
"""Processes that one trial, with all its descendants, may start."""


class Fence:
    """Refuses what Python code does to files outside `scratch`, to processes of others and to other machines.

    It watches audit events, so what a C library does by itself goes unseen.
    """

    def __init__(self, scratch: str) -> None:
        self.refused = ""
        """What was last refused, empty for nothing."""
        self._allowed = (os.path.realpath(scratch) + os.sep, "/dev/")
        self._started = mmap.mmap(-1, 8)  # shared with all descendants: a bomb counts as one
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
        self._watching = True

    def open_again(self) -> None:
        """For the worker's own needs between two trials."""
        self._watching = False

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._watching:
            rule = self._rules.get(event)
            if rule is not None:
                rule(event, arguments)

    def _open(self, event: str, arguments: tuple[Any, ...]) -> None:
        path, mode, flags = arguments
        if (isinstance(flags, int) and flags & _WRITING) or (isinstance(mode, str) and set(mode) & set("wax+")):
            self._check(event, path)

    def _change(self, event: str, arguments: tuple[Any, ...]) -> None:
        for place in _CHANGES[event]:
            self._check(event, arguments[place])

    def _check(self, event: str, path: Any) -> None:
        if isinstance(path, int) or path is None:
            return
        name = os.fsdecode(path)
        if name == ":memory:" or (os.path.realpath(name) + os.sep).startswith(self._allowed):
            return
        self._refuse(PermissionError, f"{event} {name}")

    def _start(self, event: str, _arguments: tuple[Any, ...]) -> None:
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
