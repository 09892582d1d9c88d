"""Background runs: processes that outlive the client that started them, and how to stop them."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeVar

from kotef.errors import UsageError
from kotef.files import state_dir
from kotef.runs import store
from kotef.runs.ending_text import headline, without_result
from kotef.workspace import holder_of, start_of

START_SECONDS: Final = 60.0
"""How long a run may take to say that it has begun."""
LOOKS: Final = 0.05
"""Seconds between two looks."""
LOG: Final = "detached.log"
"""In the logs of a run: what its process said."""
_ERROR: Final = re.compile(r"^kotef: error: (.*)$", re.MULTILINE)

T = TypeVar("T")


@dataclass(slots=True)
class Detached:
    """Runs of one workspace, each in a process and a session of its own: they go on when this one ends."""

    root: Path
    _started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    async def start(self, arguments: Sequence[str]) -> store.RunDir:
        """Begin `kotef run` with these arguments; returns as soon as the run is on record.

        Its words go to `logs/detached.log` of the run. Raises `UsageError`, with kotef's own words where it ends before
        that.
        """
        self.reap()
        known = {run.run_id for run in store.own_runs(self.root)}
        log = state_dir(self.root) / f"detached-{time.time_ns():x}.log"
        process = self._begin(arguments, log)
        run: store.RunDir | Literal[False] | None
        run = await until(partial(self._begun, process, known, log), START_SECONDS)
        if run is None:
            late = f"the run did not start within {START_SECONDS:.0f} s"
            raise UsageError(late, hint=f"it is still running, see {log}")
        if run is False:
            output = log.read_text(encoding="utf-8", errors="replace")
            log.unlink(missing_ok=True)
            raise UsageError(_why(output, process.returncode))
        with suppress(OSError):  # another disk: it stays where it is
            log.rename(run.logs / LOG)
        return run

    async def cancel(self, run: store.RunDir, seconds: float) -> bool:
        """Ask the run to stop, and wait for its end; False when it is still stopping after `seconds`.

        Raises `UsageError` if no process is known to work on it.
        """
        self.reap()
        found = holder_of(self.root)
        if found is None or found.run != run.run_id or not _terminate(found.pid, found.started):
            raise UsageError(f"run {run.run_id} is not at work: {_ended(run)}")
        gone = await until(lambda: start_of(found.pid) != found.started or None, seconds)
        self.reap()
        return gone is not None

    def reap(self) -> None:
        """Take the runs that have ended out of the process table."""
        self._started = [process for process in self._started if process.poll() is None]

    def _begin(self, arguments: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "kotef", "run", f"--root={self.root}", *arguments]
        with log.open("xb") as file:
            try:
                process = subprocess.Popen(
                    command,
                    cwd=self.root,
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except (ValueError, OSError) as error:  # a NUL, a lone surrogate, or more than the system takes
                log.unlink(missing_ok=True)
                raise UsageError(f"a process cannot be started with these arguments: {error}") from error
        self._started.append(process)
        return process

    def _begun(
        self, process: subprocess.Popen[bytes], known: set[str], log: Path
    ) -> store.RunDir | Literal[False] | None:
        """The run once it is on record, False when the process has ended without one; None: look again.

        A run that was over between two looks is known by its first line, which names it.
        """
        ended = process.poll() is not None
        found = holder_of(self.root)
        if found is not None and found.pid == process.pid:
            run = store.at(self.root, found.run)
            return run if run.events.exists() else None
        if not ended:
            return None
        output = log.read_text(encoding="utf-8", errors="replace")
        fresh = (run for run in store.own_runs(self.root) if run.run_id not in known and run.run_id in output)
        return next(fresh, None) or False


def at_work(root: Path, run: store.RunDir) -> bool:
    """Whether a process is known to work on this run now."""
    found = holder_of(root)
    return found is not None and found.run == run.run_id


async def until(look: Callable[[], T | None], seconds: float) -> T | None:
    """What `look` finds in time; None when it finds nothing."""
    deadline = time.monotonic() + seconds
    while (found := look()) is None:
        if time.monotonic() >= deadline:
            return None
        await asyncio.sleep(LOOKS)
    return found


def _terminate(pid: int, started: int) -> bool:
    """Send SIGTERM to this very process; one that has its number by now is not signalled."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if start_of(pid) != started:
            return False
        signal.pidfd_send_signal(handle, signal.SIGTERM)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(handle)


def _ended(run: store.RunDir) -> str:
    result = run.result()
    return f"it ended {headline(result)}" if result else without_result(run)


def _why(said: str, code: int) -> str:
    """Why it ended, in one line: its own words where it has some."""
    if found := _ERROR.findall(said):
        return str(found[-1])
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "no output")
    return f"kotef ended with exit status {code}: {last.strip()[:300]}"
