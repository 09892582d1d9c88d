"""How is kotef run in a process of its own that can be killed, without paying for its imports each time?"""

import multiprocessing
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        "kotef.cli.main",
        "kotef.cli.run_launch",
        "kotef.cli.run_setup",
        "kotef.cli.commands.resume",
        "kotef.cli.commands.run",
        "kotef.coders.model",
        "kotef.graph",
        "kotef.middleware.stack",
        "kotef.models.openai",
        "kotef.models.scripted_model",
        "kotef.models.structured_output",
        "kotef.nodes.restore_best",
        "kotef.nodes.prefix",
        "kotef.runs.finish",
        "kotef.runs.loop",
        "kotef.report.page_data",
        "kotef.report.html",
        "kotef.report.markdown",
        "kotef.tools.schema_minify",
        "aiosqlite",
        "anyio._backends._asyncio",
        "httpcore2",
        "langchain.agents",
        "langgraph.checkpoint.sqlite.aio",
        "openai.resources.chat.completions",
        "openai.resources.chat.completions.completions",
        "truststore",
    ]
)


@dataclass
class Done:
    """How the process ended; a negative code is the signal that killed it."""

    returncode: int
    stdout: str
    stderr: str


def kotef_process(arguments: list[str], env: dict[str, str], place: Path, *, kill_at: str = "") -> Done:
    """Run kotef's command line; `kill_at` is `event:n`: SIGKILL right after the n-th event of that name was written.

    `file:n` is right after a tool wrote the n-th file, `written:name` right before a file of that name, written
    beside it, takes its place, and `there:path` is once that file exists. `noted:n` is right after the n-th line of the
    ledger of effects was written, `unnoted:n` right before.
    """
    out, err = place / "stdout.txt", place / "stderr.txt"
    process = _FORKS.Process(target=_child, args=(arguments, os.environ | env, str(out), str(err), kill_at))
    process.start()
    process.join(120)
    assert process.exitcode is not None, "still at work after two minutes"
    return Done(process.exitcode, out.read_text(), err.read_text())


def _child(arguments: list[str], env: dict[str, str], out: str, err: str, kill_at: str) -> None:
    os.environ.clear()
    os.environ.update(env)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    if kill_at:
        _arm(kill_at)
    from kotef.cli.main import main

    try:
        main(arguments, prog_name="kotef")
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(end.code or 0))


def _arm(kill_at: str) -> None:
    from kotef.runs.events import EventLog

    name, _, number = kill_at.partition(":")
    if arm := ARMS.get(name):
        arm(number)
        return
    write, seen = EventLog.__call__, []

    def killing(log: EventLog, event: str, /, **facts: object) -> None:
        write(log, event, **facts)
        seen.append(event)
        if name in (event, "any") and (len(seen) if name == "any" else seen.count(name)) == int(number or 1):
            os.kill(os.getpid(), signal.SIGKILL)

    EventLog.__call__ = killing


def _arm_files(number: str) -> None:
    from kotef.coders.change_attribution import Hands

    seen = []

    def killing(_: Hands, path: str) -> None:
        seen.append(path)
        if len(seen) == int(number):
            os.kill(os.getpid(), signal.SIGKILL)

    Hands.wrote = killing


def _arm_written(name: str) -> None:
    replace = os.replace

    def killing(source: object, target: object, **places: int) -> None:
        if Path(str(target)).name == name:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(source, target, **places)

    os.replace = killing


def _arm_there(path: str) -> None:
    def killing() -> None:
        while not Path(path).exists():
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=killing, daemon=True).start()


def _arm_noted(number: str, *, before: bool = False) -> None:
    from kotef.middleware.effect_log import Effects

    write, seen = Effects._append, []

    def killing(ledger: Effects, line: dict) -> None:
        seen.append(line)
        if not before:
            write(ledger, line)
        if len(seen) == int(number):
            os.kill(os.getpid(), signal.SIGKILL)
        if before:
            write(ledger, line)

    Effects._append = killing


ARMS = {
    "file": _arm_files,
    "written": _arm_written,
    "there": _arm_there,
    "noted": _arm_noted,
    "unnoted": partial(_arm_noted, before=True),
}
