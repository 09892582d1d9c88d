"""A project, a scripted endpoint, and kotef as an MCP server in a process of its own."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.loop import BUG, CHECK, TEST, Ran, git, kotef
from support.openai_server import OpenAIServer


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git repository with one bug, the test that shows it, and the check in its specification."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "calc.py").write_text(BUG)
    (root / "test_calc.py").write_text(TEST)
    (root / ".gitignore").write_text("__pycache__/\n")
    (root / ".sdd").mkdir()
    (root / ".sdd" / "kotef.toml").write_text(f'checks = ["{CHECK}"]\n')
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    return root


@dataclass
class Client:
    """The official client, and what it is told."""

    session: Any
    pid: int

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool that worked."""
        result = await self.session.call_tool(tool, arguments)
        assert not result.isError, result.content
        assert json.loads(result.content[0].text) == result.structuredContent
        return result.structuredContent

    async def refused(self, tool: str, **arguments: Any) -> str:
        """The words of a tool that did not; always one line."""
        result = await self.session.call_tool(tool, arguments)
        assert result.isError, result.content
        assert len(result.content[0].text.splitlines()) == 1
        return result.content[0].text

    async def ended(self, run_id: str) -> dict[str, Any]:
        """The status once the run has ended."""
        for _ in range(5):
            status = await self.call("run_status", run_id=run_id, wait_seconds=40)
            if status["exitCode"] is not None:
                return status
        raise AssertionError(status)

    def kill(self) -> None:
        """End the server as the system would."""
        os.kill(self.pid, signal.SIGKILL)


@asynccontextmanager
async def _serving(root: Path, *arguments: str, **env: str) -> AsyncIterator[Client]:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    pid = root.parent / "server.pid"
    code = f"import os, runpy, sys; open({str(pid)!r}, 'w').write(str(os.getpid())); sys.argv[0] = 'kotef'; runpy.run_module('kotef', run_name='__main__')"
    command = ["-c", code, "mcp", *(arguments or ("--root", str(root)))]
    server = StdioServerParameters(command=sys.executable, args=command, env={**os.environ, **env}, cwd=root.parent)
    with (root.parent / "server.txt").open("w") as errlog:
        async with stdio_client(server, errlog=errlog) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            yield Client(session, int(pid.read_text()))


@pytest.fixture
def conversation(project: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`conversation(talk)`: a client talks with a server over real stdio; `endpoint` is whom its runs ask."""

    def hold(
        talk: Callable[[Client], Awaitable[None]],
        *arguments: str,
        endpoint: str = "",
        env: dict[str, str] | None = None,
    ) -> None:
        if endpoint:
            monkeypatch.setenv("OPENAI_BASE_URL", endpoint)
            monkeypatch.setenv("KOTEF_MODEL", "scripted")
            monkeypatch.setenv("KOTEF_CODER", "model")

        async def go() -> None:
            async with _serving(project, *arguments, **(env or {})) as client:
                await talk(client)

        asyncio.run(go())

    return hold


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """`run(root, agent, *arguments)`: `kotef run` in this process, against a server that answers as the agent does."""

    def go(root: Path, agent: Any, *arguments: str) -> Ran:
        with OpenAIServer(agent) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            monkeypatch.setenv("KOTEF_MODEL", "scripted")
            return kotef(root, "run", "--coder", "model", *arguments)

    return go
