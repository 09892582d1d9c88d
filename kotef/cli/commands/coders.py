"""`kotef coders`: the agents that --coder knows by name."""

import click

from kotef.cli.options import ARRAY


@click.command()
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
    from kotef.cli.coder_list import coder_facts, show_coder
    from kotef.cli.screen import console, say_json
    from kotef.coders.command.presets import PRESETS

    if as_json:
        say_json([coder_facts(preset) for preset in PRESETS.values()])
        return
    screen = console()
    for preset in PRESETS.values():
        show_coder(screen, preset)
