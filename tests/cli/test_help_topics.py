"""What is said of all commands is so."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from kotef.cli.help_topics import ENVIRONMENT, FILES, STATUSES, TOPICS
from kotef.cli.main import main
from kotef.failures.outcomes import EXIT_STATUS

ROOT = Path(__file__).parents[2]
SOURCES = "\n".join(path.read_text() for path in (ROOT / "kotef").rglob("*.py") if path.name != "help_topics.py")
OTHERS = {"HTTPS_PROXY", "NO_PROXY", "NO_COLOR"}
"""Read by the libraries below."""


def helped(*names: str) -> str:
    done = CliRunner().invoke(main, ["help", *names], prog_name="kotef")
    assert done.exit_code == 0, done.output
    return done.stdout


def test_every_variable_it_names_is_read() -> None:
    named = set(re.findall(r"\b(?:[A-Z]+_[A-Z_]+|CI)\b", ENVIRONMENT))
    assert len(named) > 12
    assert {name for name in named - OTHERS if f'"{name}"' not in SOURCES} == set()


def test_every_variable_of_ours_that_is_read_is_named() -> None:
    read = set(re.findall(r'"(KOTEF_[A-Z_]+|OPENAI_[A-Z_]+|LANG[A-Z_]+_TRACING[_V2]*|(?:GITHUB|CI)_[A-Z_]+)"', SOURCES))
    read -= {
        "KOTEF_COMMAND",
        "OPENAI_URL",
        "OPENAI_API_BASE",
        "OPENAI_MODEL",
    }  # a mark, no variable, and what other agents read
    read -= {"KOTEF_REPORTS", "KOTEF_REPORTS_NESTED"}  # kotef sets them for the plug-ins in test runners
    assert "KOTEF_TOOLS" in read
    assert {name for name in read if name not in ENVIRONMENT} == set()


def test_the_statuses_are_those_in_force() -> None:
    for outcome, status in EXIT_STATUS.items():
        lines = [line for line in STATUSES.splitlines() if re.search(rf"\b{outcome}\b", line)]
        assert any(re.match(rf"  (?:\d+, )*{status}\b", line) for line in lines), lines


def test_every_file_it_names_is_read() -> None:
    for name in ("project.md", "best_practices.md", "kotef.toml", "agents.md", "mcp.json", "AGENTS.md", "config.toml"):
        assert name in FILES
        assert name in SOURCES


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_is_told_on_lines_that_fit(topic: str) -> None:
    text = helped(topic)
    assert text == TOPICS[topic]
    assert all(len(line) <= 120 for line in text.splitlines())


def test_a_command_is_told_as_its_help_does() -> None:
    for names in ([], ["run"], ["issues", "show"]):
        done = CliRunner().invoke(main, [*names, "--help"], prog_name="kotef")
        assert helped(*names).split() == done.stdout.split()


def test_what_is_neither_is_one_line_with_the_way_out() -> None:
    done = CliRunner().invoke(main, ["help", "envirnoment"], prog_name="kotef")
    assert done.exit_code == 2
    assert "envirnoment" in done.stderr
    assert "topics are environment, files, exit-statuses" in done.stderr
    assert len(done.stderr.splitlines()) == 1
