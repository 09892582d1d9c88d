"""`kotef completion`: the completion script of a shell."""

import click
from click.shell_completion import get_completion_class

from kotef.cli.completion import SHELLS, VARIABLE


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that lets SHELL complete commands, options, runs, tickets and roles.

    \b
    Examples:
      kotef completion bash > ~/.local/share/bash-completion/completions/kotef
      kotef completion zsh > "${fpath[1]}/_kotef"
      kotef completion fish > ~/.config/fish/completions/kotef.fish

    For the current shell: `source <(kotef completion bash)`, or `kotef completion fish | source`.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.main import main

    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101  click has these three
    click.echo(kind(main, {}, "kotef", VARIABLE).source())
