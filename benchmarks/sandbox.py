"""What does a sandbox add to the time of each command, against the same command without one?

Run it on an idle machine: `python benchmarks/sandbox.py [--rounds N]`. Levels take turns in one process, so that what
else the machine does falls on each alike. Exits 0 when every level that this machine has is within its target.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from kotef.sandbox import OFF, SANDBOX_LEVELS, Sandbox, child_environment, confine, probe_level, run_process

TARGETS = {"bwrap": 8.0, "landlock": 2.0}
"""Milliseconds that a level may add to a command."""
COMMAND = ":"
"""What the shell does by itself."""


def main() -> int:
    """Print milliseconds per command and level."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="commands per level")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as place:
        root = Path(place, "project")
        root.mkdir()
        env = child_environment(os.environ)
        confinement = confine(root, Path(place, "state", "kotef", "x", "sandbox"), env)
        sandboxes = [OFF]
        for level in SANDBOX_LEVELS:
            probed = probe_level(level, confinement, env)
            if probed.holds:
                sandboxes.append(Sandbox(level, confinement))
            else:
                print(f"{level}: not to be had here: {probed.why_not}")
        taken = asyncio.run(_measure(sandboxes, root, env, rounds))
    return _told(taken, rounds)


async def _measure(sandboxes: list[Sandbox], root: Path, env: dict[str, str], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each command, by level."""
    taken: dict[str, list[float]] = {sandbox.level: [] for sandbox in sandboxes}
    for turn in range(-5, rounds):  # the first ones fill caches
        for sandbox in sandboxes:
            started = time.perf_counter()
            done = await run_process(COMMAND, cwd=root, env=env, timeout=60, idle_timeout=None, sandbox=sandbox)
            milliseconds = (time.perf_counter() - started) * 1000
            assert done.exit_code == 0, done.stderr
            if turn >= 0:
                taken[sandbox.level].append(milliseconds)
    return taken


def _told(taken: dict[str, list[float]], rounds: int) -> int:
    """Print a line per level; 1 when one is over its target."""
    plain = statistics.median(taken["off"])
    print(f"{'level':<10}{'ms/command':>12}{'added':>9}{'ratio':>8}{'target':>9}   (medians of {rounds})")
    over = False
    for level, times in taken.items():
        median = statistics.median(times)
        added = statistics.median(one - other for one, other in zip(times, taken["off"], strict=True))
        target = TARGETS.get(level)
        over |= target is not None and added > target
        shown = f"< {target:g}" if target else ""
        print(f"{level:<10}{median:>12.2f}{added:>9.2f}{median / plain:>8.2f}{shown:>9}")
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
