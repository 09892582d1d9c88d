"""Results of the project's checks, short enough for a conversation."""

import asyncio
import json
import secrets
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kotef.errors import CheckError, UsageError

SHOWN: Final = 20
"""Failures shown of one check, and names shown of each list of tests."""
PATIENCE: Final = 10.0
"""Seconds that checks no one waits for may take to end."""
PROGRESS_SECONDS: Final = 5.0
"""Between two notifications of progress."""
NEXT: Final = "call check again with this check_id; the result is about the files as they are while it runs"

Progress = Callable[[float, str], Awaitable[None]]
"""Called with the seconds so far and one line for people."""


@dataclass(slots=True)
class CheckAtWork:
    """One `kotef check`, in a process of its own."""

    id: str
    since: float
    """Seconds on `time.monotonic` at its start."""
    process: asyncio.subprocess.Process
    output: "asyncio.Task[tuple[bytes, bytes]]"

    @property
    def seconds(self) -> float:
        """Seconds since its start."""
        return round(time.monotonic() - self.since, 1)

    async def stop(self) -> None:
        """Interrupt it and wait for its end."""
        await _stop(self.process)
        self.output.cancel()


@dataclass(slots=True)
class Checks:
    """The checks of one workspace: at most one is at work, and goes on while no one waits for it."""

    root: Path
    _current: CheckAtWork | None = None

    async def ask(self, check_id: str, wait_seconds: float, progress: Progress | None = None) -> dict[str, Any]:
        """Begin a check, or with its id continue to wait for one; what it found, or that it is still running.

        What it found is about the files as they were while it ran, so a later question without its id does not
        get it. It is interrupted when the wait is cancelled. Raises `UsageError` for an id that is not known, and where
        another check is at work, `CheckError` where it could not look.
        """
        check = self._known(check_id) if check_id else await self._begin()
        try:
            await self._wait(check, wait_seconds, progress)
        except asyncio.CancelledError:
            self._current = None
            await asyncio.shield(check.stop())
            raise
        if not check.output.done():
            return {"state": "running", "checkId": check.id, "seconds": check.seconds, "next": NEXT}
        self._current = None
        found = _found(*check.output.result(), check.process.returncode)
        return {"state": "finished", "seconds": check.seconds, **found}

    async def close(self) -> None:
        """Stop the check that no one can ask for any more."""
        if self._current is not None:
            await self._current.stop()
            self._current = None

    def _known(self, check_id: str) -> CheckAtWork:
        if self._current is None or self._current.id != check_id:
            raise UsageError(f"no check {check_id!r:.40} is known here", hint="leave check_id out to begin one")
        return self._current

    async def _begin(self) -> CheckAtWork:
        current = self._current
        if current is not None and not current.output.done():
            hint = f"ask with check_id {current.id} for its result; it is about the files as they were while it ran"
            raise UsageError(f"a check is at work since {current.seconds:.0f} s", hint=hint)
        self._current = await _started(self.root)
        return self._current

    async def _wait(self, check: CheckAtWork, seconds: float, progress: Progress | None) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not check.output.done():
            await asyncio.wait([check.output], timeout=min(left, PROGRESS_SECONDS))
            if progress is not None and not check.output.done():
                await progress(check.seconds, f"the checks are running, {check.seconds:.0f} s")


async def _started(root: Path) -> CheckAtWork:
    command = (sys.executable, "-m", "kotef", "check", "--json", f"--root={root}")
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=root,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    return CheckAtWork(secrets.token_hex(4), time.monotonic(), process, asyncio.create_task(process.communicate()))


def _found(out: bytes, err: bytes, code: int | None) -> dict[str, Any]:
    """What `kotef check --json` found, long lists cut; raises `CheckError` where it could not look."""
    try:
        found = json.loads(out)
    except ValueError:
        last_line = err.decode(errors="replace").strip().rpartition("\n")[2]
        raise CheckError("kotef check", last_line or "no output", hint=f"exit status {code}") from None
    if "error" in found:
        raise CheckError("kotef check", found["error"], hint=f"exit status {code}")
    return shortened(found)


def shortened(found: dict[str, Any]) -> dict[str, Any]:
    """The same with at most `SHOWN` of each list; where there were more, `leftOut` says how many."""
    short: dict[str, Any] = {}
    left = 0
    for name, value in found.items():
        match value:
            case [{}, *_] if name == "checks":
                short[name] = [shortened(one) for one in value]
            case [*items]:
                short[name] = items[:SHOWN]
                left += len(items[SHOWN:])
            case _:
                short[name] = value
    return {**short, "leftOut": left} if left else short


async def _stop(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
        try:
            async with asyncio.timeout(PATIENCE):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
