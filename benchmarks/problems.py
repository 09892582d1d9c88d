"""What is a program of the set, how is it run, and is it fit to measure with?"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from kotef.sandbox import child_environment

HERE: Final = Path(__file__).resolve().parent
COMMAND: Final = f"{shlex.quote(sys.executable)} -m pytest -q"
ENVIRONMENT: Final = child_environment(os.environ) | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""The programs need no plugins; those of the environment the benchmark runs in would only cost time."""
FRESH_SECONDS: Final = 60
"""Wall seconds of one run of the tests, or one comparison, in a fresh process."""

CONFTEST = """
import signal

import pytest


def stop(number, frame):
    raise TimeoutError("the test does not end")


@pytest.fixture(autouse=True)
def limited():
    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, 1)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
"""
"""Lets the tests of a looping program be told apart; the search is not given it."""


@dataclass(frozen=True)
class Problem:
    """One folder of the set."""

    folder: Path

    @property
    def half(self) -> str:
        """The folder above: tuning, aside, or whatever a foreign set calls it."""
        return self.folder.parent.name

    @property
    def style(self) -> str:
        """What inputs.py says, read without running it."""
        lines = (self.folder / "inputs.py").read_text().splitlines()
        return next((line.partition("=")[2].strip(" \"'") for line in lines if line.startswith("STYLE")), "other")


def find_problems(directories: Sequence[Path], half: str, only: Sequence[str] | None) -> list[Problem]:
    """All problems below the directories, by half and name."""
    found = {path.resolve().parent for top in directories or [HERE / "repair"] for path in top.rglob("reference.py")}
    complete = [Problem(folder) for folder in sorted(found) if (folder / "inputs.py").exists()]
    return [
        problem for problem in complete if half in ("all", problem.half) and (not only or problem.folder.name in only)
    ]


def lay_out(problem: Problem, content: bytes, project: Path) -> None:
    """A project of this program and the tests, and nothing that tells the answer."""
    (project / "program.py").write_bytes(content)
    shutil.copy(problem.folder / "test_program.py", project)
    (project / "pytest.ini").write_text("[pytest]\n")


def is_green(problem: Problem, content: bytes) -> bool:
    """Do all tests pass on this program in a fresh process?"""
    green, red = run_tests(problem, content)
    return green > 0 and red == 0


def run_tests(problem: Problem, content: bytes) -> tuple[int, int]:
    """How many tests pass and how many fail, in a fresh process."""
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch)
        lay_out(problem, content, project)
        (project / "conftest.py").write_text(CONFTEST)
        command = [*shlex.split(COMMAND), "-p", "no:cacheprovider", "--junitxml=report.xml"]
        run_limited(command, project)
        if not (project / "report.xml").exists():
            return 0, 1
        suite = ET.parse(project / "report.xml").getroot()[0]
        red = int(suite.attrib["failures"]) + int(suite.attrib["errors"])
        return int(suite.attrib["tests"]) - red, red


def compare(problem: Problem, content: bytes) -> dict[str, str] | None:
    """Where the program differs from the reference; None if it does not."""
    with tempfile.TemporaryDirectory() as scratch:
        candidate = Path(scratch) / "program.py"
        candidate.write_bytes(content)
        command = [sys.executable, str(HERE / "same_results.py"), str(problem.folder), str(candidate)]
        answer = run_limited(command, Path(scratch)).splitlines()
    if not answer:
        return {"arguments": "", "expected": "an answer", "got": "the comparison was ended by its limits"}
    differs: dict[str, str] | None = json.loads(answer[-1])["differs"]
    return differs


def run_limited(command: Sequence[str], cwd: Path) -> str:
    """What the command prints, or nothing if it must be ended."""
    try:
        run = subprocess.run(
            command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=FRESH_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return ""
    return run.stdout


def fault_of(problem: Problem) -> str:
    """Why the problem is unfit, or nothing."""
    reference, program = ((problem.folder / name).read_bytes() for name in ("reference.py", "program.py"))
    if not is_green(problem, reference):
        return "the reference does not pass its tests"
    green, red = run_tests(problem, program)
    if not red:
        return "no test fails on the program"
    if not green:
        return "no test passes on the program"
    if compare(problem, program) is None:
        return "program and reference do not differ on the random inputs"
    if again := compare(problem, reference):
        return f"the reference differs from itself on {again['arguments']}"
    return ""
