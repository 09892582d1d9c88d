"""What every command says of itself, word for word: a new command without its page here is found.

RENEW=1 python -m pytest tests/snapshots writes the files anew.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kotef.cli.main import main

HELP = Path(__file__).parent / "help"
WIDTH = 100
WIDEST = 120
"""What stands as written, such as examples, may be wider than what is wrapped."""


def commands(command: click.Command = main, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            if below.hidden:  # it is told by the page of its group
                continue
            yield from commands(below, (*path, name))


ALL = sorted(commands())


def told(path: tuple[str, ...]) -> str:
    done = CliRunner().invoke(main, [*path, "--help"], prog_name="kotef", terminal_width=WIDTH)
    assert done.exit_code == 0, done.output
    return done.stdout


def file_of(path: tuple[str, ...]) -> Path:
    return HELP / f"{'-'.join(('kotef', *path))}.txt"


@pytest.mark.parametrize("path", ALL, ids=lambda path: " ".join(("kotef", *path)))
def test_the_help_is_as_recorded(path: tuple[str, ...]) -> None:
    file, text = file_of(path), told(path)
    if os.environ.get("RENEW"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    assert file.exists(), f"no page for `kotef {' '.join(path)}`: RENEW=1 python -m pytest tests/snapshots, and read it"
    assert text == file.read_text(), (
        f"{file.name} has changed; if that was meant: RENEW=1 python -m pytest tests/snapshots"
    )


def test_no_page_is_left_of_a_command_that_is_gone() -> None:
    known = {file_of(path) for path in ALL}
    stray = {file for file in HELP.iterdir() if file not in known}
    if os.environ.get("RENEW"):
        for file in stray:
            file.unlink()
        return
    assert not stray


@pytest.mark.parametrize("path", ALL, ids=lambda path: " ".join(("kotef", *path)))
def test_a_help_reads_as_the_others_do(path: tuple[str, ...]) -> None:
    """Every option says what it does in sentences that end, and examples name the command."""
    command: click.Command = main
    for name in path:
        assert isinstance(command, click.Group)
        command = command.commands[name]
    assert command.help, "it says what it does"
    assert command.help.split("\n\n")[0].rstrip().endswith(".")
    assert "Examples:" in command.help or isinstance(command, click.Group), "it has an example"
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, f"{option.opts[0]} says nothing"
            assert option.help.rstrip().endswith((".", "]")), f"{option.opts[0]}: {option.help}"
    text = told(path)
    assert all(len(line) <= WIDEST for line in text.splitlines())
    if "Examples:" in text:
        lines = text.partition("Examples:")[2].split("\n\n")[0].strip().splitlines()
        assert all("kotef" in line for line in lines), lines
