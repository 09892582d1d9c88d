"""`kotef graph`: the graph of a run as Mermaid."""

import click


@click.command()
def graph() -> None:
    """Print the graph of a run as a Mermaid diagram.

    \b
    Examples:
      kotef graph > loop.mmd
    """  # noqa: D301  click reads the backspace character
    from kotef.graph import build_graph

    click.echo(build_graph().get_graph().draw_mermaid())
