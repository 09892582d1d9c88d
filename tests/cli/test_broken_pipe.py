"""A reader that leaves early, as `head` does, ends no work and changes no exit status."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.loop import CHECK, TEST


def unread(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run kotef with a stdout that nobody reads any more."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "kotef", *arguments, "--root", str(root)]
    try:
        return subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writing)


@pytest.mark.examples(1)
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_run_goes_on_to_its_own_end(tmp_path: Path, more: tuple[str, ...]) -> None:
    (tmp_path / "calc.py").write_text("def add(first, second):\n    return frist + second\n")
    (tmp_path / "test_calc.py").write_text(TEST)
    ran = unread(tmp_path, "run", "make add add", "--check", CHECK, "--coder", "fixers", *more)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "first + second" in (tmp_path / "calc.py").read_text()


@pytest.mark.examples(1)
@pytest.mark.parametrize("more", [(), ("--json",), ("--github",)])
def test_a_check_keeps_its_status(tmp_path: Path, more: tuple[str, ...]) -> None:
    ran = unread(tmp_path, "check", "--check", "false", *more)
    assert (ran.returncode, ran.stderr) == (3, "")
