"""The path from a command line to a run, and from its result to the screen."""

import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from kotef.cli.interactive import attended
from kotef.cli.result_text import say_result
from kotef.cli.screen import Detail, Screen, say_json, warn
from kotef.runs import store
from kotef.runs.events import read_events
from kotef.runs.public_record import RecordWriter
from kotef.runs.result import Result
from kotef.runs.run_config import RunConfig
from kotef.telemetry import observed


def screen_of(config: RunConfig, *, detail: Detail) -> Screen:
    """The screen of a run, which knows what happened before a resume."""
    run, task = store.at(config.root, config.task.run_id), config.task
    screen = Screen(limits=task.limits, runs=run.path.parent, detail=detail)
    screen.catch_up(read_events(run.events))
    return screen


def watched(go: Callable[[RunConfig], Result], config: RunConfig, screen: Screen, *, as_json: bool) -> Result:
    """Run with a view that fits where the output goes."""
    watching = nullcontext() if as_json else screen.watching()
    with observed(config, warn) as seen, watching:
        return go(seen if as_json else attended(seen, screen, interactive=config.task.interactive))


def show_result(root: Path, result: Result, screen: Screen, *, as_json: bool) -> None:
    """Print how the run ended, without what the screen has just shown of it."""
    if result.issue not in (None, ".sdd/issues.md"):
        warn(f".sdd/issues.md cannot be written; the entry of this run is in {result.issue}")
    if as_json:
        say_json(result)
    else:
        say_result(result, live=screen)
        sys.stdout.flush()
        run = store.at(root, result.run_id)
        RecordWriter(run.path, run.record).update()  # the log of a detached run contains what was just printed
