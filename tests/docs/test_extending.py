"""What docs/extending.md adds to kotef is short; that it works is held by the page's own test."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.documents import ROOT, blocks_of

PAGE = ROOT / "docs" / "extending.md"
MOST = 30
EXAMPLES = ("A tool", "A guard", "A check", "A coder", "A fixer")


def test_each_example_is_under_thirty_lines() -> None:
    titles = {
        number: line[3:] for number, line in enumerate(PAGE.read_text().splitlines(), 1) if line.startswith("## ")
    }
    lines = dict.fromkeys(titles.values(), 0)
    for block in blocks_of(PAGE):
        title = titles[max(number for number in titles if number < block.line)]
        if block.language == "python":
            lines[title] += sum(bool(line.strip()) for line in block.text.splitlines())
        elif block.language == "diff":
            lines[title] += len(re.findall(r"^\+.*\S", block.text, re.MULTILINE))
    assert {title: lines[title] for title in EXAMPLES if not 0 < lines[title] <= MOST} == {}


def package(folder: Path) -> Path:
    """The package of the page, as files."""
    for block in blocks_of(PAGE):
        if block.language == "python":
            path = folder / block.told["file"]
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text)
    return folder


def test_each_example_passes_the_linter(tmp_path: Path) -> None:
    made = package(tmp_path) / "team_kotef"
    assert len(list(made.iterdir())) == len(EXAMPLES)
    settings = ["--config", str(ROOT / "pyproject.toml"), "--no-cache", "--ignore", "INP001"]
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", *settings, str(made)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


CONFORMS = """
from kotef.extensions import CheckExtension, CoderExtension, FixerExtension, GuardExtension, ToolExtension
from team_kotef.checks import OwnCommands
from team_kotef.coders import OwnFix
from team_kotef.fixers import MovedToAbc
from team_kotef.guards import LargeFiles
from team_kotef.tools import CountLines, File

check: CheckExtension = OwnCommands()
coder: CoderExtension = OwnFix()
fixer: FixerExtension = MovedToAbc()
guard: GuardExtension = LargeFiles()
tool: ToolExtension[File] = CountLines()
"""


@pytest.mark.docs
def test_a_type_checker_accepts_each_example_as_its_protocol(tmp_path: Path) -> None:
    made = package(tmp_path)
    (made / "conforms.py").write_text(CONFORMS)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        "/dev/null",
        "--cache-dir",
        str(tmp_path / ".c"),
    ]
    done = subprocess.run([*command, "conforms.py"], cwd=made, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
