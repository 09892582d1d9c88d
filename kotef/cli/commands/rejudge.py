"""`kotef rejudge`: the stored outputs of a run, judged by today's rules."""

import sys

import click

from kotef.cli.options import JSON, where

REJUDGE_STATUS = """\b
Exit status:
  0  every visit is judged as before
  2  nothing to judge: no such run, or no stored outputs
  3  a visit is judged differently
"""


@click.command(epilog=REJUDGE_STATUS)
@click.argument("run_id", metavar="[RUN]", required=False)
@where
@JSON
def rejudge(run_id: str | None, root: str | None, as_json: bool) -> None:
    """Classify and judge the check outputs of RUN (default: the newest) again, by the rules of this version.

    \b
    Examples:
      kotef rejudge
      kotef rejudge 20260131-101500-3fa2 --json

    Nothing is run and nothing is changed: the outputs and reports are those that the run kept.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.replay_report import show_rejudgement
    from kotef.cli.screen import console, say_json
    from kotef.cli.workspace_option import workspace_of
    from kotef.replay import rejudge as judge_again
    from kotef.runs import store
    from kotef.runs.config import config_path, read_config
    from kotef.runs.secret_sources import hide

    place = workspace_of(root)
    run = store.find(place, run_id)
    hide(place, read_config(config_path()))
    found = judge_again(place, run)
    if as_json:
        say_json(found)
    else:
        show_rejudgement(found, console())
    sys.exit(found.exit_code)
