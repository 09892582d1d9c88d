"""What the README claims is so."""

import re
import subprocess
import sys
from pathlib import Path

from kotef.failures.outcomes import EXIT_STATUS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_figure_is_what_kotef_graph_prints() -> None:
    done = subprocess.run([sys.executable, "-m", "kotef", "graph"], capture_output=True, text=True, check=True)
    assert _blocks("mermaid") == [done.stdout.rstrip("\n") + "\n"]


def test_ci_calls_the_test_command_of_the_readme() -> None:
    command = next(block for block in _blocks("bash") if "pytest" in block)
    assert command.strip() in (ROOT / ".ci" / "run").read_text().splitlines()


def test_the_table_of_exit_statuses_is_the_one_in_force() -> None:
    rows = re.findall(r"^\| ([\d, ]+) \| (.+?) \|", README, re.MULTILINE)
    told = {name: int(status.split(",")[0]) for status, names in rows for name in re.findall(r"`(\w+)`", names)}
    assert told == EXIT_STATUS


def test_every_command_it_names_exists() -> None:
    from kotef.cli.main import main

    code = "\n".join(re.findall(r"`[^`]+`|```.*?```", README, re.DOTALL))
    named = set(re.findall(r"\bkotef ([a-z]+)\b", code))
    assert named
    assert named <= set(main.commands)
