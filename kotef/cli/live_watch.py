"""Live view of a run that works in another process."""

import json
import time
from pathlib import Path
from typing import Final

from kotef.cli.screen import Screen, console, say
from kotef.cli.workspace_option import workspace_of
from kotef.errors import INTERRUPTED, UsageError
from kotef.runs import store
from kotef.runs.event_tail import Following
from kotef.runs.progress import RunProgress
from kotef.runs.store import RunDir
from kotef.workspace import at_work

KILLED: Final = 137
"""Exit status where the run was killed, as a shell says of SIGKILL."""
_PAUSE: Final = 0.1
"""Seconds between two looks; another process's file tells no one that it has grown."""


def watch_command(run_id: str | None, root: str | None, *, wait: float, as_json: bool) -> int:
    """`kotef watch`; returns the exit status."""
    place = workspace_of(root)
    try:
        run = _awaited(place, run_id, wait)
        return _as_json(Following(place, run)) if as_json else _on_screen(Following(place, run))
    except KeyboardInterrupt:
        console(stderr=True).print("no longer watching; the run continues")
        return INTERRUPTED


def _awaited(root: Path, wanted: str | None, wait: float) -> RunDir:
    """The run that is meant, as soon as it is there; UsageError if it does not come."""
    until = time.monotonic() + wait
    while True:
        try:
            return store.find(root, wanted or _at_work(root))
        except UsageError:
            if time.monotonic() >= until:
                raise
        time.sleep(_PAUSE)


def _at_work(root: Path) -> str | None:
    """The run that works here now; None: no one does, or it is a command that is not a run."""
    holder = at_work(root)
    return holder if holder and store.at(root, holder).path.is_dir() else None


def _on_screen(following: Following) -> int:
    run = following.run
    while (task := run.task()) is None and following.is_at_work:  # it has only just begun
        time.sleep(_PAUSE)
    limits = task.limits if task else None
    screen = Screen(
        max_attempts=limits.max_attempts if limits else 0,
        max_time=limits.max_time if limits else 0.0,
        runs=run.path.parent,
        elsewhere=True,
    )
    with screen.watching():
        while not _ended(following, screen):
            time.sleep(_PAUSE)
    result = None if screen.doing.state == "error" and not screen.doing.outcome else run.result()
    if result is None:
        said = f"run {run.run_id} was killed; `kotef resume {run.run_id}` continues it"
        console().print(said, style="bold red")
        return KILLED
    from kotef.cli.result_text import say_result

    say_result(result)
    return result.exit_code


def _ended(following: Following, screen: Screen) -> bool:
    """Show what is new; whether that was all."""
    working = following.is_at_work  # asked first: what a run adds before it lets go is read below
    for event in following.new():
        screen(event)
    if working:
        return False
    screen.doing = screen.doing.lost()
    return True


def _as_json(following: Following) -> int:
    told, doing = None, RunProgress()
    while True:
        working = following.is_at_work
        for event in following.new():
            doing = doing.after(event)
            told = _tell(doing, told, following.run)
        if not working:
            break
        time.sleep(_PAUSE)
    doing = doing.lost()
    _tell(doing, told, following.run)
    return KILLED if doing.exit_code is None else doing.exit_code


def _tell(doing: RunProgress, told: str | None, run: RunDir) -> str:
    """A line if the state differs from the last one printed."""
    if doing.state != told:
        ending = {"outcome": doing.outcome, "exitCode": doing.exit_code} if doing.outcome else {}
        where = {"state": doing.state, "runId": run.run_id, "attempt": doing.attempt}
        facts = {**where, "at": doing.last, "doing": doing.what}
        say(json.dumps({**facts, **ending}) + "\n")
    return doing.state
