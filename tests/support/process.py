"""How is kotef run in a process of its own that can be killed, without paying for its imports each time?"""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NoReturn

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "kotef.__main__",
        "kotef.cli.annotations",
        "kotef.cli.main",
        "kotef.cli.outputs",
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
        "kotef.replay.recorded_models",
        "kotef.report.page_data",
        "kotef.report.html",
        "kotef.report.markdown",
        "kotef.tools.langchain_tool",
        "kotef.tools.schema_minify",
        "aiosqlite",
        "anyio._backends._asyncio",
        "httpcore2",
        "langchain.agents",
        "langchain_core.messages.block_translators.langchain_v0",
        "langchain_core.tracers.stdout",
        "langgraph.checkpoint.sqlite.aio",
        "openai.resources.chat.chat",
        "openai.resources.chat.completions",
        "openai.resources.chat.completions.completions",
        "rich.live",
        "truststore",
    ]
)


@dataclass
class Done:
    """How the process ended; a negative code is the signal that killed it."""

    returncode: int
    stdout: str
    stderr: str


class Started:
    """kotef's command line at work in a process of its own."""

    def __init__(
        self,
        arguments: list[str],
        env: dict[str, str],
        place: Path,
        *,
        kill_at: str = "",
        signals: Sequence[int] = (signal.SIGKILL,),
    ) -> None:
        self._out, self._err = place / "stdout.txt", place / "stderr.txt"
        self._process = FORKS.Process(
            target=_child, args=(arguments, os.environ | env, (str(self._out), str(self._err)), kill_at, signals)
        )
        self._process.start()

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process.pid
        return self._process.pid

    @property
    def is_at_work(self) -> bool:
        """Whether it has not ended."""
        return self._process.is_alive()

    def end(self) -> Done:
        """Wait for its end."""
        self._process.join(120)
        assert self._process.exitcode is not None, "still at work after two minutes"
        return Done(self._process.exitcode, self._out.read_text(), self._err.read_text())


def kotef_process(
    arguments: list[str],
    env: dict[str, str],
    place: Path,
    *,
    kill_at: str = "",
    signals: Sequence[int] = (signal.SIGKILL,),
) -> Done:
    """Run kotef's command line; `kill_at` is `event:n`: `signals` right after the n-th event of that name was written.

    `writing:name` is right before a file of that name takes its place. The others are for SIGKILL alone:
    `file:n` is right after a tool wrote the n-th file, `written:name` right before a file of that name, written
    beside it, takes its place, and `there:path` is once that file exists. `noted:n` is right after the n-th line of the
    ledger of effects was written, `unnoted:n` right before.
    """
    return Started(arguments, env, place, kill_at=kill_at, signals=signals).end()


def kotef_at_terminal(
    arguments: Sequence[str], env: Mapping[str, str], cwd: Path, terminal: str, *, cold: bool
) -> BaseProcess:
    """Start kotef's command line in a session of its own at the pseudo-terminal `terminal`, which is open on return.

    `env` is the whole environment. `cold` starts an interpreter, as a person does; else the modules are loaded.
    """
    opened, opens = FORKS.Pipe(duplex=False)
    place = {"cwd": str(cwd), "terminal": terminal, "opens": opens}
    process = FORKS.Process(target=_at_terminal, args=(list(arguments), dict(env)), kwargs={**place, "cold": cold})
    process.start()
    opens.close()
    with opened:
        opened.poll(None)
    return process


def _at_terminal(
    arguments: list[str], env: dict[str, str], *, cwd: str, terminal: str, opens: Connection, cold: bool
) -> None:
    os.setsid()
    slave = os.open(terminal, os.O_RDWR)  # the first that the leader of a session opens controls the session
    for number in range(3):
        os.dup2(slave, number)
    os.close(slave)
    opens.close()
    os.chdir(cwd)
    if cold:
        os.execve(sys.executable, [sys.executable, "-m", "kotef", *arguments], env)
    as_the_command(arguments, env)


def as_the_command(arguments: list[str], env: dict[str, str]) -> NoReturn:
    """What the program `kotef` does, with what is loaded, at the standard streams of this process."""
    os.environ.clear()
    os.environ.update(env)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))
    sys.argv = ["kotef", *arguments]
    gc.freeze()
    from kotef.__main__ import run

    run()
    os._exit(0)


def _child(
    arguments: list[str], env: dict[str, str], outputs: tuple[str, str], kill_at: str, signals: Sequence[int]
) -> None:
    os.environ.clear()
    os.environ.update(env)
    for number, path in enumerate(outputs, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    if kill_at:
        _arm(kill_at, signals)
    from kotef.cli.main import main

    try:
        main(arguments, prog_name="kotef")
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(end.code or 0))


def _arm(kill_at: str, signals: Sequence[int]) -> None:
    from kotef.runs.events import EventLog

    name, _, number = kill_at.partition(":")
    if arm := ARMS.get(name):
        arm(number)
        return
    if name == "writing":
        _arm_writing(number, signals)
        return
    write, seen = EventLog.__call__, []

    def killing(log: EventLog, event: str, /, **facts: object) -> None:
        write(log, event, **facts)
        seen.append(event)
        if name in (event, "any") and (len(seen) if name == "any" else seen.count(name)) == int(number or 1):
            _raise(signals)

    EventLog.__call__ = killing


def _raise(signals: Sequence[int]) -> None:
    for number in signals:
        os.kill(os.getpid(), number)
        time.sleep(0.01)


def _arm_writing(name: str, signals: Sequence[int]) -> None:
    replace = os.replace

    def signalled(source: object, target: object, **places: int) -> None:
        if Path(str(target)).name == name:
            os.replace = replace
            _raise(signals)
        replace(source, target, **places)

    os.replace = signalled


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
