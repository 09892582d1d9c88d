"""Each command is in the module of its name, and only the command that is started is imported."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kotef.cli.commands import COMMANDS, command_of
from kotef.cli.lazy_group import GROUPS
from kotef.cli.main import main

CLI = Path(__file__).parents[2] / "kotef" / "cli"
HEAVY = {"langgraph", "langchain", "langchain_core", "openai", "pydantic", "rich", "httpx", "jinja2"}


def modules_after(code: str) -> set[str]:
    """What is loaded after this code, in an interpreter of its own."""
    script = f"{code}\nimport sys; print('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_each_command_has_its_file_and_each_file_a_command() -> None:
    files = {path.stem for path in (CLI / "commands").glob("*.py")} - {"__init__"}
    assert files == {name.replace("-", "_") for name in COMMANDS}
    for name in COMMANDS:
        assert command_of(name).name == name


def test_the_help_shows_each_command_once_with_the_words_of_the_table() -> None:
    text = CliRunner().invoke(main, ["--help"], prog_name="kotef", terminal_width=120).stdout
    rows = [line.split(maxsplit=1) for line in text.splitlines() if line.startswith("  ")]
    for name, words in COMMANDS.items():
        assert [row[1] for row in rows if row[0] == name] == [words]
    assert {name for names in GROUPS.values() for name in names.split()} <= set(COMMANDS)


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["--version"], ["no-such-command"]])
def test_no_command_is_imported_for_the_help(words: list[str]) -> None:
    code = f"from kotef.cli.main import main\ntry: main({words!r}, prog_name='kotef')\nexcept SystemExit: pass"
    loaded = modules_after(code)
    assert not {name for name in loaded if name.startswith("kotef.cli.commands.")}
    assert words == ["no-such-command"] or not loaded & HEAVY  # an error is printed by what sanitises text


def test_a_started_command_is_the_only_one_imported() -> None:
    code = (
        "from kotef.cli.main import main\ntry: main(['schema', 'result'], prog_name='kotef')\nexcept SystemExit: pass"
    )
    loaded = {name for name in modules_after(code) if name.startswith("kotef.cli.commands.")}
    assert loaded == {"kotef.cli.commands.schema"}


def test_the_help_of_each_command_imports_nothing_heavy() -> None:
    code = "from kotef.cli.commands import COMMANDS, command_of\nfor name in COMMANDS: command_of(name)"
    assert not modules_after(code) & HEAVY


def test_a_mistyped_command_is_answered_with_one_that_exists() -> None:
    done = CliRunner().invoke(main, ["chekc"], prog_name="kotef")
    assert done.exit_code == 2
    assert "check" in done.stderr


def test_the_body_of_a_command_is_in_its_file() -> None:
    """No module beside the commands has a second half of one."""
    for path in [*CLI.glob("*.py"), *(CLI / "screen").glob("*.py")]:
        functions = [node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
        assert not [name for name in functions if name.endswith("_command")], path.name
