"""`kotef replay`: a run played again from its record."""

import sys
from contextlib import nullcontext
from pathlib import Path

import click

from kotef.cli.options import JSON, where

REPLAY_STATUS = """\b
Exit status:
  0  the same result, with the same attempts, failures and trees
  2  nothing to replay: no such run, no record, or its snapshots are gone
  3  a different result, or the run asked for something that was never recorded
"""


@click.command(epilog=REPLAY_STATUS)
@click.argument("run_id", metavar="[RUN]", required=False)
@where
@click.option(
    "--into", type=click.Path(file_okay=False), metavar="DIR", help="Keep the workspace copy of the replay there."
)
@JSON
def replay(run_id: str | None, root: str | None, into: str | None, as_json: bool) -> None:
    """Replay RUN (default: the newest) from the record of its models and commands.

    \b
    Examples:
      kotef replay
      kotef replay 20260131-101500-3fa2 --into /tmp/again
      kotef replay --json | jq .divergences

    The real graph works in a copy of the workspace as it was before the run. No key is needed, no network is used, no
    command is run, and your files are not touched. A request or command that differs from the record is named with its
    visit and the number of the call.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.replay_report import show_replay
    from kotef.cli.screen import Screen, console, say_json
    from kotef.cli.workspace_option import workspace_of
    from kotef.errors import BusyError
    from kotef.replay import replay as play_again
    from kotef.runs import store
    from kotef.runs.config import config_path, read_config
    from kotef.runs.secret_sources import hide
    from kotef.workspace import holder_of

    place = workspace_of(root)
    run = store.find(place, run_id)
    if (holder := holder_of(place)) and holder.run == run.run_id:
        raise BusyError(place, pid=holder.pid, run=holder.run)

    task, config = run.task(), read_config(config_path())
    hide(place, config, passed=task.passed if task else ())
    view = Screen(limits=task.limits if task else None)
    with nullcontext() if as_json else view.watching():
        target = Path(into) if into else None
        found = play_again(place, run, config, into=target, watchers=() if as_json else (view,))
    if as_json:
        say_json(found)
    else:
        show_replay(found, console())
    sys.exit(found.exit_code)
