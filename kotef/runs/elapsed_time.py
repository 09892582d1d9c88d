"""Working time of a run, kept through kills, and the time of its checks."""

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from kotef.checks.verdict_inputs import Judging, place_of
from kotef.deps import Clock
from kotef.errors import WorkspaceError
from kotef.files import state_dir, write_atomic
from kotef.runs.store import RunDir, own_runs

EVERY: Final = 2.0
"""Most seconds that a kill may leave uncounted while a run is silent."""

_RUNS: Final = 5
"""Number of newest runs whose check durations are read."""
_TOOK: Final = "check-seconds.json"
_MOST: Final = 50
"""Commands whose seconds are kept for a workspace."""
_NOTED: Final = TypeAdapter(dict[str, tuple[float, float]])
_DIGITS: Final = 32
"""Characters read of the file, which is in the workspace."""


def seconds_worked(run: RunDir) -> float:
    """The recorded wall seconds; 0 if there are none, or no valid number."""
    try:
        with _place(run).open(encoding="ascii") as file:
            seconds = float(file.read(_DIGITS))
    except (OSError, ValueError):
        return 0.0
    return seconds if 0 <= seconds < math.inf else 0.0


@asynccontextmanager
async def counting(run: RunDir, clock: Clock) -> AsyncIterator[None]:
    """Record the clock of the run during the block, however it ends."""
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


def keep_seconds(root: Path, took: Mapping[str, float]) -> None:
    """Record check durations outside a run, by command; a full disk only loses the record."""
    place = state_dir(root) / _TOOK
    kept = {command: noted for command, noted in _noted(place).items() if command not in took}
    kept |= {command: (round(seconds, 3), time.time()) for command, seconds in took.items()}
    newest = dict(sorted(kept.items(), key=lambda entry: entry[1][1])[-_MOST:])
    with suppress(OSError, WorkspaceError):
        write_atomic(place, json.dumps(newest).encode())


def last_seconds(root: Path) -> dict[str, float]:
    """Command of a check → seconds it took when `kotef check`, or one of the newest runs kept here, last ran it.

    Of a run what counts is the state before it, for later ones may be judged in parts.
    """
    found = _noted(state_dir(root) / _TOOK)
    for run in list(own_runs(root))[-_RUNS:]:
        place = place_of(run.path, 0)
        try:
            judged, at = Judging.model_validate_json(place.read_bytes()), place.stat().st_mtime
        except (OSError, ValueError):
            continue
        for check, result in judged.results:
            if at >= found.get(check.command, (0.0, 0.0))[1]:
                found[check.command] = (result.seconds, at)
    return {command: seconds for command, (seconds, _) in found.items()}


def _noted(place: Path) -> dict[str, tuple[float, float]]:
    """Recorded seconds and their time; empty if the file is missing or damaged."""
    try:
        return _NOTED.validate_json(place.read_bytes())
    except (OSError, ValueError):
        return {}
