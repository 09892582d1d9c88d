"""A tiny project, and a run on it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.loop import UNITTEST_TEST, Ran, kotef, one_bug
from support.openai_server import OpenAIServer


@pytest.fixture(autouse=True)
def _brief_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for rivals of the first edit that passes among a few dozen: how far it looks is tested in `tests/repair`."""
    monkeypatch.setattr("kotef.repair.search_loop._AFTER", 0.2)
    monkeypatch.setattr("kotef.repair.search_loop._MORE", 40)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git repository with one bug and the test that shows it; its check takes a few hundredths of a second."""
    return one_bug(tmp_path / "project")


@pytest.fixture
def unittest_project(tmp_path: Path) -> Path:
    """The same with its tests for unittest and pytest: for tests that are about a runner, its ids or its files."""
    return one_bug(tmp_path / "project", UNITTEST_TEST)


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
