"""The `kotef replay` and `kotef rejudge` commands. Heavy imports are in their bodies."""

import sys

import click

from kotef.cli.options import JSON, where

REPLAY_STATUS = """\b
Exit status:
  0  the same result, with the same attempts, failures and trees
  2  nothing to play: no such run, no record, or its snapshots are gone
  3  another result, or the run asked for something that was never recorded
"""

REJUDGE_STATUS = """\b
Exit status:
  0  every visit is judged as before
  2  nothing to judge: no such run, or no stored outputs
  3  a visit is judged differently
"""


@click.command(epilog=REPLAY_STATUS, short_help="Play a run again from its record, without a key.")
@click.argument("run_id", metavar="[RUN]", required=False)
@where
@click.option(
    "--into", type=click.Path(file_okay=False), metavar="DIR", help="Keep the workspace copy of the replay there."
)
@JSON
def replay(run_id: str | None, root: str | None, into: str | None, as_json: bool) -> None:
    """Play RUN (default: the newest) again, from what was recorded of its models and commands.

    \b
    Examples:
      kotef replay
      kotef replay 20260131-101500-3fa2 --into /tmp/again
      kotef replay --json | jq .divergences

    The real graph works in a copy of the workspace as it was before the run. No key is needed, no network is used, no
    command is run, and your files are not touched. A request or command that differs from the record is named with its
    visit and the number of the call.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.replay_report import replay_command

    sys.exit(replay_command(run_id, root, into, as_json=as_json))


@click.command(epilog=REJUDGE_STATUS, short_help="Judge the stored outputs of a run by today's rules.")
@click.argument("run_id", metavar="[RUN]", required=False)
@where
@JSON
def rejudge(run_id: str | None, root: str | None, as_json: bool) -> None:
    """Classify and judge again what the checks of RUN (default: the newest) printed, by this version's rules.

    \b
    Examples:
      kotef rejudge
      kotef rejudge 20260131-101500-3fa2 --json

    Nothing is run and nothing is changed: the outputs and reports are those that the run kept.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.replay_report import rejudge_command

    sys.exit(rejudge_command(run_id, root, as_json=as_json))
