"""Live view of a run that works in another process."""

import json
import time
from pathlib import Path
from typing import Final

from kotef.cli.screen import Detail, Screen, console, say
from kotef.errors import UsageError
from kotef.runs import store
from kotef.runs.ending_text import lost
from kotef.runs.event_tail import Following
from kotef.runs.progress import RunProgress
from kotef.runs.store import RunDir
from kotef.workspace import at_work

KILLED: Final = 137
"""Exit status where the run was killed, as a shell says of SIGKILL."""
_PAUSE: Final = 0.1
"""Seconds between two reads, because growth of another process's file is not signalled."""


def awaited(root: Path, wanted: str | None, wait: float) -> RunDir:
    """The run to follow, as soon as it exists; UsageError if it does not appear in time."""
    until = time.monotonic() + wait
    while True:
        try:
            return store.find(root, wanted or _at_work(root))
        except UsageError:
            if time.monotonic() >= until:
                raise
        time.sleep(_PAUSE)


def _at_work(root: Path) -> str | None:
    """The run that is at work here; None if there is none, or if another command holds the workspace."""
    holder = at_work(root)
    return holder if holder and store.at(root, holder).path.is_dir() else None


def follow_on_screen(following: Following, *, detail: Detail) -> int:
    """Show the run to its end; returns its exit status."""
    run = following.run
    while (task := run.task()) is None and following.is_at_work:  # it has only just begun
        time.sleep(_PAUSE)
    limits = task.limits if task else None
    screen = Screen(limits=limits, runs=run.path.parent, elsewhere=True, detail=detail)
    with screen.watching():
        while not _ended(following, screen):
            time.sleep(_PAUSE)
    result = None if screen.doing.state == "error" and not screen.doing.outcome else run.result()
    if result is None:
        console().print(f"run {run.run_id}: {lost(run.run_id, started=bool(screen.doing.run))}", style="bold red")
        return KILLED
    from kotef.cli.result_text import say_result

    say_result(result, live=screen)
    return result.exit_code


def _ended(following: Following, screen: Screen) -> bool:
    """Show new events; returns whether the run has ended."""
    working = following.is_at_work  # asked first: what a run adds before it lets go is read below
    for event in following.new():
        screen(event)
    if working:
        return False
    screen.doing = screen.doing.lost()
    return True


def follow_as_json(following: Following) -> int:
    """Print a line for each new state; returns the exit status of the run."""
    last_state, doing = None, RunProgress()
    while True:
        working = following.is_at_work
        for event in following.new():
            doing = doing.after(event)
            last_state = _tell(doing, last_state, following.run)
        if not working:
            break
        time.sleep(_PAUSE)
    doing = doing.lost()
    _tell(doing, last_state, following.run)
    return KILLED if doing.exit_code is None else doing.exit_code


def _tell(doing: RunProgress, told: str | None, run: RunDir) -> str:
    """A line if the state differs from the last one printed."""
    if doing.state != told:
        ending = {"outcome": doing.outcome, "exitCode": doing.exit_code} if doing.outcome else {}
        where = {"state": doing.state, "runId": run.run_id, "attempt": doing.attempt}
        facts = {**where, "at": doing.last, "doing": doing.what}
        say(json.dumps({**facts, **ending}) + "\n")
    return doing.state
