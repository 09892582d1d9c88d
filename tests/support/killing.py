"""Does a run that is killed at random moments, and resumed each time, end as one that was left alone?

The run has two attempts. The first, of a few turns, repairs nothing; the second has twenty turns and five effects: an
edit, a patch and a whole file, which show if they are made twice, and two commands that cannot be told from outside.
The scripted model has no memory: what it does follows from the conversation it is sent. Told that a command is in
doubt, it looks at the file the command adds to, and runs it again if it has to.
"""

import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from support.loop import BUG, FIXED, UNITTEST, UNITTEST_TEST, Ran, contents, git, plan, states_of
from support.openai_server import Call, OpenAIServer, Reply, Request, call, calls, text
from support.process import kotef_process

import kotef
from kotef.middleware.idempotency import IN_DOUBT

GOAL: Final = "make add add"
PATIENCE: Final = 120
"""Seconds one process may take."""
RAN: Final = "../ran.txt"
"""Beside the workspace, where nothing puts anything back: each command begins by saying there that it ran."""

Moment = tuple[int, float]
"""How many different questions the model must have been asked, and the seconds to wait then, before the kill."""


class Step(NamedTuple):
    """One turn of the model."""

    call: Call
    trace: tuple[str, str] = ("", "")
    """Of a command: the file it changes, and the line that is in it once it has."""


def command(name: str, line: str, trace: tuple[str, str]) -> Step:
    """A command that takes a moment between saying that it runs and what it does, and again after that."""
    words = f"echo {name} >> {RAN}; sleep 0.1; {line}; sleep 0.1"
    return Step(call("run_command", command=words), trace)


def edit(path: str, search: str, replace: str) -> Step:
    """An edit that fits again after it was made, and so shows if it is made twice."""
    return Step(call("edit_file", path=path, edits=[{"search": search, "replace": replace}]))


def look(path: str) -> Step:
    """A turn without an effect."""
    return Step(call("view_file", path=path))


PATCH: Final = """\
*** Begin Patch
*** Update File: left.txt
@@
+patched
 end
*** Update File: right.txt
@@
+patched
 end
*** Add File: new.txt
+new
*** End Patch"""
DIFF: Final = "--- a/by_git.txt\n+++ b/by_git.txt\n@@ -1,2 +1,3 @@\n start\n+applied\n end\n"
FIRST: Final = (
    look("calc.py"),
    command("first", "echo first >> list.txt", ("list.txt", "first")),
    look("notes/n0.txt"),
)
SECOND: Final = (
    look("diary.txt"),
    look("notes/n1.txt"),
    edit("diary.txt", "end", "edited\nend"),
    look("notes/n2.txt"),
    look("list.txt"),
    command("append", "echo second >> list.txt", ("list.txt", "second")),
    look("notes/n3.txt"),
    look("left.txt"),
    look("right.txt"),
    Step(call("apply_patch", patch=PATCH)),
    look("notes/n4.txt"),
    Step(call("grep", pattern="applied")),
    command("git", "git apply change.diff", ("by_git.txt", "applied")),
    look("notes/n5.txt"),
    look("notes/n6.txt"),
    look("calc.py"),
    look("test_calc.py"),
    Step(call("write_file", path="calc.py", content=FIXED)),
    look("notes/n7.txt"),
)
"""Nineteen turns with a tool and one with words."""
SECOND_VISIT: Final = range(len(FIRST) + 5, len(FIRST) + len(SECOND) + 6)
"""How many questions were put once a turn of the second visit is at work; before it are a plan, and one made twice."""
WHOLE_RUN: Final = range(SECOND_VISIT.stop)
"""The same, from the start of the first process to the verdict."""
COMMANDS: Final = ("append", "first", "git")
START: Final = {
    "calc.py": BUG,
    "test_calc.py": UNITTEST_TEST,
    ".gitignore": "__pycache__/\n",
    "change.diff": DIFF,
    **dict.fromkeys(("diary.txt", "left.txt", "right.txt", "by_git.txt"), "start\nend\n"),
    "list.txt": "start\n",
    **{f"notes/n{number}.txt": f"note {number}\n" for number in range(8)},
}
END: Final = {
    **START,
    "calc.py": FIXED,
    "diary.txt": "start\nedited\nend\n",
    "left.txt": "start\npatched\nend\n",
    "right.txt": "start\npatched\nend\n",
    "by_git.txt": "start\napplied\nend\n",
    "list.txt": "start\nfirst\nsecond\n",
    "new.txt": "new\n",
}


def answered(request: Request) -> Iterator[tuple[dict[str, Any], str]]:
    """Each call of the conversation with what the model was told."""
    told = {one["tool_call_id"]: one["content"] for one in request.messages if one["role"] == "tool"}
    for message in request.messages:
        for made in message.get("tool_calls") or ():
            yield made["function"], told[made["id"]]


def coder(request: Request) -> Reply:
    """The next turn."""
    steps = FIRST if attempt_of(request) == 1 else SECOND
    at, looks = 0, False
    for _, told in answered(request):
        doubted, looked = told == IN_DOUBT, looks
        looks = doubted
        if not doubted and (not looked or steps[at].trace[1] in told):
            at += 1
    if at == len(steps):
        return text("I have done what the plan asks for.")
    return calls(look(steps[at].trace[0]).call if looks else steps[at].call)


def attempt_of(request: Request) -> int:
    """Which attempt a coder is at."""
    found = re.search(r"Attempt (\d+) of", request.text)
    assert found is not None
    return int(found[1])


class Model:
    """Answers, and knows how far the run has come, whoever asks and however often."""

    def __init__(self) -> None:
        self.came = threading.Condition()
        self.asked: set[tuple[Any, ...]] = set()
        self.last: dict[int, Request] = {}
        """The longest conversation of each attempt."""

    def __call__(self, request: Request, _: int) -> Reply:
        """Answer one request."""
        plans = "PlanAnswer" in request.tools
        with self.came:
            attempt = 0 if plans else attempt_of(request)
            self.asked.add((attempt, request.text if plans else len(request.messages)))
            if attempt:
                self.last[attempt] = request
            self.came.notify_all()
        return plan("fix add") if plans else coder(request)

    def wait(self, count: int, ended: Callable[[], bool]) -> None:
        """Return once that many different questions were put, or the process has ended."""
        with self.came:
            while len(self.asked) < count and not ended():
                self.came.wait(0.02)


@dataclass
class Killed:
    """A run, with all its deaths."""

    root: Path
    model: Model
    seconds: float
    """Wall seconds of all its processes."""
    deaths: list[Moment]
    """The kills that found it alive."""
    code: int
    said: str

    @property
    def runs(self) -> list[Path]:
        """The directories of runs that came to have a task."""
        return [task.parent for task in states_of(self.root).glob("2*/task.json")]

    @property
    def words(self) -> list[str]:
        """The arguments of its next process."""
        fresh = ["run", GOAL, "--coder", "model", "--check", UNITTEST, "--max-attempts", "3"]
        return [*(["resume", "--last"] if self.runs else fresh), "--root", str(self.root)]

    @property
    def ended(self) -> bool:
        """Whether there is a result."""
        return any((run / "result.json").exists() for run in self.runs)

    @property
    def ran(self) -> Ran:
        """What it left behind."""
        return Ran(self.code, self.said, "", self.root)


def lay_out(place: Path) -> Path:
    """The project below `place`, and a configuration that offers apply_patch."""
    root = place / "project"
    for name, content in START.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    (place / "config" / "kotef").mkdir(parents=True)
    (place / "config" / "kotef" / "config.toml").write_text('[models."scripted"]\napply_patch = true\n')
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "start")
    return root


def run_killed(place: Path, moments: Sequence[Moment]) -> Killed:
    """`kotef run`, killed at each of the moments, then `kotef resume` until it ends by itself.

    Where the kill came before there was a run, it is started anew; where it came after the result was there, the run
    is over. A moment that is past when its turn comes is at once.
    """
    killed = Killed(lay_out(place), Model(), 0.0, [], 0, "")
    with OpenAIServer(killed.model) as server:
        env = os.environ | environment(place, server)
        for moment in (*sorted(moments), None):
            began = time.monotonic()
            died = _process(killed, env, moment)
            killed.seconds += time.monotonic() - began
            if not died:
                break
            killed.deaths.append(moment)
            if killed.ended:
                killed.code = 0
                break
    return killed


def run_killed_at(place: Path, kill_at: str) -> Killed:
    """The same, killed once, at a moment that `kotef_process` knows."""
    killed = Killed(lay_out(place), Model(), 0.0, [], 0, "")
    with OpenAIServer(killed.model) as server:
        for moment in (kill_at, ""):
            done = kotef_process(killed.words, environment(place, server), place, kill_at=moment)
            killed.code, killed.said = done.returncode, done.stdout + done.stderr
            if done.returncode >= 0:
                break
            killed.deaths.append((len(killed.model.asked), 0.0))
    return killed


def environment(place: Path, server: OpenAIServer) -> dict[str, str]:
    """What a process is given beside what there is: nothing of the machine's own configuration gets in."""
    return {
        "OPENAI_BASE_URL": server.base_url,
        "KOTEF_MODEL": "scripted",
        "KOTEF_SANDBOX": "off",  # each command says that it ran where no sandbox would let it
        "PYTHONPATH": str(Path(kotef.__file__).parents[1]),
        "HOME": str(place),
        "XDG_CONFIG_HOME": str(place / "config"),
        "XDG_STATE_HOME": str(place / "state"),
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
    }


def _process(killed: Killed, env: dict[str, str], moment: Moment | None) -> bool:
    """One process of the run; whether it was killed."""
    output = killed.root.parent / "output.txt"
    words = [sys.executable, "-m", "kotef", *killed.words]
    with output.open("wb") as file:
        process = subprocess.Popen(words, env=env, cwd=killed.root.parent, stdout=file, stderr=file)
        try:
            if moment is not None:
                killed.model.wait(moment[0], lambda: process.poll() is not None)
                time.sleep(moment[1])
                process.kill()
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()
    killed.code, killed.said = process.returncode, output.read_text()
    return process.returncode < 0


def faults(killed: Killed) -> list[str]:
    """What is not as in a run that was left alone; empty when all is."""
    ran = killed.ran
    if killed.code != 0:
        return [f"exit status {killed.code}: {killed.said[-2000:]}"]
    result, events = ran.result, ran.events
    found = [
        f"{what} is {got!r}, not {wanted!r}"
        for what, got, wanted in (
            ("outcome", result["outcome"], "verified"),
            ("attempts", result["failureHistory"]["attempts"], 1),
            ("visits", result["visits"], 2),
            ("runs", len(killed.runs), 1),
            ("open issues", [one for one in ran.issues if one["state"] == "open"], []),
            ("calls of editors", dict(_edits(killed.model)), {"edit_file": 1, "apply_patch": 1, "write_file": 1}),
        )
        if got != wanted
    ]
    if (ends := sum(event["event"] == "run_finished" for event in events)) > 1:
        found.append(f"the run finished {ends} times")
    if len(ran.issues) > 1:
        found.append(f"{len(ran.issues)} issue entries")
    numbers = [event["n"] for event in events]
    if numbers != sorted(set(numbers)):
        found.append("events are not numbered once")
    there = {path: content.decode() for path, content in contents(ran.root).items()}
    found += [
        f"{path} is {there.get(path)!r}, not {END.get(path)!r}"
        for path in sorted({*there, *END})
        if there.get(path) != END.get(path)
    ]
    return found + list(_unnamed(killed, events))


def _edits(model: Model) -> Counter[str]:
    names = [made["name"] for made, _ in answered(model.last[2])]
    return Counter(name for name in names if name in ("edit_file", "apply_patch", "write_file"))


def _unnamed(killed: Killed, events: Collection[dict[str, Any]]) -> Iterator[str]:
    """Commands that ran more often than the model was told that they were in doubt, and doubts that no event names."""
    file = killed.root / RAN
    ran = Counter(file.read_text().split() if file.exists() else ())
    told = [
        (json.loads(made["arguments"])["command"], answer == IN_DOUBT)
        for request in killed.model.last.values()
        for made, answer in answered(request)
        if made["name"] == "run_command"
    ]
    for name in COMMANDS:
        mine = [doubted for line, doubted in told if line.startswith(f"echo {name} ")]
        doubts = sum(mine)
        named = sum(name in event["arguments"].split() for event in events if event["event"] == "in_doubt")
        if not 1 <= ran[name] <= len(mine) or not len(mine) <= 1 + doubts:
            yield f"`{name}` ran {ran[name]} times, was asked for {len(mine)} times, with {doubts} doubts told"
        if named < doubts:
            yield f"{doubts} doubts of `{name}` were told, {named} named in the events"


def moments_within(turns: range, count: int, chance: random.Random) -> list[Moment]:
    """Random moments in different turns, half of them where a command would be at work and half where an edit would."""
    return [(turn, chance.uniform(0, chance.choice((0.08, 0.5)))) for turn in sorted(chance.sample(turns, count))]
