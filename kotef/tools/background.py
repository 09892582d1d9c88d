"""Background commands of a coder, and their termination."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from kotef.errors import KotefError
from kotef.files import os_fault
from kotef.sandbox import Completed
from kotef.tools.errors import ToolFault
from kotef.tools.shell import MAX_OUTPUT
from kotef.tools.truncated_output import Keep, clip_kept

MOST: Final = 3
"""Commands in the background at a time."""
LOG_CAP: Final = 5_000_000
"""Bytes of output kept per command."""
FIRST_LOOK: Final = 0.3
"""Seconds in which a broken command has probably failed."""
_HANDLE: Final = re.compile(r"bg_\d+_\d+")

Start = Callable[[str, Path, float | None], Awaitable[Completed]]
"""Runs a command line to its end, its output in this file; cancelling it ends all that it started."""


@dataclass(slots=True)
class _Command:
    """A command started in this visit."""

    handle: str
    log: Path
    task: asyncio.Task[Completed]
    started: float
    read: int = 0
    """Bytes of the log shown to the model."""


class Background:
    """The commands one visit runs in the background; as a context manager it ends what still runs at the end.

    A kill of kotef ends them as well (their supervisor sees to that), so that after it no handle is alive.
    """

    def __init__(
        self, start: Start, logs: Path, visit: int, *, watching: Callable[[], AbstractContextManager[None]]
    ) -> None:
        """`watching` holds while a command runs: what changes in the workspace meanwhile is the coder's doing."""
        self._start, self._logs, self._visit, self._watching = start, logs, visit, watching
        self._commands: dict[str, _Command] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for command in self._commands.values():
            command.task.cancel()
        await asyncio.gather(*(command.task for command in self._commands.values()), return_exceptions=True)

    async def start(self, command: str, timeout: float | None, *, keep: Keep | None = None) -> str:
        """Start a command; returns its handle and first state. Raises `ToolFault` if too many are running."""
        running = [one.handle for one in self._commands.values() if not one.task.done()]
        if len(running) >= MOST:
            raise ToolFault(
                "exec_error", f"not started: {', '.join(running)} are still running; end one with stop_command"
            )
        number = 1
        while (log := self._logs / f"bg_{self._visit}_{number}.log").exists():
            number += 1
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            log.touch(mode=0o600)
        except OSError as error:
            raise os_fault(log, error) from error
        task = asyncio.create_task(self._run(command, log, timeout))
        started = _Command(log.stem, log, task, time.monotonic())
        self._commands[started.handle] = started
        await asyncio.wait({task}, timeout=FIRST_LOOK)
        return self._tell(started, keep)

    async def read(self, handle: str, wait: float = 0.0, *, keep: Keep | None = None) -> str:
        """The state of a command and its output since the last look; waits up to `wait` seconds for its end.

        `keep` takes the whole of an output that is too long to be shown.

        Raises `ToolFault` for a handle that was never given.
        """
        command = self._commands.get(handle)
        if command is None:
            return self._tell_of_earlier(handle, keep)
        await asyncio.wait({command.task}, timeout=wait)
        return self._tell(command, keep)

    async def stop(self, handle: str, *, keep: Keep | None = None) -> str:
        """End a command and all that it started; the same words as `read`."""
        command = self._commands.get(handle)
        if command is None:
            return self._tell_of_earlier(handle, keep)
        command.task.cancel()
        await asyncio.wait({command.task})
        return self._tell(command, keep)

    async def _run(self, command: str, log: Path, timeout: float | None) -> Completed:
        with self._watching():
            return await self._start(command, log, timeout)

    def _tell(self, command: _Command, keep: Keep | None) -> str:
        output = _printed(command.log, command.read)
        command.read += len(output)
        text = output.decode("utf-8", "replace").rstrip()
        shown = clip_kept(text, MAX_OUTPUT, keep) or ("[no new output]" if command.read else "[no output]")
        return f"{command.handle}: {_standing(command)}\n{shown}"

    def _tell_of_earlier(self, handle: str, keep: Keep | None) -> str:
        """The log of a command that ended with an earlier process of kotef."""
        log = self._logs / f"{handle}.log"
        if not _HANDLE.fullmatch(handle) or not log.exists():
            known = ", ".join(self._commands) or "none"
            raise ToolFault("exec_error", f"there is no background command {handle[:80]!r}; the commands are: {known}")
        text = _printed(log, 0).decode("utf-8", "replace").rstrip()
        ended = "ended when kotef was interrupted, or with its visit; start it again if you need it"
        return f"{handle}: {ended}\n{clip_kept(text, MAX_OUTPUT, keep) or '[no output]'}"


def _printed(log: Path, start: int) -> bytes:
    """The log from this byte on; empty if it was deleted."""
    try:
        with log.open("rb") as file:
            file.seek(start)
            return file.read(LOG_CAP)
    except OSError:
        return b""


def _standing(command: _Command) -> str:
    task = command.task
    if not task.done():
        return f"running for {time.monotonic() - command.started:.0f} s; see read_output, end it with stop_command"
    if task.cancelled():
        return "stopped"
    error = task.exception()
    if isinstance(error, KotefError):
        return f"not run: {error}"
    if error is not None:
        raise error
    done = task.result()
    if done.timed_out:
        return f"stopped at its timeout after {done.seconds:.0f} s"
    return f"ended, exit {done.exit_code} ({done.seconds:.1f} s)"
