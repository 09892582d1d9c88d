"""`kotef help`: the help of a command, or a topic that is true of all commands."""

import click

from kotef.cli.help_topics import TOPICS


@click.command("help")
@click.argument("names", metavar="[COMMAND | TOPIC]...", nargs=-1)
@click.pass_context
def helps(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Show the help of a command, or of a topic: environment, files, exit-statuses.

    \b
    Examples:
      kotef help run
      kotef help issues show
      kotef help environment
    """  # noqa: D301  click reads the backspace character
    if len(names) == 1 and names[0] in TOPICS:
        click.echo(TOPICS[names[0]], nl=False)
        return
    assert ctx.parent is not None  # noqa: S101  it is a command of the group
    context = ctx.parent
    for name in names:
        command = context.command.get_command(context, name) if isinstance(context.command, click.Group) else None
        if command is None:
            known = ", ".join(TOPICS)
            raise click.UsageError(f"neither a command nor a topic: `{' '.join(names)}`; topics are {known}", ctx)
        context = click.Context(command, info_name=name, parent=context)
    click.echo(context.get_help())
