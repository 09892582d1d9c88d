"""How long has a run been at work, also when a kill ends it in the middle of a step? How long did its checks take?"""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from kotef.checks.judging import Judging, place_of
from kotef.deps import Clock
from kotef.runs.store import RunDir, own_runs

EVERY: Final = 2.0
"""Seconds a kill may hide, at most, from the count of a run that is silent just then."""

_RUNS: Final = 5
"""The newest runs that are asked how long a check took."""
_DIGITS: Final = 32
"""Characters of the file that are read; it lies in the workspace."""


def seconds_worked(run: RunDir) -> float:
    """The wall seconds on record; 0 where there are none, or nothing that is a number."""
    try:
        with _place(run).open(encoding="ascii") as file:
            seconds = float(file.read(_DIGITS))
    except (OSError, ValueError):
        return 0.0
    return seconds if 0 <= seconds < math.inf else 0.0


@asynccontextmanager
async def counting(run: RunDir, clock: Clock) -> AsyncIterator[None]:
    """Keep the clock of the run on record while the block works, whatever ends it."""
    keeping = asyncio.create_task(_keep(run, clock))
    try:
        yield
    finally:
        keeping.cancel()
        _note(run, clock)


async def _keep(run: RunDir, clock: Clock) -> None:
    while True:
        _note(run, clock)
        await asyncio.sleep(EVERY)


def _note(run: RunDir, clock: Clock) -> None:
    with suppress(OSError):  # a full disk costs the count of a kill, never the run
        _place(run).write_text(f"{clock.elapsed():.3f}\n", encoding="ascii")


def _place(run: RunDir) -> Path:
    return run.path / "seconds"


def last_seconds(root: Path) -> dict[str, float]:
    """Command of a check → seconds it took when a run last judged the state before it, of the newest runs kept here."""
    found: dict[str, float] = {}
    for run in list(own_runs(root))[-_RUNS:]:
        try:
            judged = Judging.model_validate_json(place_of(run.path, 0).read_bytes())
        except (OSError, ValueError):
            continue
        found |= {check.command: result.seconds for check, result in judged.results}
    return found
