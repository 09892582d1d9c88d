"""The processes of a command, and their termination."""

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from functools import cache
from typing import Final, NamedTuple

MARKER: Final = "KOTEF_COMMAND"
"""Environment variable every process of a command inherits; its value ends in the command's own token."""

_PR_SET_CHILD_SUBREAPER: Final = 36
_KILL_SECONDS: Final = 2.0
"""How long SIGKILL is repeated: processes may fork between the look and the signal."""

_CHUNK: Final = 64 * 1024
"""Bytes of one read."""


class _Process(NamedTuple):
    """One line of the process table."""

    parent: int
    ended: bool
    session: int
    started: int
    """Clock ticks since boot."""


@cache
def adopt_orphans() -> None:
    """From now on, orphans of our descendants become our children (Linux), so they stay findable and can be reaped."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def start_of(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None when it has ended, or there is no /proc to tell."""
    process = _process(pid)
    return process.started if process and not process.ended else None


class ProcessTree:
    """Everything one command started: what descends from its supervisor, and what carries its token.

    Descent is exact while the supervisor lives, because it adopts orphans; the token finds them should it be killed.
    Where there is no /proc the tree is the process group of the command alone.
    """

    def __init__(self, supervisor: int, token: str) -> None:
        self._supervisor = supervisor
        self._token = token.encode()
        own = _process(supervisor)
        self._started = own.started if own else 0
        self._seen: set[int] = set()
        self.group: int | None = None
        """Process group and session of the command, once they are known: the number of its main process."""

    def alive(self) -> set[int]:
        """Processes that have not ended, the supervisor not among them; negative is a group, as in kill(2)."""
        table = _table()
        if not table:
            return {-self.group} if self.group and _send(-self.group, 0) else set()
        found = {pid for pid, process in table.items() if self._carries_token(pid, process)} | {self._supervisor}
        while more := {pid for pid, process in table.items() if process.parent in found} - found:
            found |= more
        found -= {os.getpid(), self._supervisor}
        self._seen |= found
        return {pid for pid in found if not table[pid].ended}

    def terminate(self) -> None:
        """Ask every process to end."""
        for pid in self.alive():
            _send(pid, signal.SIGTERM)

    def kill(self) -> None:
        """End every process at once, however it resists."""
        deadline = time.monotonic() + _KILL_SECONDS
        while (alive := self.alive()) and time.monotonic() < deadline:
            for pid in alive:
                _send(pid, signal.SIGKILL)
            time.sleep(0.002)

    def reap(self) -> None:
        """Take what the supervisor, when it ended, had not yet taken out of the process table and left to us."""
        for pid, process in _table().items():
            ours = pid in self._seen or process.session == self.group
            if ours and process.ended and process.parent == os.getpid():
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)

    def _carries_token(self, pid: int, process: _Process) -> bool:
        return process.started >= self._started and not process.ended and self._token in _read(pid, "environ")


def _table() -> dict[int, _Process]:
    """All processes by number; empty if there is no /proc."""
    try:
        names = os.listdir("/proc") if sys.platform == "linux" else []  # noqa: PTH208 - a quarter of the time
    except FileNotFoundError:
        return {}
    numbers = (int(name) for name in names if name.isdigit())
    return {pid: process for pid in numbers if (process := _process(pid))}


def _process(pid: int) -> _Process | None:
    """One row, as in proc(5); None once it is gone."""
    line = _read(pid, "stat")
    if b")" not in line:
        return None
    fields = line[line.rindex(b")") + 2 :].split()
    return _Process(
        parent=int(fields[1]), ended=fields[0] in {b"Z", b"X"}, session=int(fields[3]), started=int(fields[19])
    )


def _read(pid: int, name: str) -> bytes:
    try:
        file = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)  # `open` takes half as long again
    except OSError:  # it ended meanwhile, or is another user's
        return b""
    content = b""
    try:
        while chunk := os.read(file, _CHUNK):
            content += chunk
    except OSError:
        return b""
    finally:
        os.close(file)
    return content


def _send(pid: int, number: int) -> bool:
    """Signal a process, or a group if negative; False when there is none, or it is not ours to signal."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
