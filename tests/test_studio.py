"""What `langgraph.json` names is a graph that Studio can draw, fill in and really run."""

import asyncio
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langsmith import run_trees, utils
from support.loop import BUG, CHECK, DONE, FIX, TEST, Agent, git
from support.openai_server import OpenAIServer, slow
from support.otlp import Collector

from kotef.errors import BusyError, UsageError
from kotef.telemetry import langsmith
from kotef.workspace import holder_of, workspace_lock

ROOT = Path(__file__).parent.parent


def loaded() -> Any:
    """As the command line of LangGraph does it: the file as a module of its own, and the variable in it."""
    configuration = json.loads((ROOT / "langgraph.json").read_text())
    path, _, variable = configuration["graphs"]["kotef"].partition(":")
    spec = importlib.util.spec_from_file_location("studio_graph", ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, variable)


@pytest.fixture(scope="module")
def graph() -> Any:
    return loaded()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "calc.py").write_text(BUG)
    (root / "test_calc.py").write_text(TEST)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    monkeypatch.chdir(root)
    return root


def test_the_drawing_shows_the_loop(graph: Any) -> None:
    drawn = graph.get_graph(xray=True)
    assert {"open", "work:planner", "work:coder", "work:verifier", "work:snitch"} <= set(drawn.nodes)


def test_a_person_is_asked_for_a_goal_and_for_nothing_that_cannot_be_typed(graph: Any) -> None:
    asked = graph.get_input_jsonschema()
    assert list(asked["properties"]) == ["goal", "ticket", "checks"]
    assert asked["required"] == ["goal"]
    assert graph.get_context_jsonschema() is None
    assert "exit_code" in graph.get_output_jsonschema()["properties"]


def test_a_thread_is_a_real_run_that_can_be_watched_node_by_node(
    graph: Any, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = graph.copy(update={"checkpointer": InMemorySaver()})  # the server brings its own

    async def go() -> tuple[list[str], dict[str, Any]]:
        config = {"configurable": {"thread_id": "t"}}
        seen = []
        given = {"goal": "make add add", "checks": [CHECK]}
        async for _, part in graph.astream(given, config, stream_mode="updates", subgraphs=True):
            seen += part
        return seen, (await graph.aget_state(config)).values

    with OpenAIServer(Agent(coder=[FIX, DONE])) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("KOTEF_MODEL", "scripted")
        monkeypatch.setenv("KOTEF_CODER", "model")
        seen, ended = asyncio.run(go())
    nodes = [name for name in seen if name in ("open", "work", "verifier", "planner", "coder", "snitch")]
    assert nodes == ["open", "verifier", "planner", "coder", "verifier", "planner", "work"]
    assert (ended["outcome"], ended["exit_code"], ended["changed"]) == ("verified", 0, ["calc.py"])
    result = json.loads((project / ".sdd" / "runs" / ended["run_id"] / "result.json").read_text())
    assert result["outcome"] == "verified"
    assert holder_of(project) is None


def test_no_secret_is_sent_to_langsmith(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever traces a thread takes its client before the first node."""
    secret = "zq8J2mWx91LkTt55"
    (project / "calc.py").write_text(f"{BUG}# {secret}\n")
    with Collector() as smith, OpenAIServer(Agent(coder=[FIX, DONE])) as server:
        for name, value in {
            "LANGSMITH_TRACING": "true",
            "LANGSMITH_ENDPOINT": smith.url,
            "LANGSMITH_API_KEY": "x",
            "LANGSMITH_DISABLE_RUN_COMPRESSION": "true",
            "OPENAI_BASE_URL": server.base_url,
            "KOTEF_MODEL": "scripted",
            "KOTEF_CODER": "model",
            "MY_SERVICE_TOKEN": secret,
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(run_trees, "_CLIENT", None)
        utils.get_env_var.cache_clear()
        asyncio.run(loaded().ainvoke({"goal": f"make add add with {secret}", "checks": [CHECK]}))
        assert langsmith.send_rest() == ""
        utils.get_env_var.cache_clear()
    sent = b"".join(smith.bodies)
    assert b"make add add with " in sent
    assert b'"planner"' in sent
    assert secret.encode() not in sent


def test_a_cancelled_thread_leaves_a_result_and_an_entry(
    graph: Any, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go(server: OpenAIServer) -> None:
        work = asyncio.create_task(graph.ainvoke({"goal": "make add add", "checks": [CHECK]}))
        await asyncio.to_thread(server.wait_for_calls, 2, 100)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    with OpenAIServer(Agent(coder=[slow(FIX, 60)])) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("KOTEF_MODEL", "scripted")
        monkeypatch.setenv("KOTEF_CODER", "model")
        asyncio.run(go(server))
    [result] = (project / ".sdd" / "runs").glob("*/result.json")
    assert json.loads(result.read_text())["outcome"] == "interrupted"
    assert result.parent.name in (project / ".sdd" / "issues.md").read_text()
    assert holder_of(project) is None


def test_what_kotef_would_refuse_is_refused_with_its_words(graph: Any, project: Path) -> None:
    with pytest.raises(UsageError, match="--check: the command is empty"):
        asyncio.run(graph.ainvoke({"goal": "--sandbox=off", "checks": [" "]}))
    with pytest.raises(UsageError, match="no open ticket '--trust'"):
        asyncio.run(graph.ainvoke({"goal": "", "ticket": "--trust"}))
    with workspace_lock(project, "another"), pytest.raises(BusyError, match="another"):
        asyncio.run(graph.ainvoke({"goal": "x", "checks": [CHECK]}))
    assert not list((project / ".sdd").glob("runs/2*"))
