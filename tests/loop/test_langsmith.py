"""What LangSmith receives of a run where its variables say so, at the wire; each run is a process that ends at once."""

import json
from pathlib import Path

import pytest
from support.loop import BUG, CHECK, FIX, Agent
from support.openai_server import OpenAIServer, Script, call, calls, text
from support.otlp import Collector
from support.process import Done, kotef_process

from kotef.redaction import Redactor, know, scope, secrets_of_env_file
from kotef.telemetry import langsmith, leaves, traced_by

SECRET = "zq8J2mWx91LkTt55"


@pytest.fixture
def traced(project: Path, tmp_path: Path):
    """`traced(url)`: a run in a process of its own whose LangSmith is at `url`."""

    def go(url: str) -> Done:
        (project / ".env").write_text(f"API_TOKEN={SECRET}\n")
        (project / "calc.py").write_text(f"{BUG}# {SECRET}\n")
        look = calls(call("run_command", command=f"echo {SECRET[::-1]} | rev"))
        with OpenAIServer(Agent(coder=[look, FIX, text("a last thought")])) as server:
            command = ["run", "--root", str(project), "--check", CHECK, "--coder", "model", "make add add"]
            return kotef_process(command, told(server, url), tmp_path)

    return go


def told(server: OpenAIServer, url: str) -> dict[str, str]:
    """The environment of a process that is traced."""
    return {
        "OPENAI_BASE_URL": server.base_url,
        "KOTEF_MODEL": "scripted",
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_ENDPOINT": url,
        "LANGSMITH_API_KEY": "lsv2_pt_0123456789abcdef",
        "LANGSMITH_DISABLE_RUN_COMPRESSION": "true",
    }


def test_a_run_that_goes_on_says_where_its_prompts_go(project: Path, tmp_path: Path) -> None:
    with Collector() as smith, OpenAIServer(Agent(coder=[FIX, text("done")])) as server:
        asked = ["--root", str(project), "--check", CHECK, "--coder", "model", "make add add"]
        kotef_process(["run", *asked], told(server, smith.url), tmp_path, kill_at="coder_started")
        done = kotef_process(["resume", "--last", "--root", str(project)], told(server, smith.url), tmp_path)
    assert done.returncode == 0, done.stderr
    host = smith.url.removeprefix("http://")
    said = f"note: LANGSMITH_TRACING is set: prompts and code are sent to LangSmith at {host}"
    assert done.stdout.splitlines().count(said) == 1


@pytest.fixture
def drafted(project: Path, tmp_path: Path):
    """`drafted(url)`: `kotef spec` of a goal that holds a secret, in a process whose LangSmith is at `url`."""

    def go(url: str) -> Done:
        ticket = {"title": "Add an undo command", "done": ["`test_undo` passes"], "checks": ["true"]}
        script: Script = [calls(call("DraftAnswer", purpose="Sums for clerks.", tickets=[ticket]))] * 2
        with OpenAIServer(script) as server:
            env = told(server, url) | {"MY_SERVICE_TOKEN": SECRET}
            return kotef_process(["spec", f"undo with {SECRET}", "--json", "--root", str(project)], env, tmp_path)

    return go


def test_a_draft_says_where_its_prompts_go_and_sends_no_secret_there(drafted) -> None:
    with Collector() as smith:
        done = drafted(smith.url)
    assert done.returncode == 0, done.stderr
    sent = b"".join(smith.bodies)
    assert b"undo with " in sent
    assert b"Sums for clerks." in sent, "all of it arrives before the process ends"
    assert SECRET.encode() not in sent
    host = smith.url.removeprefix("http://")
    assert done.stderr == f"note: LANGSMITH_TRACING is set: prompts and code are sent to LangSmith at {host}\n"
    assert json.loads(done.stdout)["dryRun"] is False


def test_a_dead_endpoint_changes_nothing_of_a_draft_but_one_line(drafted) -> None:
    done = drafted("http://127.0.0.1:9")
    assert done.returncode == 0
    _, said = done.stderr.splitlines()
    assert said.startswith("kotef: warning: LangSmith did not accept all traces")


def test_all_of_a_run_arrives_before_the_process_ends_and_no_secret_does(traced) -> None:
    with Collector() as smith:
        done = traced(smith.url)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    sent = b"".join(smith.bodies)
    for words in (b"make add add", b"a last thought", b'"planner"', b'"verifier"'):
        assert words in sent, words
    assert SECRET.encode() not in sent
    host = smith.url.removeprefix("http://")
    told = [line for line in done.stdout.splitlines() if "are sent to" in line]
    assert told == [f"note: LANGSMITH_TRACING is set: prompts and code are sent to LangSmith at {host}"]


@pytest.mark.examples(1)
@pytest.mark.parametrize("dead", ["closed", "silent", "no address"])
def test_a_dead_endpoint_changes_nothing_but_one_line(traced, dead: str) -> None:
    with Collector(silent=True) as smith:
        done = traced({"silent": smith.url, "closed": "http://127.0.0.1:9", "no address": "http://[::1:43"}[dead])
    assert done.returncode == 0
    [said] = done.stderr.splitlines()
    assert said.startswith("kotef: warning: LangSmith did not accept all traces")
    assert "lsv2" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("env", "name"),
    [
        ({}, ""),
        ({"LANGSMITH_TRACING": "true"}, "LANGSMITH_TRACING"),
        ({"LANGCHAIN_TRACING_V2": "true"}, "LANGCHAIN_TRACING_V2"),
        ({"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "true"}, "LANGCHAIN_TRACING_V2"),
        ({"LANGSMITH_TRACING_V2": "false", "LANGSMITH_TRACING": "true"}, ""),
        ({"LANGSMITH_TRACING": "1"}, ""),
        ({"LANGSMITH_API_KEY": "x", "LANGSMITH_ENDPOINT": "http://h"}, ""),
    ],
)
def test_it_is_on_exactly_where_the_library_is(env: dict, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from langsmith import utils

    for key, value in env.items():
        monkeypatch.setenv(key, value)
    utils.get_env_var.cache_clear()
    assert utils.tracing_is_enabled() is bool(name)
    utils.get_env_var.cache_clear()
    assert traced_by(env) == name
    assert bool(leaves(env)) == bool(name)


def test_where_the_prompts_go_is_named_without_what_else_an_address_holds() -> None:
    env = {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": "https://user:pw@smith.example.org/api?key=x"}
    assert leaves(env).endswith("to LangSmith at smith.example.org")
    assert leaves({"LANGSMITH_TRACING": "true"}).endswith("at api.smith.langchain.com")


def test_whatever_is_traced_passes_the_redactor_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of it did so before; this holds for what did not."""
    from uuid import uuid4

    from langsmith import run_trees, utils

    with Collector() as smith, scope():
        monkeypatch.setenv("LANGSMITH_ENDPOINT", smith.url)
        monkeypatch.setenv("LANGSMITH_TRACING", "true")
        monkeypatch.setenv("LANGSMITH_API_KEY", "x")
        monkeypatch.setenv("LANGSMITH_DISABLE_RUN_COMPRESSION", "true")
        monkeypatch.setattr(run_trees, "_CLIENT", None)
        utils.get_env_var.cache_clear()
        know(Redactor(secrets_of_env_file(f"API_TOKEN={SECRET}\n")))
        langsmith.hide_secrets()
        said = {"messages": [{"content": f"it is {SECRET}"}]}
        client = run_trees.get_cached_client()
        client.create_run(
            "seen", said, "chain", id=uuid4(), outputs=said, error=SECRET, extra={"metadata": {"a": SECRET}}
        )
        assert langsmith.send_rest() == ""
        utils.get_env_var.cache_clear()
        sent = b"".join(smith.bodies)
    assert b"it is " in sent
    assert SECRET.encode() not in sent
