"""The script that kills runs tells how many ended right, and what it cost."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "kill_resume.py"


@pytest.mark.kill
def test_it_tells_what_became_of_the_killed_runs() -> None:
    words = [sys.executable, str(SCRIPT), "--kills", "1", "--each", "1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert re.match(r"1 kills? over \d+ runs? \(seed 1\)", lines[0])
    right, of = re.match(r"ended right +(\d+) of (\d+)", lines[1]).groups()
    assert right == of
    assert re.search(r"killed and resumed +\d+\.\d\dx", done.stdout)


def test_a_number_that_makes_no_sense_is_refused() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "--kills", "0"], capture_output=True, text=True, check=False)
    assert (done.returncode, "--kills is at least 1" in done.stderr) == (2, True)
