"""A log of when commands and checks of a run were active in the workspace, and which files its tools wrote.

A command cannot set a change time. A file's change time therefore shows whether the run or a person changed it.
"""

import json
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from kotef.files import append_line

NAME: Final = "activity.jsonl"
"""File name in the run directory."""

Worker = Literal["command", "check"]

_MARGIN: Final = 0.03
"""Seconds by which the file system's clock may lag behind ours."""


class ActivityLog:
    """Records when commands and checks run; one instance per process. A failure to write is ignored."""

    def __init__(self, run_dir: Path) -> None:
        """Nothing is written until the first command or check."""
        self._path = run_dir / NAME
        self._numbers = count()

    @contextmanager
    def noted(self, worker: Worker) -> Iterator[None]:
        """Record that this worker runs during the block and may change any file."""
        name = f"{os.getpid()}-{next(self._numbers)}"
        self._append({"begin": time.time(), "name": name, "worker": worker})
        try:
            yield
        finally:
            self._append({"end": time.time(), "name": name})

    def wrote(self, path: str) -> None:
        """Record that a file tool of the run wrote `path`, relative to the workspace."""
        self._append({"wrote": path, "at": time.time()})

    def _append(self, line: dict[str, object]) -> None:
        with suppress(OSError):
            append_line(self._path, json.dumps(line))


class _Period(NamedTuple):
    begin: float
    end: float
    worker: Worker


class RunActivity:
    """The recorded activity of a run."""

    def __init__(self, periods: tuple[_Period, ...], written: dict[str, float]) -> None:
        """`written`: path → time of the last write by a file tool."""
        self._periods = periods
        self._written = written

    def author(self, path: str, changed: float) -> Worker | None:
        """Who may have changed a file with this change time; None: no one of the run. Tools count as commands."""
        if abs(self._written.get(path, -math.inf) - changed) < 1:
            return "command"
        workers = {period.worker for period in self._periods if period.begin - _MARGIN <= changed <= period.end}
        if "command" in workers:
            return "command"
        return "check" if workers else None


def activity_of(run_dir: Path) -> RunActivity:
    """The activity recorded in this run directory; a period that a kill cut off ends where the next process begins."""
    begun: dict[str, tuple[float, Worker]] = {}
    periods: list[_Period] = []
    written: dict[str, float] = {}
    for line in _lines(run_dir / NAME):
        name = line.get("name", "")
        if "wrote" in line:
            written[line["wrote"]] = line["at"]
        elif "begin" in line:
            killed = [other for other in begun if _process(other) != _process(name)]
            periods += [_Period(begun[other][0], line["begin"], begun.pop(other)[1]) for other in killed]
            begun[name] = line["begin"], line["worker"]
        elif name in begun:
            begin, worker = begun.pop(name)
            periods.append(_Period(begin, line["end"] + _MARGIN, worker))
    periods += [_Period(begin, math.inf, worker) for begin, worker in begun.values()]
    return RunActivity(tuple(periods), written)


def _process(name: str) -> str:
    return name.partition("-")[0]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        content = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for text in content.splitlines():
        with suppress(ValueError):  # an incomplete last line
            line = json.loads(text)
            if isinstance(line, dict):
                yield line
