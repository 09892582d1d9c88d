"""The commands that show all runs, and the settings. Heavy imports are in their bodies."""

from typing import Any

import click

from kotef.cli.options import JSON, where


@click.command(short_help="Sum up all runs: how they end, and what goes wrong.")
@where
@click.option(
    "--since",
    "days",
    type=click.FloatRange(0, min_open=True),
    metavar="DAYS",
    help="Only runs started within this many days.",
)
@JSON
def stats(root: str | None, days: float | None, as_json: bool) -> None:
    """Sum up the runs of this workspace: outcomes, failures by kind, node, model and tool, tokens, cost and time.

    \b
    Examples:
      kotef stats
      kotef stats --since 7
      kotef stats --json | jq .tools

    Failed tool calls are counted separately before and after the conversation was compacted. Runs that cannot be read
    are named but not counted.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.statistics import stats_command

    stats_command(root, since_days=days, as_json=as_json)


@click.group()
def config() -> None:
    """Show the settings in effect, and where each comes from.

    \b
    Examples:
      kotef config show
      kotef config path
    """  # noqa: D301  click reads the backspace character


@config.command(short_help="Show every setting in effect here with its origin.")
@where
@click.option("--trust", is_flag=True, help="Show them as with `kotef run --trust`.")
@click.option(
    "--profile",
    type=click.Choice(["strict", "fast", "smoke", "yolo"]),
    default="strict",
    show_default=True,
    help="Show them as with `kotef run --profile`.",
)
@JSON
def show(**options: Any) -> None:
    """Show every setting of a run here, with its value and the file and line, or the variable, it comes from.

    \b
    Examples:
      kotef config show
      kotef config show --profile fast --json

    For keys only whether they are set is shown. Settings of the repository that are ignored are listed last, with the
    reason.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.config_table import show_config

    show_config(options["root"], trust=options["trust"], profile=options["profile"], as_json=options["as_json"])


@config.command(short_help="Print where your configuration is.")
def path() -> None:
    """Print where your configuration is, whether or not it exists.

    \b
    Examples:
      kotef config path
      $EDITOR "$(kotef config path)"
    """  # noqa: D301  click reads the backspace character
    from kotef.runs.config import config_path

    click.echo(config_path())
