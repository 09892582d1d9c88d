"""How long does a model wait for its first look at a large repository, and for the next one?

    python benchmarks/overview.py [--files 20000] [--lines 40]

Makes a repository of Python, TypeScript and Go in a temporary directory and prints wall seconds of
`get_codebase_overview` and `search_symbols`: cold (nothing kept yet), warm (nothing has changed) and after one edit.
The yardstick is in the script: to list the files with git and to read each once.
"""

import argparse
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from kotef.context.repomap.languages import BY_ENDING
from kotef.context.repomap.symbols import read_by
from kotef.tools.overview import overview, search_symbols

TEMPLATES = {
    "py": "def {name}(first, second):\n    total = {used}(first)\n    return total + second\n\n",
    "ts": "export function {name}(first: number): number {{\n  const total = {used}(first);\n  return total;\n}}\n\n",
    "go": "func {name}(first int) int {{\n\ttotal := {used}(first)\n\treturn total\n}}\n\n",
}


def main() -> None:
    """Make, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--lines", type=int, default=40, help="lines of a file, on average")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "repository"
        os.environ["XDG_STATE_HOME"] = str(Path(place) / "state")
        size = make(root, options.files, options.lines)
        readers = ", ".join(
            sorted({f"{BY_ENDING[ending].name} by {read_by(BY_ENDING[ending])}" for ending in TEMPLATES})
        )
        print(f"{options.files:,} files, {size / 1e6:.1f} MB; {readers}")
        yardstick = timed(lambda: read_once(root))
        report("list and read every file once", yardstick, yardstick)
        told: list[str] = []
        cold = timed(lambda: told.append(overview(root)))
        report("overview, cold", cold, yardstick)
        while "not indexed yet" in told[-1]:
            print("    " + next(line for line in told[-1].splitlines() if "not indexed yet" in line))
            report("overview, going on", timed(lambda: told.append(overview(root))), yardstick)
        warm = sorted(timed(lambda: overview(root)) for _ in range(5))[2]
        report("overview, warm", warm, yardstick)
        report("search, warm", timed(lambda: search_symbols(root, "routine_777")), yardstick)
        (root / "part0" / "module0.py").write_text("def only_here():\n    return 1\n")
        report("overview after one edit", timed(lambda: overview(root)), yardstick)
        print(f"warm / cold {warm.wall / cold.wall:.3f}")


def make(root: Path, files: int, lines: int) -> int:
    """A repository in which early modules are used more than late ones; its size in bytes."""
    chance = random.Random(7)
    size = 0
    for number in range(files):
        ending = ("py", "ts", "go")[number % 3]
        path = root / f"part{number // 100}" / f"module{number}.{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(functions(ending, number, chance, lines // 4))
        path.write_text(text)
        size += len(text)
    subprocess.run(["git", "init", "-q", "."], cwd=root, check=True)
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    return size


def functions(ending: str, number: int, chance: random.Random, count: int) -> Iterator[str]:
    """Functions that each use one of another module."""
    for each in range(count):
        used = int(chance.betavariate(0.5, 3) * (number + 1))
        yield TEMPLATES[ending].format(
            name=f"routine_{number}_{each}", used=f"routine_{used}_{chance.randrange(count)}"
        )


def read_once(root: Path) -> int:
    """Bytes of all files, read the plain way."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout
    return sum(len((root / name).read_bytes()) for name in listed.split("\0") if name)


class Seconds(NamedTuple):
    """How long something took; on a machine with other work to do the two differ."""

    wall: float
    cpu: float
    """Of this process; git is not counted."""


def timed(work: Callable[[], object]) -> Seconds:
    """Do it once."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Seconds(time.perf_counter() - wall, time.process_time() - cpu)


def report(what: str, taken: Seconds, yardstick: Seconds) -> None:
    """One line; the ratio is that of the wall seconds."""
    print(f"{what:<32} {taken.wall:6.2f} s wall {taken.cpu:6.2f} s CPU {taken.wall / yardstick.wall:6.2f}×")


if __name__ == "__main__":
    main()
