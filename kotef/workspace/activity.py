"""The times at which commands and checks of a run worked in the workspace, and the files that its tools wrote.

A change time cannot be set by a command. So whoever finds that a file has changed can tell the run from a person.
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

from kotef.workspace.paths import append_line

NAME: Final = "activity.jsonl"
"""In the directory of a run."""

Worker = Literal["command", "check"]

_MARGIN: Final = 0.03
"""Seconds by which the clock of a file system may lag behind ours."""


class ActivityLog:
    """Notes when somebody works for the run; one instance a process of it. What cannot be noted is not known later."""

    def __init__(self, run_dir: Path) -> None:
        """Nothing is written before somebody works."""
        self._path = run_dir / NAME
        self._numbers = count()

    @contextmanager
    def noted(self, worker: Worker) -> Iterator[None]:
        """Whatever changes inside the block may be this worker's doing."""
        name = f"{os.getpid()}-{next(self._numbers)}"
        self._append({"begin": time.time(), "name": name, "worker": worker})
        try:
            yield
        finally:
            self._append({"end": time.time(), "name": name})

    def wrote(self, path: str) -> None:
        """A file tool of the run wrote `path`, relative to the workspace."""
        self._append({"wrote": path, "at": time.time()})

    def _append(self, line: dict[str, object]) -> None:
        with suppress(OSError):
            append_line(self._path, json.dumps(line))


class _Period(NamedTuple):
    begin: float
    end: float
    worker: Worker


class Activity:
    """What a run has noted so far."""

    def __init__(self, periods: tuple[_Period, ...], written: dict[str, float]) -> None:
        """`written` is path → time of the last write by a file tool."""
        self._periods = periods
        self._written = written

    def author(self, path: str, changed: float) -> Worker | None:
        """Who may have changed a file that has this change time; None: nobody of the run. Tools count as commands."""
        if abs(self._written.get(path, -math.inf) - changed) < 1:
            return "command"
        workers = {period.worker for period in self._periods if period.begin - _MARGIN <= changed <= period.end}
        if "command" in workers:
            return "command"
        return "check" if workers else None


def activity_of(run_dir: Path) -> Activity:
    """What the run of this directory has noted; a period that a kill cut off lasts until the run went on."""
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
    return Activity(tuple(periods), written)


def _process(name: str) -> str:
    return name.partition("-")[0]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        content = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for text in content.splitlines():
        with suppress(ValueError):  # a torn last line
            line = json.loads(text)
            if isinstance(line, dict):
                yield line
