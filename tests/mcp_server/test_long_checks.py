"""Checks that take longer than clients wait: progress, an answer in time, and the result by its id."""

import asyncio
import time
from pathlib import Path

import pytest

from kotef.cli.mcp_server import lines_of
from kotef.errors import UsageError
from kotef.mcp_server.server import Workspace
from kotef.workspace import holder_of


def checking(project: Path, command: str) -> None:
    (project / ".sdd" / "kotef.toml").write_text(f'checks = ["{command}"]\n')


def test_a_long_check_answers_in_time_and_its_result_is_asked_for_by_its_id(project: Path) -> None:
    go = project.parent / "go"
    checking(project, f"while ! test -e {go}; do sleep 0.1; done; false")

    async def ask() -> None:
        workspace = Workspace(project, lines_of)
        running = await workspace.answer("check", {"wait_seconds": 0.5})
        assert (running["state"], "green" in running) == ("running", False)
        assert "check_id" in running["next"]
        with pytest.raises(UsageError, match=f"a check is at work .*{running['checkId']}"):
            await workspace.answer("check", {})
        with pytest.raises(UsageError, match="no check 'other' is known"):
            await workspace.answer("check", {"check_id": "other"})
        go.touch()
        found = await workspace.answer("check", {"check_id": running["checkId"], "wait_seconds": 60.0})
        assert (found["state"], found["green"], found["exitCode"]) == ("finished", False, 3)
        assert found["seconds"] >= running["seconds"]
        with pytest.raises(UsageError, match="is known"):
            await workspace.answer("check", {"check_id": running["checkId"]})

    asyncio.run(ask())


def test_the_official_client_gets_progress_and_the_checks_end_with_the_server(
    project: Path, conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = project.parent / "began"
    checking(project, f"touch {began}; sleep 300")
    heard: list[tuple[float, str | None]] = []

    async def progress(seconds: float, _: float | None, message: str | None) -> None:
        heard.append((seconds, message))

    async def talk(client) -> None:
        asked = {"wait_seconds": 7.0}
        result = await client.session.call_tool("check", asked, progress_callback=progress)
        assert result.structuredContent["state"] == "running"
        assert began.exists()

    conversation(talk)
    assert heard[0][1] == "the checks are running, 5 s"
    deadline = time.monotonic() + 60
    while holder_of(project) is not None:
        assert time.monotonic() < deadline, "no one can ask for its result any more"
        time.sleep(0.1)


def test_a_result_that_no_one_asked_for_is_not_given_to_a_later_question(project: Path) -> None:
    checking(project, "false")

    async def ask() -> None:
        workspace = Workspace(project, lines_of)
        running = await workspace.answer("check", {"wait_seconds": 0.0})
        assert running["state"] == "running"
        current = workspace.checks._current
        assert current is not None
        await asyncio.wait([current.output])
        checking(project, "true")
        found = await workspace.answer("check", {})
        assert found["green"], "it is about the files as they are now"

    asyncio.run(ask())
