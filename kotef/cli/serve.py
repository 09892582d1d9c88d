"""Which command shows the runs of a workspace in a browser? Nothing heavy is imported before it runs."""

import click

from kotef.cli.options import where

EXIT_STATUS = """\b
Exit status:
  0  stopped by Ctrl-C
  2  the port is in use
"""


@click.command(epilog=EXIT_STATUS, short_help="Show the runs of this workspace in a browser, read only.")
@where
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, metavar="N", help="0 takes a free one."
)
@click.option("--open", "show", is_flag=True, help="Open it in a browser.")
def serve(root: str | None, port: int, show: bool) -> None:
    """Show the runs of this workspace and the report of each in a browser, until Ctrl-C.

    \b
    Examples:
      kotef serve --open
      kotef serve --port 0

    Read only, and only for this machine: it listens on 127.0.0.1, and answers no request that was made for another
    host's name. The page of a run at work reloads itself.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.report_server import serve_command

    serve_command(root, port, show=show)
