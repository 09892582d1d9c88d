"""`kotef config`: the settings in effect, and where each comes from."""

from typing import Any

import click

from kotef.cli.options import JSON, where


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
@click.option("--trust", is_flag=True, help="Show what applies with `kotef run --trust`.")
@click.option(
    "--profile",
    type=click.Choice(["strict", "fast", "smoke", "yolo"]),
    default="strict",
    show_default=True,
    help="Show what applies with `kotef run --profile`.",
)
@JSON
def show(**options: Any) -> None:
    """Show every setting of a run here, with its value and the file and line, or the variable, it comes from.

    \b
    Examples:
      kotef config show
      kotef config show --profile fast --json

    For keys, only whether they are set is shown. Settings of the repository that are ignored are listed last, with the
    reason.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.config_table import show_settings
    from kotef.cli.screen import say_json
    from kotef.cli.workspace_option import workspace_of
    from kotef.redaction import redactor
    from kotef.runs.config import config_path, read_config
    from kotef.runs.effective_settings import in_effect
    from kotef.runs.secret_sources import hide

    place = workspace_of(options["root"])
    user = read_config(config_path())
    hide(place, user)
    found = redactor().whole(in_effect(place, user, trust=options["trust"], profile=options["profile"]))
    if options["as_json"]:
        say_json(found)
    else:
        show_settings(found)


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
