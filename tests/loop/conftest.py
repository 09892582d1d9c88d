"""A tiny project, and a run on it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.loop import BUG, TEST, Ran, git, kotef
from support.openai_server import OpenAIServer


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git repository with one bug and the test that shows it; its check takes a tenth of a second."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "calc.py").write_text(BUG)
    (root / "test_calc.py").write_text(TEST)
    (root / ".gitignore").write_text("__pycache__/\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    return root


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """`run(root, agent, *arguments)`: `kotef run` against a server that answers as the agent does."""

    def go(root: Path, agent: Any, *arguments: str, command: str = "run") -> Ran:
        with OpenAIServer(agent) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            monkeypatch.setenv("KOTEF_MODEL", "scripted")
            chain = () if "--coder" in arguments else ("--coder", "model")
            done = kotef(root, command, *arguments, *chain)
            done.server = server
            return done

    return go
