"""Trials in forked processes, bounded whatever the code under trial does."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import warnings
from typing import Any, Callable

from kotef.repair.worker import restrictions

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_TIME_SIGNALS = frozenset({signal.SIGPROF, signal.SIGVTALRM, signal.SIGXCPU})
_PIECE = 1 << 16


class Child:
    """A forked process that tells its results line by line; its group ends with it."""

    def __init__(self, pid: int, pipe: int, home: str, *, wall: float, total: float, reaped: dict[int, int]) -> None:
        self.pid = pid
        self.pipe = pipe
        self._wall = wall
        self._last = time.monotonic() + total
        self.deadline = min(self._last, time.monotonic() + wall)
        """`time.monotonic()` at which it is ended from outside; each `begin` it tells starts again, up to the last."""
        self._reaped = reaped
        self.home = home
        self.words: list[Any] = []
        self._rest = b""

    def fileno(self) -> int:
        """For `selectors`."""
        return self.pipe

    def read(self) -> bool:
        """Take in what it has said; False when it will say nothing more."""
        try:
            piece = os.read(self.pipe, _PIECE)
        except BlockingIOError:
            return True
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            try:
                word = json.loads(line)
            except ValueError:  # the trial wrote into our pipe
                continue
            if isinstance(word, list) and word:
                self.words.append(word)
                if word[0] == "begin":
                    self.deadline = min(self._last, time.monotonic() + self._wall)
        return bool(piece)

    def end(self, *, kill: bool = False) -> str:
        """Take it out of the process table with all it started; `done`, or how it ended before its last word."""
        timed_out = kill
        for pause in () if kill else (0.0, 0.001, 0.004):
            time.sleep(pause)
            reap(self._reaped)
            if self.pid in self._reaped:
                break
        self._kill()  # also what it started and left, or itself should it have closed its pipe and gone on
        status = self._reaped.pop(self.pid, None)
        if status is None:
            _, status = os.waitpid(self.pid, 0)
        while self.read_rest():
            pass
        os.close(self.pipe)
        shutil.rmtree(self.home, ignore_errors=True)
        if self.words and self.words[-1] == ["done"]:
            return "done"
        if timed_out or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in _TIME_SIGNALS):
            return "time"
        return "crash"

    def read_rest(self) -> bool:
        """Take in what the pipe still holds, without waiting for whoever holds its other end."""
        before = len(self.words)
        os.set_blocking(self.pipe, False)
        return self.read() and len(self.words) > before

    def _kill(self) -> None:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def reap(reaped: dict[int, int]) -> None:
    """Take all that have ended out of the process table; orphans of children are among them."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        reaped[pid] = status


class Nursery:
    """Starts children and holds what they all need."""

    def __init__(self, scratch: str, keep_out: list[int]) -> None:
        self.fence = restrictions.Restrictions(scratch)
        self._scratch = scratch
        self._keep_out = keep_out
        self._nowhere = os.open(os.devnull, os.O_RDWR)
        self._libc = ctypes.CDLL(None) if sys.platform == "linux" else None
        self._reaped: dict[int, int] = {}
        if self._libc is not None:
            self._libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def start(self, body: Callable[[Callable[[Any], None]], None], *, cpu: float, wall: float, total: float) -> Child:
        """Fork; the child calls `body` with a function that tells the parent one JSON value, and then ends."""
        home = tempfile.mkdtemp(dir=self._scratch)
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads that the project's modules have started
            pid = os.fork()
        if pid:
            os.close(writing)
            return Child(pid, reading, home, wall=wall, total=total, reaped=self._reaped)
        try:
            self._settle(home, cpu)
            own = os.getpid()

            def tell(value: Any) -> None:
                if os.getpid() != own:  # a fork of the trial's own that came back
                    os._exit(1)
                os.write(writing, json.dumps(value).encode() + b"\n")

            self.fence.close()
            body(tell)
            self.fence.open_again()
            tell(["done"])
        except BaseException as error:  # the process ends here, so nothing is swallowed but what `end` reports
            os.write(writing, json.dumps(["error", type(error).__name__, str(error)[:300]]).encode() + b"\n")
        finally:
            os._exit(0)

    def _settle(self, home: str, cpu: float) -> None:
        os.setpgrp()  # not a session of its own: by the session all of them are found in the end
        if self._libc is not None:
            self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        for name in (*_TIME_SIGNALS, signal.SIGTERM, signal.SIGALRM):
            signal.signal(name, signal.SIG_DFL)
        for number in (0, 1, 2):
            os.dup2(self._nowhere, number)
        for number in self._keep_out:
            os.close(number)
        os.environ["TMPDIR"] = tempfile.tempdir = home
        restrictions.limit(cpu)
