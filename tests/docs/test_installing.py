"""The two commands of the README work as they stand, on a copy of the checkout: python -m pytest -m install."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.documents import ROOT, blocks_of


@pytest.mark.install
def test_what_the_readme_installs_can_be_installed(tmp_path: Path) -> None:
    apart = [block for block in blocks_of(ROOT / "README.md") if block.told.get("by hand") == "install"]
    assert len(apart) == 2
    copy = tmp_path / "kotef"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".venv", ".git", "__pycache__", ".*_cache"))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for block in apart:
        # the whole suite in the suite would not end: that it can be called is what the second shows
        text = block.text.replace("-m pytest -n auto", "-m pytest tests/test_layers.py")
        done = subprocess.run(
            ["bash", "-ec", text], cwd=copy, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{block.where}\n{done.stdout}{done.stderr}"
