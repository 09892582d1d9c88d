"""The script that holds kotef against maintainers' own commands tells what agrees and what does not."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.loop import git

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "world.py"
RUNNER = r"""
[runner.unittest]
ran = '^Ran (\d+) tests?'
listing = " -v"
test = '^(\w+) \(.*\) \.\.\. '
"""
REPOSITORY = """
[[repository]]
name = "calc"
source = "someone/calc"
commit = "{commit}"
language = "Python"
runner = "unittest"
command = "{command}"
setup = ["touch made"]
fix = ["{commit}"]
"""
TESTS = """\
import unittest
from calc import add, double

class Calc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)

    def test_double(self):
        self.assertEqual(double(4), 8)
"""
BEFORE = "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return 2 * a\n"


@pytest.fixture
def checkouts(tmp_path: Path) -> Path:
    """A folder with the checkout of one project, whose last commit mended it."""
    root = tmp_path / "checkouts" / "calc"
    (root / "tests").mkdir(parents=True)
    (root / "Makefile").write_text("test:\n\tpython -m unittest\n")
    (root / ".gitignore").write_text("made\n__pycache__/\n")
    (root / "calc.py").write_text(BEFORE)
    (root / "tests/__init__.py").write_text("")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "begin")
    (root / "calc.py").write_text(BEFORE.replace("a - b", "a + b"))
    (root / "tests/test_calc.py").write_text(TESTS)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "mend")
    return root.parent


def measured(checkouts: Path, command: str, *options: str) -> tuple[int, list[dict[str, Any]]]:
    """Exit status and rows of the script for that project."""
    commit = git(checkouts / "calc", "rev-parse", "HEAD").strip()
    manifest = checkouts / "world.toml"
    manifest.write_text(RUNNER + REPOSITORY.format(commit=commit, command=command))
    words = [sys.executable, str(SCRIPT), str(manifest), "--folder", str(checkouts), "--setup", "--json", *options]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.matrix
def test_it_compares_verdict_count_names_and_fixes(checkouts: Path) -> None:
    status, (row,) = measured(checkouts, "python3 -m unittest", "--fixes")
    assert status == 0
    assert (row["by_hand"], row["verdict"], row["ran_by_hand"], row["ran"]) == ("green", "green", 2, 2)
    assert (row["named"], row["known"], row["evidence"]) == (2, 2, "report")
    assert row["cpu_by_hand"] > 0
    (fix,) = row["fixes"]
    assert fix["red"]
    assert (fix["alone"], fix["edited"], fix["executions"]) == ("verified", "verified", 1)
    assert (checkouts / "calc/made").exists()
    assert git(checkouts / "calc", "status", "--porcelain") == ""
    assert not (checkouts / "calc/.sdd").exists()


@pytest.mark.examples(1)
@pytest.mark.parametrize("command", ["python3 -m unittest tests.test_calc.Calc.test_add", "false"])
def test_a_difference_is_an_exit_status_of_1(checkouts: Path, command: str) -> None:
    status, (row,) = measured(checkouts, command)
    assert status == 1
    assert (row["ran"], row["verdict"]) == (2, "green")
