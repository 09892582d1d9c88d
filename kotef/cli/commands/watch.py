"""`kotef watch`: a run followed that works in another process."""

import sys
from typing import Any

import click

from kotef.cli.options import detail_of, detail_options, where

EXIT_STATUS = """\b
Exit status: that of the run (see `kotef run --help`), or
  2    no such run
  130  you stopped watching; the run continues
  137  the run was killed
"""


@click.command(epilog=EXIT_STATUS)
@click.argument("run_id", metavar="[RUN]", required=False)
@where
@click.option(
    "--wait",
    type=click.FloatRange(0),
    default=10.0,
    metavar="SECONDS",
    help="How long to wait for a run to appear.  [default: 10]",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object on its own line whenever the state changes.")
@detail_options
def watch(run_id: str | None, root: str | None, **options: Any) -> None:
    """Follow RUN (default: the one at work here, else the newest): what has happened so far, then live until its end.

    \b
    Examples:
      kotef watch
      kotef watch 20260131-101500-3fa2
      kotef watch --json | jq -r .state

    States are planning, streaming, tool_running, verifying, waiting_for_input, idle and error: idle means that the run
    ended; error, that it could not work or was killed. Nothing is written, and the run is not affected.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.live_watch import awaited, follow_as_json, follow_on_screen
    from kotef.cli.screen import console
    from kotef.cli.workspace_option import workspace_of
    from kotef.errors import INTERRUPTED
    from kotef.runs.event_tail import Following

    place = workspace_of(root)
    try:
        following = Following(place, awaited(place, run_id, options["wait"]))
        status = (
            follow_as_json(following)
            if options["as_json"]
            else follow_on_screen(following, detail=detail_of(options["quiet"], options["verbose"]))
        )
    except KeyboardInterrupt:
        console(stderr=True).print("no longer watching; the run continues")
        status = INTERRUPTED
    sys.exit(status)
