import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = tmp_path / "project"
    found.mkdir()
    return found


@pytest.fixture
def user_git(root: Path) -> Callable[..., str]:
    """The user's own git, configuration and all, in a fresh repository."""

    def run(*args: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        return subprocess.run(["git", *identity, *args], cwd=root, check=True, capture_output=True, text=True).stdout

    run("init", "--quiet", "--initial-branch=main")
    return run
