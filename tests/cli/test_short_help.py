"""`-h` fits on one screen; `--help` has everything; the commands of kotef are grouped by task."""

import re

import pytest
from click.testing import CliRunner

from kotef.cli.main import main

LINES = 26
LONG = ("run", "resume", "check")


def shown(*arguments: str) -> str:
    done = CliRunner().invoke(main, [*arguments], prog_name="kotef", terminal_width=80)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("command", LONG)
def test_short_help_is_one_screen_of_what_the_long_one_has(command: str) -> None:
    short, long = shown(command, "-h"), shown(command, "--help")
    lines = short.splitlines()
    assert len(lines) <= LINES < len(long.splitlines())
    assert all(len(line) <= 80 for line in lines if not line.startswith("  "))
    assert lines[0].startswith(f"Usage: kotef {command}")
    assert "Examples:" in lines
    assert f"`kotef {command} --help` has every option." in lines
    options = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", short, re.MULTILINE))
    assert 5 <= len(options) <= 10
    assert options <= set(re.findall(r"--[\w-]+", long))


def test_the_exit_statuses_are_one_sentence() -> None:
    text = " ".join(shown("run", "-h").split())
    assert (
        "Exit status: 0 verified, 1 defect, 2 usage or configuration, 3 attempts, 4 budget, 5 environment, 6 blocked, "
        "7 model endpoint, 129/130/143 interrupted." in text
    )


@pytest.mark.parametrize("command", sorted(set(main.commands) - set(LONG)))
def test_a_command_with_few_options_has_one_help(command: str) -> None:
    assert shown(command, "-h") == shown(command, "--help")


def test_every_command_stands_under_one_task() -> None:
    text = shown("--help")
    for name, command in main.commands.items():
        assert len(re.findall(rf"^  {name}  ", text, re.MULTILINE)) == (0 if command.hidden else 1), name
    headings = re.findall(r"^(\w+):$", text, re.MULTILINE)
    assert headings == ["Options", "Start", "Work", "Look", "More"]
