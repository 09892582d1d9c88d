"""The `kotef coders` command. Heavy imports are in its body."""

import click

from kotef.cli.options import ARRAY


@click.command(short_help="List the agents that --coder knows by name.")
@ARRAY
def coders(as_json: bool) -> None:
    """List the agents that `--coder` knows by name: how each is started, and what it can use on this machine.

    \b
    Examples:
      kotef coders
      kotef run --ticket 07 --coder aider
      kotef run --ticket 07 --coder 'search:10s,codex --model gpt-5'
      kotef run --ticket 07 --coder 'python my_agent.py {brief}' --coder-env MY_API_KEY

    Any other program works as well, as a command line that says where the brief goes: {brief} is replaced by a file
    with the task in Markdown, {brief_text} by its text. It must come last in a chain, because its commas are part of
    the command. More, and an agent in under 30 lines, is in docs/coders.md.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.coder_list import coders_command

    coders_command(as_json=as_json)
