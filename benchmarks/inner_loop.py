"""What does kotef's inner loop cost beside a bare loop on the openai client, and a bare `create_agent`?

All three have the same tools, answers and server on loopback, and run one after the other, several times; figures are
medians, and ratios hold better than figures. `lookups`: N files are read, one a turn, with kotef's durable state.
`fix`: read, read, edit, test, done. `help`: `kotef --help` beside `python -c 'import click'`.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent / "inner_loop"
LOOKUPS = "look at every file in notes"
FIX = "make the test pass"
CONTENDERS = ("openai", "create_agent", "kotef")


@dataclass
class Ran:
    """One process: what it used, and what the server saw of it."""

    seen: dict[str, Any]
    started: float
    ended: float
    cpu: float
    """Seconds of user and system time, children not counted."""
    peak: int
    """Bytes of resident memory at most."""
    disk: int
    verdict: float
    """When kotef said how it ended, on the clock of `time.time`; 0 for the others."""


class Server:
    """The scripted endpoint in a process of its own."""

    def __init__(self, lookups: int) -> None:
        command = [sys.executable, str(HERE / "server.py"), str(lookups)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()

    def report(self) -> dict[str, Any]:
        """What it has seen since the last call."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        seen: dict[str, Any] = json.loads(self.process.stdout.readline())
        return seen

    def close(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def workspace(place: Path, lookups: int) -> None:
    """A tiny project with one failing test, and many notes."""
    (place / "notes").mkdir(parents=True)
    for number in range(lookups):
        text = "".join(f"note {number}, line {line}: {hash((number, line)):x}\n" for line in range(40))
        (place / "notes" / f"n{number:03}.txt").write_text(text)
    (place / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (place / "test_calc.py").write_text(
        "import unittest\n\nfrom calc import add\n\n\nclass Add(unittest.TestCase):\n"
        "    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n"
    )
    for arguments in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "b"),
    ):
        subprocess.run(["git", *arguments], cwd=place, check=True)


def run(contender: str, goal: str, server: Server, lookups: int, cache: str) -> Ran:
    """One contender, once, in a workspace of its own; `cache` holds the byte code of all."""
    with tempfile.TemporaryDirectory() as temporary:
        place, state = Path(temporary) / "project", Path(temporary) / "state"
        place.mkdir()
        workspace(place, lookups)
        environment = os.environ | {
            "OPENAI_BASE_URL": server.url,
            "XDG_STATE_HOME": str(state),
            "XDG_CONFIG_HOME": str(state),
            "PYTHONHASHSEED": "0",
            "PYTHONPYCACHEPREFIX": cache,
        }
        for name in ("OPENAI_API_KEY", "PYTHONDONTWRITEBYTECODE"):
            environment.pop(name, None)
        kotef = ["run", goal, "--coder", "model", "--model", "scripted", "--check", "python -m unittest -q"]
        command = {
            "openai": [str(HERE / "bare_openai.py"), goal],
            "create_agent": [str(HERE / "bare_agent.py"), goal],
            "kotef": [str(HERE / "raised.py"), *kotef, "--max-attempts", "1"],
        }[contender]
        started = time.time()
        process = subprocess.Popen(
            [sys.executable, *command], cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert process.stdout is not None
        printed = process.stdout.read()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        ended = time.time()
        cpu = _own_cpu(process.pid)
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        seen = server.report()
        if not seen["turns"]:
            sys.stderr.write(printed.decode())
            raise SystemExit(f"{contender} asked nothing")
        runs = list((place / ".sdd" / "runs").glob("2*"))
        disk = sum(one.stat().st_size for each in runs for one in each.rglob("*") if one.is_file())
        return Ran(seen, started, ended, cpu, usage.ru_maxrss * 1024, disk, _verdict(runs))


def _own_cpu(pid: int) -> float:
    """User and system seconds of a process that has ended and was not waited for yet; its children apart."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _verdict(runs: list[Path]) -> float:
    for each in runs:
        for line in (each / "events.jsonl").read_text().splitlines():
            event = json.loads(line)
            if event["event"] == "ended":
                return float(event["t"])
    return 0.0


def compare(name: str, figures: dict[str, float], unit: str, targets: dict[str, float]) -> None:
    """One line: the figures, and kotef's ratio to each of the others."""
    shown = "   ".join(f"{who} {value:.4g}" for who, value in figures.items())
    ratios = [
        f"{figures['kotef'] / figures[who]:.2f}x {who} (target {limit:g})"
        for who, limit in targets.items()
        if figures.get(who)
    ]
    print(f"{name:28} {shown} {unit}   {'; '.join(ratios)}")


def measured(goal: str, lookups: int, rounds: int) -> dict[str, list[Ran]]:
    """Every contender, interleaved."""
    server = Server(lookups)
    try:
        found: dict[str, list[Ran]] = {name: [] for name in CONTENDERS}
        with tempfile.TemporaryDirectory() as cache:
            for contender in CONTENDERS:
                run(contender, FIX, server, 1, cache)  # compiles what is imported
            for number in range(rounds):
                for contender in CONTENDERS:
                    print(f"  {goal}: round {number + 1}, {contender}", file=sys.stderr)
                    found[contender].append(run(contender, goal, server, lookups, cache))
        return found
    finally:
        server.close()


def middle(runs: dict[str, list[Ran]], what: Any) -> dict[str, float]:
    """The median of one figure for each contender."""
    return {name: median(what(each) for each in found) for name, found in runs.items()}


def say_lookups(runs: dict[str, list[Ran]], lookups: int) -> None:
    """The figures of the long scenario."""
    print(f"\n{lookups} look-ups")
    compare(
        "answer to next request",
        middle(runs, lambda ran: 1000 * median(ran.seen["gaps"][-20:])),
        "ms (last 20)",
        {"openai": 0.3, "create_agent": 0.25},
    )
    grown = middle(runs, lambda ran: median(ran.seen["gaps"][-20:]) / median(ran.seen["gaps"][:20]))
    print(f"{'last 20 over first 20':28} " + "   ".join(f"{who} {value:.2f}x" for who, value in grown.items()))
    compare("peak memory", middle(runs, lambda ran: ran.peak / 1e6), "MB", {"create_agent": 1.1})
    for ran in runs["kotef"][:1]:
        print(f"{'disk over messages':28} {ran.disk / max(ran.seen['sizes']):.2f}x (target 3), {ran.disk / 1e6:.2f} MB")
        share = ran.seen["repeated"]
        print(
            f"{'request repeated':28} {min(share[-50:]):.3f} at least, {median(share):.4f} in the middle (target 0.95)"
        )


def say_fix(runs: dict[str, list[Ran]]) -> None:
    """The figures of the short scenario."""
    print("\none fix")
    compare("CPU, children apart", middle(runs, lambda ran: ran.cpu), "s", {"openai": 2.0})
    first = middle(runs, lambda ran: ran.seen["first"] - ran.started)
    compare("first request", first, "s", {"create_agent": 1.0})
    late = median(ran.ended - ran.verdict for ran in runs["kotef"])
    print(f"{'verdict to exit':28} {1000 * late:.0f} ms (target 100)")


def say_help(rounds: int) -> None:
    """What `kotef --help` costs."""

    def cpu(*command: str) -> float:
        before = os.times()
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    pairs = [(cpu("-m", "kotef", "--help"), cpu("-c", "import click")) for _ in range(rounds * 3)]
    ours, click = median(one for one, _ in pairs), median(other for _, other in pairs)
    print(f"\n{'kotef --help, CPU':28} {1000 * ours:.0f} ms, {ours / click:.2f}x import click (target 60 ms or 1.5)")


def main() -> None:
    """Run what was asked for and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lookups", type=int, default=200, metavar="N", help="default: 200")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument("--only", choices=["lookups", "fix", "help"], help="one part alone")
    options = parser.parse_args()
    if shutil.which("git") is None:
        parser.error("git is not installed")
    if options.only in (None, "lookups"):
        say_lookups(measured(LOOKUPS, options.lookups, options.rounds), options.lookups)
    if options.only in (None, "fix"):
        say_fix(measured(FIX, 5, options.rounds))
    if options.only in (None, "help"):
        say_help(options.rounds)


if __name__ == "__main__":
    main()
