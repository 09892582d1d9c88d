"""What do the guards do to recorded runs of real models? False stops among those that were right, and crashes.

`python benchmarks/recorded.py FOLDER` reads every trajectory below a folder: `*.traj.json` of mini-swe-agent and
`*.traj` of SWE-agent, with the `report.json`, `results_summary.json` or `results.json` that say which runs were right.
Nothing of them belongs to this project; `recorded.toml` lists addresses and commits.

Each command and its output become a call as kotef would see it, and go through the guards in the order of the stack.
The workspace is not there: a command that writes by its words is taken to change it, each text to another content. What
is measured is the guards, not the tools.
"""

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from kotef.classification import classify
from kotef.failures.loop_detection import loop_in
from kotef.failures.mistakes import judge
from kotef.failures.stagnation import StallNudge, VisitProgress
from kotef.failures.tool_calls import ToolUse
from kotef.failures.tool_failure_memory import remember, render
from kotef.middleware.loop_guard import TOOLS

TARGET: Final = 0.003
"""Share of right runs that may be stopped."""
BASH: Final = re.compile(r"```(?:bash|sh)?\s*\n(.*?)\n?```", re.DOTALL)
CODE: Final = re.compile(r"<returncode>(-?\d+)</returncode>")
OUTPUT: Final = re.compile(r"</?(?:output|output_head|output_tail|warning|returncode|elided_chars)[^>]*>")
WRITES: Final = re.compile(
    r"\bsed\s+(?:-\w+\s+)*-i|\bperl\s+-\w*i|(?<![<\d&2])>{1,2}\s*(?!/dev/null|&)[\w./~\"'$]+|\btee\s|\bpatch\s+-p|"
    r"\bgit\s+(?:apply|checkout|stash|restore|reset|revert)\b|\b(?:mv|rm|cp|touch|mkdir)\s|"
    r"open\([^)]*[\"'][wa]b?[\"']|\.write_text\(|^(?:edit|create|insert|str_replace|append|undo_edit)\b",
    re.MULTILINE,
)
"""How a command line looks that changes files."""
TARGET_FILE: Final = re.compile(r"[\w./-]+\.(?:py|java|c|h|cpp|go|rs|ts|js|rst|md|txt|cfg|toml|xml)\b")
ENDS: Final = re.compile(r"submit\b|exit_\w+\Z|\Z")
"""What SWE-agent records for the end of a run."""
FAILING_STATUS: Final = frozenset({126, 127})


@dataclass
class Trajectory:
    """One recorded run."""

    name: str
    calls: list[ToolUse]
    right: bool | None
    """None: nobody says."""


class Stop(NamedTuple):
    """A run that a guard stopped."""

    name: str
    why: str
    at: int
    """The number of the call, of `of`."""
    of: int
    right: bool | None
    goes_on: bool
    """Whether the recorded run did anything afterwards that it had not done before."""


@dataclass
class Count:
    """What came of all of them."""

    runs: Counter[bool | None] = field(default_factory=Counter)
    calls: int = 0
    crashes: list[str] = field(default_factory=list)
    stops: list[Stop] = field(default_factory=list)
    nudges: Counter[tuple[str, bool | None]] = field(default_factory=Counter)


def trajectories(folder: Path) -> Iterator[Trajectory]:
    """All runs below a folder."""
    right = dict(_verdicts(folder))
    for path in sorted([*folder.rglob("*.traj.json"), *folder.rglob("*.traj")]):
        name = path.name.removesuffix(".json").removesuffix(".traj")
        known = right.get((str(path.parent.parent), name), right.get(("", name)))
        try:
            read = json.loads(path.read_text(encoding="utf-8", errors="replace"))
        except ValueError:
            continue
        pairs = list(_mini(read["messages"])) if "messages" in read else list(_swe(read.get("trajectory") or ()))
        yield Trajectory(f"{path.relative_to(folder).parts[0]}/{name}", [*_calls(pairs)], known)


def _verdicts(folder: Path) -> Iterator[tuple[tuple[str, str], bool]]:
    """Which runs were right, by folder and name."""
    for path in folder.rglob("report.json"):
        read = json.loads(path.read_text())
        for name, said in {path.parent.name: read, **read}.items():
            if isinstance(said, dict) and "resolved" in said:
                yield (str(path.parent.parent.parent), name), bool(said["resolved"])
                yield (str(path.parent.parent.parent / "trajs"), name), bool(said["resolved"])
    for path in folder.rglob("results.json"):
        read = json.loads(path.read_text())
        resolved = set(read.get("resolved_ids") or read.get("resolved") or ())
        for trajectory in path.parent.parent.rglob("*.traj*"):
            name = trajectory.name.removesuffix(".json").removesuffix(".traj")
            yield (str(trajectory.parent.parent), name), name in resolved


def _mini(messages: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str, int | None, str]]:
    """Command, output, status and words of each step of mini-swe-agent."""
    for said, answer in pairwise(messages):
        if said["role"] != "assistant" or answer["role"] not in {"user", "tool"}:
            continue
        words = str(said["content"])
        command, text = BASH.search(words), str(answer["content"])
        code = CODE.search(text)
        if command and code:
            yield command[1], OUTPUT.sub("", CODE.sub("", text)).strip("\n"), int(code[1]), words[: command.start()]


def _swe(steps: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str, int | None, str]]:
    """The same of SWE-agent, which does not record statuses."""
    for step in steps:
        yield str(step.get("action") or ""), str(step.get("observation") or ""), None, str(step.get("thought") or "")


def _calls(pairs: Sequence[tuple[str, str, int | None, str]]) -> Iterator[ToolUse]:
    states: dict[str, str] = {}
    for turn, (command, output, status, words) in enumerate(pairs, 1):
        diagnosis = classify(command, 1 if status is None else status, output, "") if status != 0 else None
        judged = re.search(r"\b(?:pytest|unittest|runtests|bin/test|tox|nosetests|mvn|gradlew?)\b", command)
        failed = status not in {0, None} and not (status == 1 and not output.strip())
        failure: Any = None
        if failed:
            failure = "test_failure" if diagnosis and diagnosis.kind == "test_failure" else "tool_error"
        checks: dict[str, tuple[str, ...]] = {}
        if judged and status is not None:
            tests = diagnosis.tests if diagnosis else ()
            red = tests or (diagnosis.fingerprint if diagnosis else "red",)
            checks = {" ".join(command.split())[:300]: red if failed else ()}
        yield ToolUse(
            turn,
            "run_command",
            {"command": command},
            output,
            mistake="exec_error" if status in FAILING_STATUS else None,
            failure=failure,
            words=words,
            changed=_changed(command, states),
            checks=checks,
        )


def _changed(command: str, states: dict[str, str]) -> dict[str, tuple[str, str]]:
    """What a command writes by its words: each text makes another content of the file it names first."""
    if not WRITES.search(command):
        return {}
    named = TARGET_FILE.search(command)
    path = named[0] if named else ""
    old = states.get(path, "")
    states[path] = hashlib.sha1(f"{old} {command}".encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
    return {path: (old, states[path])}


def play(run: Trajectory, count: Count) -> None:
    """One run through the guards, as far as they let it go."""
    count.runs[run.right] += 1
    count.calls += len(run.calls)
    progress, nudges, warned = VisitProgress(TOOLS), list[StallNudge](), 0
    made: list[ToolUse] = []
    for number, call in enumerate(run.calls, 1):
        made.append(call)
        progress.take([call])
        why = ""
        if judge(made).verdict == "stop":
            why = "mistakes"
        loop = loop_in(made, TOOLS, warned=warned)
        if loop and warned:
            why = why or loop.kind
        elif loop:
            warned = call.turn
            count.nudges[loop.kind, run.right] += 1
        if found := progress.stall(nudges):
            stall, ends = found
            if ends:
                why = why or f"no_progress ({stall.kind})"
            else:
                nudges.append(StallNudge(stall.kind, stall.number, stall.at))
                count.nudges[f"no_progress ({stall.kind})", run.right] += 1
        if why:
            count.stops.append(Stop(run.name, why, number, len(run.calls), run.right, _goes_on(run.calls, number)))
            return
    render(remember((), made, (), before=0))


def _goes_on(calls: Sequence[ToolUse], stop: int) -> bool:
    done = {_command(call) for call in calls[:stop]}
    return any(_command(call) not in done and not ENDS.match(_command(call)) for call in calls[stop:])


def _command(call: ToolUse) -> str:
    return str(call.arguments["command"]).strip()


def main() -> int:
    """Print the figures; exit 1 above the target, or with a crash."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="name every run that was stopped")
    asked = parser.parse_args()
    count = Count()
    for run in trajectories(asked.folder):
        try:
            play(run, count)
        except Exception as error:  # noqa: BLE001  what is counted
            count.crashes.append(f"{run.name}: {type(error).__name__}: {error}")
    for right, word in ((True, "right"), (False, "wrong"), (None, "unknown")):
        if runs := count.runs[right]:
            stopped = [stop for stop in count.stops if stop.right is right]
            kinds = dict(Counter(stop.why for stop in stopped))
            went_on = sum(stop.goes_on for stop in stopped)
            told = {why: number for (why, was), number in count.nudges.items() if was is right}
            print(f"{word:8} {runs:5} runs, stopped {len(stopped)} ({len(stopped) / runs:.2%}) {kinds}, nudged {told}")
            print(f"{'':8} {went_on:5} of those that were stopped did something new afterwards")
    if asked.list:
        for stop in count.stops:
            notes = [
                word for word, holds in (("right", stop.right), ("did something new afterwards", stop.goes_on)) if holds
            ]
            print(f"  {stop.name}: {stop.why} at call {stop.at} of {stop.of} {', '.join(notes)}".rstrip())
    for crash in count.crashes:
        print(f"  crash: {crash}")
    print(f"{count.calls} calls, {len(count.crashes)} crashes")
    false = sum(stop.right is True for stop in count.stops)
    return int(bool(count.crashes) or false > TARGET * max(1, count.runs[True]))


if __name__ == "__main__":
    sys.exit(main())
