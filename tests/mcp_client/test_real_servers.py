"""Servers from the registries as their READMEs start them, in the sandbox: `npx -y …` and `uvx …`, cold and warm.

python -m pytest -m mcp_servers      # npx from node; uvx from `pip install uv`, on PATH or in a folder of KOTEF_UV
"""

import asyncio
import os
import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from support.confined import need

from kotef.mcp_client.servers import Server
from kotef.mcp_client.sessions import McpSession
from kotef.runs.sandbox_setup import usual_sandbox

pytestmark = pytest.mark.mcp_servers
EVERYTHING = Server(
    name="everything", command="npx", args=("-y", "@modelcontextprotocol/server-everything"), startTimeoutSeconds=240
)
FILES = ("-y", "@modelcontextprotocol/server-filesystem")
CLOCK = Server(name="time", command="uvx", args=("mcp-server-time", "--local-timezone=UTC"), startTimeoutSeconds=240)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    (place / "note.txt").write_text("a note of the workspace")
    monkeypatch.setenv("PATH", os.pathsep.join((os.environ["PATH"], os.environ.get("KOTEF_UV", ""))))
    monkeypatch.setenv("KOTEF_SANDBOX", "bwrap")
    need("bwrap", place)
    return place


def talk(server: Server, root: Path, work: Callable[[McpSession], Awaitable[str]]) -> tuple[list[str], str, float]:
    """The names of the tools, what `work` returns, and the seconds of the start."""
    if shutil.which(server.command) is None:
        pytest.skip(f"{server.command} is not installed")

    async def go() -> tuple[list[str], str, float]:
        session = McpSession(server, root, root.parent / "log", usual_sandbox(root, network=True))
        began = time.monotonic()
        tools = await session.open()
        seconds = time.monotonic() - began
        try:
            return [tool.name for tool in tools], await work(session), seconds
        finally:
            await session.close()

    return asyncio.run(go())


def test_a_server_of_npx_starts_in_the_sandbox_and_is_not_downloaded_again(root: Path) -> None:
    def echo(session: McpSession) -> Awaitable[str]:
        return session.call("echo", {"message": "hello"})

    tools, said, cold = talk(EVERYTHING, root, echo)
    assert "echo" in tools
    assert "hello" in said
    other = root.parent / "other"
    other.mkdir()
    _, said, warm = talk(EVERYTHING, other, echo)
    assert "hello" in said
    assert warm < cold


def test_a_file_server_of_npx_sees_the_workspace(root: Path) -> None:
    server = Server(name="files", command="npx", args=(*FILES, str(root)), startTimeoutSeconds=240)
    _, said, _ = talk(server, root, lambda session: session.call("read_text_file", {"path": str(root / "note.txt")}))
    assert said == "a note of the workspace"


def test_a_server_of_uvx_starts_in_the_sandbox_although_the_uv_folder_is_read_only(root: Path) -> None:
    (Path.home() / ".local/share/uv/tools").mkdir(parents=True)

    def now(session: McpSession) -> Awaitable[str]:
        return session.call("get_current_time", {"timezone": "UTC"})

    tools, said, cold = talk(CLOCK, root, now)
    assert "get_current_time" in tools
    assert '"timezone": "UTC"' in said
    _, _, warm = talk(CLOCK, root, now)
    assert warm < cold
