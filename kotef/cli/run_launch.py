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
from kotef.telemetry import observed


def run_command(options: dict[str, Any]) -> int:
    """`kotef run`; returns the exit status."""
    return _watched(start, ready(options), options)


def resume_command(options: dict[str, Any]) -> int:
    """`kotef resume`; returns the exit status."""
    return _watched(resume, ready_again(options), options)


def _watched(go: Callable[[RunConfig], Result], config: RunConfig, options: dict[str, Any]) -> int:
    """Run with a view that fits where the output goes, then print the result."""
    as_json = options["as_json"]
    run, task = store.at(config.root, config.task.run_id), config.task
    screen = Screen(max_attempts=task.limits.max_attempts, max_time=task.limits.max_time, runs=run.path.parent)
    screen.catch_up(read_events(run.events))
    watching = nullcontext() if as_json else screen.watching()
    with observed(config, warn) as seen, watching:
        result = go(seen if as_json else attended(seen, screen, interactive=task.interactive))
    options["delivery"].take(config.root, result)
    if result.issue not in (None, ".sdd/issues.md"):
        warn(f".sdd/issues.md cannot be written; the entry of this run is in {result.issue}")
    if as_json:
        say_json(result)
    else:
        say_result(result)
        sys.stdout.flush()
        RecordWriter(run.path, run.record).update()  # the log of a detached run contains what was just printed
    return result.exit_code
