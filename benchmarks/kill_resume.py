"""Does a run that is killed again and again end as one that was left alone, and what do its deaths cost?

    python benchmarks/kill_resume.py [--kills 100] [--each 4] [--seed 1]

Each run has two attempts, 24 turns of a scripted model behind HTTP on loopback and six effects. It is killed with
SIGKILL at 1 to --each random moments, from the start of its first process to the verdict, and resumed after each. Right
is a run that ends verified with its attempts counted on, each edit made once, no command run again unless the model was
told that it is in doubt (and an event says so), and nothing left behind in the tree or in .sdd/issues.md. Runs that are
left alone go in between; the cost of a death is a ratio of wall seconds, all processes of a run together. The exit
status is 1 when a run did not end right; its directory is kept.
"""

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.killing import WHOLE_RUN, Killed, Moment, faults, moments_within, run_killed

ALONE = 5
"""So many killed runs to one that is left alone."""


@dataclass
class Tally:
    """What was seen so far; seconds are of whole runs."""

    kills: int = 0
    right: int = 0
    doubts: int = 0
    broken: list[str] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)
    killed: list[tuple[int, float]] = field(default_factory=list)
    """How often one run was killed, and its seconds."""


def main() -> None:
    """Kill, resume, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, metavar="N", help="so many in all (100)")
    parser.add_argument("--each", type=int, default=4, metavar="N", help="so many of one run, at most (4)")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments (1)")
    options = parser.parse_args()
    if options.kills < 1 or not 1 <= options.each <= len(WHOLE_RUN):
        parser.error(f"--kills is at least 1, and --each 1 to {len(WHOLE_RUN)}")
    tally = measured(options.kills, options.each, random.Random(options.seed))
    report(tally, options.seed)
    sys.exit(1 if tally.broken else 0)


def measured(kills: int, each: int, chance: random.Random) -> Tally:
    """Runs until that many kills have found one alive."""
    tally = Tally()
    while tally.kills < kills:
        if len(tally.killed) % ALONE == 0:
            tally.alone.append(once(tally, ()).seconds)
        count = min(chance.randint(1, each), kills - tally.kills)
        run = once(tally, moments_within(WHOLE_RUN, count, chance))
        tally.kills += len(run.deaths)
        tally.killed.append((len(run.deaths), run.seconds))
        print(f"  run {len(tally.killed)}: {tally.kills} of {kills} kills", file=sys.stderr)
    return tally


def once(tally: Tally, moments: Sequence[Moment]) -> Killed:
    """One run; where it did not end right, it is kept and told."""
    place = Path(tempfile.mkdtemp(prefix="kill_resume_"))
    run = run_killed(place, moments)
    found = faults(run)
    tally.doubts += sum(event["event"] == "in_doubt" for event in run.ran.events)
    if found:
        at = ", ".join(f"{seconds:.3f} s after question {turn}" for turn, seconds in run.deaths) or "never"
        tally.broken.append("\n    ".join([f"{place}, killed {at}", *found]))
    else:
        shutil.rmtree(place)
        tally.right += bool(moments)
    return run


def report(tally: Tally, seed: int) -> None:
    """The figures."""
    runs = len(tally.killed)
    print(f"{tally.kills} kills over {runs} runs (seed {seed}); {tally.doubts} commands in doubt, each told and named")
    print(f"{'ended right':28} {tally.right} of {runs}")
    alone = median(tally.alone)
    print(f"{'left alone':28} {alone:.2f} s (median of {len(tally.alone)})")
    whole = [seconds / alone for _, seconds in tally.killed]
    print(f"{'killed and resumed':28} {median(whole):.2f}x (median of {runs})")
    deaths = [(seconds - alone) / alone / count for count, seconds in tally.killed if count]
    if deaths:
        print(f"{'cost of one death':28} {median(deaths):.2f}x of a run left alone")
    for one in tally.broken:
        print(f"  broke: {one}")


if __name__ == "__main__":
    main()
