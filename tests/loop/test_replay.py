"""Does a run that is played again come to the same end, with no model and no command?"""

import json
from pathlib import Path
from typing import Any

import pytest
from support.loop import CHECK, DONE, FIX, FIXED, Agent, Ran, contents, edit, kotef, plan, unchanged, write
from support.openai_server import call, calls, overflow, status, text


def replayed(root: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """`kotef replay --json`, with its workspace held to be as it was."""
    with unchanged(root):
        done = kotef(root, "replay", "--json", *arguments)
    return done.code, json.loads(done.stdout)


@pytest.fixture
def nothing_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on any command and any request would be a failure of the test."""

    def forbidden(*_: Any, **__: Any) -> None:
        raise AssertionError("something outside was asked")

    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.setattr("kotef.runs.workshop.run_check", forbidden)
    monkeypatch.setattr("kotef.runs.workshop.run_process", forbidden)


def test_a_verified_run_is_verified_again(project: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    look = calls(call("run_command", command="echo made > made.txt; cat made.txt"))
    done = run(project, Agent([look, FIX, DONE]), "make add right", "--check", CHECK)
    assert done.code == 0
    monkeypatch.delenv("OPENAI_BASE_URL")
    done = kotef(project, "replay")
    print(done.stdout, done.stderr)
    assert done.code == 0
    code, found = replayed(project)
    print(found)
    assert code == 0
    assert found["divergences"] == []
