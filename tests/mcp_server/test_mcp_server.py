"""What editors and other agents can do with kotef over MCP: real stdio, real runs, and only the model is a script."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from support.loop import CHECK, DONE, FIX, Agent, kotef
from support.openai_server import OpenAIServer, slow
from support.run_events import recorded

from kotef.cli.mcp_server import lines_of
from kotef.errors import KotefError
from kotef.mcp_server.server import Workspace
from kotef.workspace import holder_of


def _until(true, seconds: float = 150.0):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_run_is_started_followed_and_verified(project: Path, conversation) -> None:
    async def talk(client) -> None:
        tools = (await client.session.list_tools()).tools
        assert [tool.name for tool in tools] == ["start_run", "run_status", "cancel_run", "read_issues", "check"]
        assert all(tool.inputSchema["additionalProperties"] is False for tool in tools)

        red = await client.call("check")
        assert (red["green"], red["exitCode"]) == (False, 3)
        begun = await client.call("start_run", goal="make add add", max_attempts=2)
        assert begun["outcome"] is None
        assert begun["maxAttempts"] == 2
        ended = await client.ended(begun["runId"])
        assert (ended["outcome"], ended["state"], ended["done"], ended["exitCode"]) == ("verified", "idle", True, 0)
        assert ended["changed"] == ["calc.py"]
        assert ended["tokensIn"] > 0
        assert any("attempt 1 of 2" in line for line in ended["lines"])
        assert (await client.call("run_status"))["runId"] == begun["runId"], "the newest is meant where none is named"
        assert (await client.call("check"))["green"]
        assert (await client.call("read_issues")) == {"issues": [], "problems": []}
        log = project / ".sdd" / "runs" / begun["runId"] / "logs" / "detached.log"
        assert "verified at attempt 1 of 2" in log.read_text()

    with OpenAIServer(Agent(coder=[FIX, DONE])) as server:
        conversation(talk, endpoint=server.base_url)


def test_a_cancelled_run_ends_interrupted_with_its_entry(project: Path, conversation) -> None:
    async def talk(client) -> None:
        begun = await client.call("start_run", goal="make add add")
        server.wait_for_calls(2, 150)
        at_work = await client.call("run_status", run_id=begun["runId"])
        assert (at_work["state"], at_work["attempt"], at_work["outcome"]) == ("streaming", 1, None)
        assert "works" not in await client.refused("start_run", goal="another")
        assert "is working here" in await client.refused("start_run", goal="another"), "one run at a time"
        ended = await client.call("cancel_run", run_id=begun["runId"])
        assert (ended["outcome"], ended["exitCode"], ended["state"]) == ("interrupted", 143, "idle")
        assert ended["resume"] == f"kotef resume {begun['runId']}"
        [entry] = (await client.call("read_issues"))["issues"]
        assert (entry["runId"], entry["outcome"], entry["reason"]) == (begun["runId"], "interrupted", "SIGTERM")
        assert "is not at work: it ended interrupted" in await client.refused("cancel_run", run_id=begun["runId"])

    with OpenAIServer(Agent(coder=[slow(FIX, 60), DONE])) as server:
        conversation(talk, endpoint=server.base_url)
    assert len(list((project / ".sdd" / "runs").glob("2*"))) == 1, "the refused start left nothing"


def test_a_run_goes_on_when_its_server_is_killed_and_its_goal_is_only_text(project: Path, conversation) -> None:
    begun = {}
    goal = f"--root=/ --sandbox=off $(touch {project}/owned)"

    async def talk(client) -> None:
        begun.update(await client.call("start_run", goal=goal, checks=[CHECK]))
        server.wait_for_calls(2, 150)
        client.kill()

    with OpenAIServer(Agent(coder=[slow(FIX, 1), DONE])) as server:
        with suppress(BaseExceptionGroup):  # the client finds nobody there any more
            conversation(talk, endpoint=server.base_url)
        result = project / ".sdd" / "runs" / begun["runId"] / "result.json"
        _until(result.exists)
        _until(lambda: holder_of(project) is None)
    found = json.loads(result.read_text())
    assert (found["outcome"], found["goal"]) == ("verified", goal)
    assert not (project / "owned").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "no goal or ticket was given"),
        ({"goal": "x", "sandbox": "off"}, "sandbox: Extra inputs are not permitted"),
        ({"goal": "x", "root": "/"}, "root: Extra inputs are not permitted"),
        ({"goal": "x", "network": True}, "network: Extra inputs"),
        ({"goal": "x", "trust": True}, "trust: Extra inputs"),
        ({"goal": "x", "allow_edits": ["*"]}, "allow_edits: Extra inputs"),
        ({"goal": "x", "coder": "sh -c 'touch /tmp/x'"}, "coder: Extra inputs"),
        ({"goal": "x", "max_attempts": 21}, "max_attempts: Input should be less than or equal to 20"),
        ({"goal": "x", "max_attempts": "3"}, "max_attempts: Input should be a valid integer"),
        ({"goal": "x", "checks": [""]}, "checks.0: String should have at least 1 character"),
        ({"goal": "x\0y"}, "a process cannot be started with these arguments"),
        ({"goal": "x" * 20_001}, "goal: String should have at most 20000 characters"),
        ({"ticket": "../../etc/passwd"}, "ticket: String should match pattern"),
        ({"ticket": "--trust"}, "ticket: String should match pattern"),
        ({"ticket": "no-such"}, "no open ticket 'no-such'"),
    ],
)
def test_what_cannot_be_started_is_refused_in_one_line(project: Path, arguments, why: str) -> None:
    """The same function as behind the protocol; no process outlives it, and no run is left."""
    with pytest.raises(KotefError) as refused:
        asyncio.run(Workspace(project, lines_of).answer("start_run", arguments))
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not list((project / ".sdd").glob("runs/2*"))


def test_what_is_wrong_is_said_in_one_line(project: Path, conversation) -> None:
    async def talk(client) -> None:
        assert "no runs in" in await client.refused("run_status")
        assert "no runs in" in await client.refused("cancel_run", run_id="2")
        assert (
            await client.refused("no_such")
            == "there is no tool 'no_such' (the tools are start_run, run_status, cancel_run, read_issues, check)"
        )
        assert "wait_seconds: Input should be less than or equal to 50" in await client.refused(
            "run_status", wait_seconds=3600
        )
        (project / ".sdd" / "kotef.toml").unlink()
        (project / "test_calc.py").unlink()
        assert "no check is named or found here" in await client.refused("check")

    conversation(talk)


def test_a_killed_run_is_an_error_that_names_the_way_on(project: Path, run) -> None:
    ran = run(project, Agent(coder=[FIX, DONE]), "make add add")
    (ran.run_dir / "result.json").unlink()
    events = ran.run_dir / "events.jsonl"
    events.write_text("".join(events.read_text().splitlines(keepends=True)[:-3]))
    workspace = Workspace(project, lines_of)
    status = asyncio.run(workspace.answer("run_status", {}))
    way_on = f"kotef resume {ran.run_dir.name}"
    assert (status["state"], status["outcome"], status["resume"]) == ("error", None, way_on)
    with pytest.raises(KotefError, match=way_on):
        asyncio.run(workspace.answer("cancel_run", {"run_id": ran.run_dir.name}))


def test_a_call_that_is_held_to_be_folded_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who polls would take the silence for a run that hangs; and colours are for nobody here."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("CI", raising=False)
    call = recorded("tool_finished", 1.0, tool="read_file", arguments="a.py", ok=True)
    lines = lines_of([call] * 6, 3)
    assert lines == [*["  ↳ read_file a.py ✓"] * 2, "  ↳ read_file 4 more: a.py ✓"]


def test_secrets_of_the_workspace_are_not_told(project: Path, conversation) -> None:
    secret = "zq8J2mWx91LkTt55"
    (project / ".env").write_text(f"API_TOKEN={secret}\n")
    (project / ".sdd" / "issues.md").write_text(f"# Issues\n\n<!-- kotef:issue:v1 {secret} -->\n")

    async def talk(client) -> None:
        result = await client.session.call_tool("run_status", {"run_id": secret})
        assert result.isError
        assert secret not in result.content[0].text
        assert secret not in json.dumps(await client.call("read_issues", state="all"))

    conversation(talk)


def test_ctrl_c_ends_a_server_at_once(project: Path) -> None:
    command = [sys.executable, "-m", "kotef", "mcp", "--root", str(project)]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}) + "\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["result"]["serverInfo"]["name"] == "kotef"
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == -signal.SIGINT


def test_a_directory_that_is_no_workspace_is_not_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from kotef.cli.main import main

    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["mcp"])
    assert done.exit_code == 2
    assert "is not a git repository" in done.stderr
    assert "kotef mcp --root DIR" in done.stderr


def test_without_the_extra_it_says_how_to_get_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    done = kotef(project, "mcp")
    assert done.code == 2
    assert "pip install 'kotef[mcp]'" in done.stderr


def test_checks_that_nobody_waits_for_any_more_are_ended(project: Path) -> None:
    began = project.parent / "began"  # seen from the copy as well in which HEAD is judged first
    (project / ".sdd" / "kotef.toml").write_text(f'checks = ["touch {began}; sleep 300"]\n')

    async def go() -> None:
        asking = asyncio.create_task(Workspace(project, lines_of).answer("check", {}))
        await asyncio.to_thread(_until, began.exists)
        holder = holder_of(project)
        assert holder is not None
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert holder_of(project) is None

    asyncio.run(go())
