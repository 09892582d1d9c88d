"""The `kotef watch` command: follow a run in another process. Heavy imports are in its body."""

import sys

import click

from kotef.cli.options import where

EXIT_STATUS = """\b
Exit status: that of the run, see `kotef run --help`; besides
  2    no such run
  130  you stopped watching; the run continues
  137  the run was killed
"""


@click.command(epilog=EXIT_STATUS, short_help="Follow a run in another process.")
@click.argument("run_id", metavar="[RUN]", required=False)
@where
@click.option(
    "--wait",
    type=click.FloatRange(0),
    default=10.0,
    metavar="SECONDS",
    help="How long to wait for a run to appear.  [default: 10]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line, whenever the state changes.")
def watch(run_id: str | None, root: str | None, wait: float, as_json: bool) -> None:
    """Follow RUN (default: the one at work here, else the newest): what has happened so far, then live until its end.

    \b
    Examples:
      kotef watch
      kotef watch 20260131-101500-3fa2
      kotef watch --json | jq -r .state

    States are planning, streaming, tool_running, verifying, waiting_for_input, idle and error: idle means that the run
    ended; error, that it could not work or was killed. Nothing is written, and the run is not affected.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.live_watch import watch_command

    sys.exit(watch_command(run_id, root, wait=wait, as_json=as_json))
