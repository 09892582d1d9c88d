"""`kotef mcp`: kotef as an MCP server, and the MCP servers that a run may use."""

import sys

import click

from kotef.cli.options import READS, where


@click.group(invoke_without_command=True)
@where
@click.pass_context
def mcp(ctx: click.Context, root: str | None) -> None:
    """Serve this workspace to editors and agents over MCP, or check the MCP servers that a run may use.

    \b
    Examples:
      claude mcp add kotef -- kotef mcp --root ~/shop
      kotef mcp serve --root ~/shop
      kotef mcp doctor
      kotef run --mcp "make tests/test_cart.py pass"

    Without a subcommand it serves like `kotef mcp serve`, if standard input is not a terminal.

    \b
    Servers a run may use are listed in .sdd/mcp.json and .mcp.json, in the format of other clients:
      {"mcpServers": {"notes": {"command": "npx", "args": ["-y", "PACKAGE"], "env": {"TOKEN": "${TOKEN}"}}}}
    or with "url" and "headers". "timeoutSeconds" bounds one call of its tools (60), "startTimeoutSeconds"
    its start with the download of its package (60), "disabled": true leaves it out.
    """  # noqa: D301  click reads the backspace character
    ctx.obj = root
    if ctx.invoked_subcommand is not None:
        return
    if sys.stdin.isatty():
        click.echo(ctx.get_help())
        return
    ctx.invoke(serve, root=root)


@mcp.command(short_help="Serve this workspace on standard input and output.")
@where
@click.pass_context
def serve(ctx: click.Context, root: str | None) -> None:
    """Serve one workspace over MCP on standard input and output, until the client disconnects.

    \b
    Tools:
      start_run    start a run on a goal or a ticket; it continues on its own, even without the client
      run_status   where a run stands, or how it ended
      cancel_run   stop the run at work
      read_issues  the entries of .sdd/issues.md
      check        run the project's checks and judge them

    \b
    Examples:
      kotef mcp serve --root ~/shop
      claude mcp add kotef -- kotef mcp --root ~/shop

    No tool can widen a run (sandbox, network, trust, who edits): that comes from your configuration and this command's
    environment. Needs the extra: pip install 'kotef[mcp]'. Exit status: 0 the client disconnected; 2 no workspace, or
    the extra is missing.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.mcp_server import serve_until_gone, served_workspace

    serve_until_gone(served_workspace(root or ctx.obj))


@mcp.command(short_help="Start each server and list its tools.")
@READS
@where
@click.pass_context
def doctor(ctx: click.Context, root: str | None, reads: tuple[str, ...]) -> None:
    """Start each MCP server configured here, list its tools, and stop it.

    \b
    Examples:
      kotef mcp doctor
      TOKEN=… kotef mcp doctor --root ~/shop
      kotef mcp doctor --read ~/tools

    This runs the commands that the repository's files name. Exit status: 0 all servers start, or none is named; 2 a
    file or a server in it cannot be used as it is, or a variable is not set (the others are still checked); 5 a server
    does not start. While one starts slowly, a line on stderr says so.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.mcp_doctor import report_servers
    from kotef.cli.workspace_option import workspace_of
    from kotef.runs.config import config_path, read_config

    place = workspace_of(root or ctx.obj)
    sys.exit(report_servers(place, (*reads, *read_config(config_path()).sandbox.read)))
