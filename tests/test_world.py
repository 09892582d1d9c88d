"""On small public repositories `kotef check` says what their own commands say."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
MANIFEST = tomllib.loads((BENCHMARKS / "world.toml").read_text(encoding="utf-8"))
SMALL = [entry["name"] for entry in MANIFEST["repository"] if entry.get("small")]


@pytest.mark.world
@pytest.mark.parametrize("name", SMALL)
def test_verdict_and_count_are_those_by_hand(name: str) -> None:
    folder = Path(os.environ.get("KOTEF_WORLD") or "/nonexistent")
    if not (folder / name / ".git").exists():
        pytest.skip(f"$KOTEF_WORLD has no checkout of {name}")
    script, manifest = str(BENCHMARKS / "world.py"), str(BENCHMARKS / "world.toml")
    words = [sys.executable, script, manifest, "--folder", str(folder), "--setup", "--only", name]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_manifest_names_thirty_repositories_of_six_languages() -> None:
    repositories = MANIFEST["repository"]
    assert len({entry["name"] for entry in repositories}) == len(repositories) >= 30
    assert {entry["language"] for entry in repositories} == {"Python", "Node", "Go", "Rust", "C", "Java"}
    assert all(len(entry["commit"]) == 40 and entry["runner"] in MANIFEST["runner"] for entry in repositories)
    assert len(SMALL) == 10
