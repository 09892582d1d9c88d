"""`kotef stats`: sums over all runs of this workspace."""

import click

from kotef.cli.options import JSON, where


@click.command()
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
    """Show statistics of the runs here: outcomes, failures by kind, node, model and tool, tokens, cost and time.

    \b
    Examples:
      kotef stats
      kotef stats --since 7
      kotef stats --json | jq .tools

    Failed tool calls are counted separately before and after the conversation was compacted. Runs that cannot be read
    are named but not counted.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.screen import say_json
    from kotef.cli.statistics import show_statistics
    from kotef.cli.workspace_option import workspace_of
    from kotef.runs import store
    from kotef.runs.statistics import statistics

    found = statistics(store.every(workspace_of(root)), since_days=days)
    if as_json:
        say_json(found)
    elif found.runs or found.unreadable:
        show_statistics(found)
    else:
        since = " of that time" if days is not None else ""
        click.echo(f"no runs{since} here yet; start one with `kotef run`")
