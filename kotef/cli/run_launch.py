"""The path from a command line to a run, and from its result to the screen."""

import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from kotef.cli.interactive import attended
from kotef.cli.result_text import say_result
from kotef.cli.run_setup import ready, ready_again
from kotef.cli.screen import Screen, say_json, warn
from kotef.runs import store
from kotef.runs.events import read_events
from kotef.runs.public_record import RecordWriter
from kotef.runs.result import Result
from kotef.runs.run_config import RunConfig
from kotef.runs.start import resume, start
from kotef.state import Task
from kotef.telemetry import observed


def run_command(options: dict[str, Any]) -> int:
    """`kotef run`; returns the exit status."""
    run, task, setting = ready(options)
    return _watched(lambda each: start(run, task, each), setting, task, options)


def resume_command(options: dict[str, Any]) -> int:
    """`kotef resume`; returns the exit status."""
    run, task, setting = ready_again(options)
    return _watched(lambda each: resume(run, task, each), setting, task, options)


def _watched(go: Callable[[RunConfig], Result], setting: RunConfig, task: Task, options: dict[str, Any]) -> int:
    """Run with a view that fits where the output goes, then print the result."""
    as_json = options["as_json"]
    run, limits = store.at(setting.root, task.run_id), task.limits
    screen = Screen(max_attempts=limits.max_attempts, max_time=limits.max_time, runs=run.path.parent)
    screen.catch_up(list(read_events(run.events)))
    watching = nullcontext() if as_json else screen.watching()
    with observed(setting, task, warn) as seen, watching:
        result = go(seen if as_json else attended(seen, screen, interactive=task.interactive))
    options["delivery"].take(setting.root, result)
    if result.issue not in (None, ".sdd/issues.md"):
        warn(f".sdd/issues.md cannot be written; the entry of this run is in {result.issue}")
    if as_json:
        say_json(result)
    else:
        say_result(result)
        sys.stdout.flush()
        RecordWriter(run.path, run.record).update()  # the log of a detached run contains what was just printed
    return result.exit_code
