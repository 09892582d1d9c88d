"""The script that measures the repository map runs, and tells each figure with its ratio."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "overview.py"


def test_it_tells_cold_warm_and_after_an_edit() -> None:
    words = [sys.executable, str(SCRIPT), "--files", "60", "--lines", "8"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("60 files, ")
    for figure in ("list and read", "overview, cold", "overview, warm", "search, warm", "overview after one edit"):
        assert sum(line.startswith(figure) and line.endswith("×") for line in lines) == 1
    assert lines[-1].startswith("warm / cold ")
