"""Which commands look after MCP servers? Nothing heavy is imported before one runs."""

import sys

import click

from kotef.cli.options import where


@click.group(short_help="Look after the MCP servers a run may use.")
def mcp() -> None:
    """Look after the MCP servers of .sdd/mcp.json and .mcp.json; `kotef run --mcp` gives their tools to the model.

    \b
    Examples:
      kotef mcp doctor
      kotef run --mcp "make tests/test_cart.py pass"

    \b
    A server is written as other clients write it:
      {"mcpServers": {"notes": {"command": "npx", "args": ["-y", "PACKAGE"], "env": {"TOKEN": "${TOKEN}"}}}}
    or with "url" and "headers". "timeoutSeconds" bounds one call of its tools (60), "disabled": true
    leaves it out.
    """  # noqa: D301  click reads the backspace character


@mcp.command(short_help="Start each server and list its tools.")
@where
def doctor(root: str | None) -> None:
    """Start each MCP server named here, say which tools it has, and end it again.

    \b
    Examples:
      kotef mcp doctor
      TOKEN=… kotef mcp doctor --root ~/shop

    This runs the commands that the repository's files name. Exit status: 0 all servers start, or none is named; 2 a
    file or a server in it cannot be used as it stands, or a variable is not set (the others are checked all the same);
    5 a server does not start.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.mcp_doctor import doctor_command

    sys.exit(doctor_command(root))
