"""Results of the project's checks, short enough for a conversation."""

import asyncio
import json
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from kotef.errors import CheckError

SHOWN: Final = 20
"""Failures shown of one check, and names shown of each list of tests."""
PATIENCE: Final = 10.0
"""Seconds that checks no one waits for may take to end."""


async def check(root: Path) -> dict[str, Any]:
    """What `kotef check --json` found, long lists cut; raises `CheckError` where it could not look.

    It runs in a process of its own, which is interrupted when no one waits for the answer any more.
    """
    command = (sys.executable, "-m", "kotef", "check", "--json", f"--root={root}")
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=root,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = await process.communicate()
    except asyncio.CancelledError:
        await asyncio.shield(_stop(process))
        raise
    try:
        found = json.loads(out)
    except ValueError:
        last_line = err.decode(errors="replace").strip().rpartition("\n")[2]
        raise CheckError("kotef check", last_line or "no output", hint=f"exit status {process.returncode}") from None
    if "error" in found:
        raise CheckError("kotef check", found["error"], hint=f"exit status {process.returncode}")
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
