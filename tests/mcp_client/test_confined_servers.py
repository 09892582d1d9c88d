"""Servers that are programs, in the sandbox: folders for what package managers install, and programs it hides."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import mcp_server
from support.confined import need

from kotef.files import state_dir
from kotef.mcp_client.server_process import downloads_of
from kotef.mcp_client.servers import Server
from kotef.mcp_client.sessions import McpSession, ServerFault
from kotef.runs.sandbox_setup import usual_sandbox

TINY = str(mcp_server.__file__)
LIKE_A_PACKAGE_MANAGER = f"""
import json, os, runpy, sys
from pathlib import Path
found = {{}}
for name in ("npm_config_cache", "UV_CACHE_DIR", "UV_TOOL_DIR", "UV_PYTHON_INSTALL_DIR", "PIPX_HOME"):
    mark = Path(os.environ[name]) / "_npx" / "installed"
    found[name] = mark.exists()
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
home = Path(os.environ["HOME"], "mine")
found["HOME"] = home.exists()
home.touch()
found["pythons"] = sorted(path.name for path in Path(os.environ["UV_PYTHON_INSTALL_DIR"]).iterdir())
found["retries"] = os.environ.get("UV_HTTP_RETRIES", "usual")
os.environ["FOUND"] = json.dumps(found)
sys.argv = ["server"]
runpy.run_path({TINY!r}, run_name="__main__")
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = tmp_path / "one"
    place.mkdir()
    monkeypatch.setenv("KOTEF_SANDBOX", "bwrap")
    need("bwrap", place)
    return place


def started(server: Server, root: Path, reads: tuple[str, ...] = ()) -> dict[str, object]:
    """What the program found at its start."""

    async def go() -> str:
        session = McpSession(server, root, root.parent / "log", usual_sandbox(root, network=True, reads=reads))
        await session.open()
        try:
            return await session.call("environment", {"name": "FOUND"})
        finally:
            await session.close()

    found = asyncio.run(go())
    return json.loads(found) if found != "unset" else {}


def manager(*more: str) -> Server:
    return Server(name="m", command=sys.executable, args=("-c", LIKE_A_PACKAGE_MANAGER, *more))


def test_what_a_package_manager_installs_is_found_at_the_next_start_and_the_home_is_fresh(root: Path) -> None:
    pythons = Path.home() / ".local/share/uv/python/cpython-3.12.1-linux"
    pythons.mkdir(parents=True)
    first = started(manager(), root)
    assert not any(first[name] for name in ("npm_config_cache", "UV_TOOL_DIR", "PIPX_HOME", "HOME")), first
    assert "cpython-3.12.1-linux" in str(first["pythons"])
    assert first["retries"] == "usual"
    again = started(manager(), root)
    assert all(again[name] for name in first if name not in ("HOME", "pythons", "retries")), again
    assert not again["HOME"]
    assert not started(manager("another"), root)["npm_config_cache"], "another command line has other downloads"
    assert not list(pythons.iterdir()), "the person's own installation is read-only"


def test_a_server_shares_no_downloads_with_another_workspace(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for place in (one, two):
        place.mkdir()
        (place / "server.py").touch()
    own, package = (Server(name="s", command="python", args=args) for args in (("server.py",), ("-m", "package")))
    assert downloads_of(own, one) != downloads_of(own, two)
    assert downloads_of(package, one) != downloads_of(package, two)
    assert downloads_of(package, one) != downloads_of(own, one)
    assert downloads_of(package, one).parent.parent == state_dir(one).parent


@pytest.mark.parametrize("trap", ["link", "file"])
def test_a_folder_that_a_server_has_replaced_is_reported(root: Path, trap: str) -> None:
    place = downloads_of(manager(), root)
    place.mkdir(parents=True)
    target = root.parent / "target"
    target.mkdir()
    (Path.home() / ".local/share/uv/python/cpython-3.12.1-linux").mkdir(parents=True, exist_ok=True)
    if trap == "link":
        (place / "uv-python").symlink_to(target)
    else:
        (place / "uv-python").touch()
    with pytest.raises(ServerFault, match="uv-python"):
        started(manager(), root)
    assert not list(target.iterdir()), "nothing is written where the link leads"


def script(path: Path, first: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{first}\n{Path(TINY).read_text()}")
    path.chmod(0o755)
    return path


def test_a_hidden_program_is_named_with_the_way_out(root: Path) -> None:
    program = script(Path.home() / "tools" / "server", sys.executable)
    with pytest.raises(ServerFault) as refused:
        started(Server(name="s", command=str(program)), root)
    assert str(refused.value) == (
        "MCP server s did not start: the sandbox hides ~/tools/server, the program; add --read ~/tools"
    )
    assert started(Server(name="s", command=str(program)), root, (str(program.parent),)) == {}


def test_a_link_to_a_hidden_program_and_a_hidden_interpreter_are_named(root: Path) -> None:
    hidden = Path.home() / "environment" / "bin" / "python"
    hidden.parent.mkdir(parents=True)
    hidden.symlink_to(sys.executable)
    inside = script(root / "server", str(hidden))
    with pytest.raises(
        ServerFault, match=r"hides ~/environment/bin/python, the interpreter of its program; add --read ~/environment$"
    ):
        started(Server(name="s", command="./server"), root)
    (root / "link").symlink_to(hidden)
    with pytest.raises(ServerFault, match=r"hides ~/environment/bin/python, the program"):
        started(Server(name="s", command="./link", args=(str(inside),)), root)


def test_a_hidden_script_in_the_arguments_is_named_if_the_server_fails(root: Path) -> None:
    program = script(Path.home() / "server.py", sys.executable)
    server = Server(name="s", command=sys.executable, args=(str(program),))
    with pytest.raises(ServerFault, match=r"; the sandbox hides ~/server\.py; add --read ~/server\.py$"):
        started(server, root)
    assert started(server, root, (str(program),)) == {}


def test_without_a_sandbox_the_person_s_own_folders_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KOTEF_SANDBOX", "off")
    monkeypatch.setenv("UV_CACHE_DIR", "/own/cache")
    server = Server(name="s", command=sys.executable, args=(TINY,))

    async def go() -> str:
        session = McpSession(server, tmp_path, tmp_path / "log", usual_sandbox(tmp_path, network=True))
        await session.open()
        try:
            return await session.call("environment", {"name": "UV_CACHE_DIR"})
        finally:
            await session.close()

    assert asyncio.run(go()) == "/own/cache"
    assert not os.path.lexists(downloads_of(server, tmp_path))
