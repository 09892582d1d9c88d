"""Real agents from PyPI and npm as the coder, against a scripted endpoint: whole runs, in the best sandbox there is.

uv venv /tmp/agents && uv pip install --python /tmp/agents/bin/python mini-swe-agent "litellm<1.100"
npm install --prefix /tmp/npm @qwen-code/qwen-code @github/copilot @mariozechner/pi-coding-agent opencode-ai \\
    @kilocode/cli cline
KOTEF_AGENTS=/tmp/agents/bin:/tmp/npm/node_modules/.bin python -m pytest -m agents
"""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.loop import BUG, UNITTEST, UNITTEST_TEST, Ran, git, kotef
from support.openai_server import OpenAIServer, Reply, Request, call, calls, status, text

pytestmark = pytest.mark.agents
EDIT = "calc.py\n```python\ndef add(a, b):\n    return a + b\n```\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "calc.py").write_text(BUG)
    (root / "test_calc.py").write_text(UNITTEST_TEST)
    (root / ".gitignore").write_text("__pycache__/\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    return root


@pytest.fixture
def agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """KOTEF_AGENTS names folders, as PATH does, in which agents are installed."""
    monkeypatch.setenv("PATH", os.pathsep.join((os.environ["PATH"], os.environ.get("KOTEF_AGENTS", ""))))
    monkeypatch.setenv("KOTEF_SANDBOX", "auto")
    monkeypatch.setenv("OPENAI_API_KEY", "scripted-key-of-nobody-4711")


def hired(project: Path, monkeypatch: pytest.MonkeyPatch, coder: str, script: list[Reply]) -> tuple[Ran, list[Request]]:
    if shutil.which(coder.split(maxsplit=1)[0]) is None:
        pytest.skip(f"{coder.split(maxsplit=1)[0]} is not installed: neither on PATH nor in a folder of KOTEF_AGENTS")
    with OpenAIServer(lambda _, number: script[min(number, len(script) - 1)]) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base_url)
        ran = kotef(project, "run", "make add add", "--check", UNITTEST, "--coder", coder, "--max-attempts", "1")
        return ran, server.requests


@pytest.mark.usefixtures("agents")
def test_mini_swe_agent_is_hired(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = git(project, "rev-parse", "HEAD")
    script = [
        calls(call("bash", command="sed -i 's/a - b/a + b/' calc.py && git commit -qam mine")),
        calls(call("bash", command="echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")),
    ]
    monkeypatch.setenv("MSWEA_COST_TRACKING", "ignore_errors")
    ran, requests = hired(project, monkeypatch, "mini --model openai/scripted", script)
    assert (ran.code, ran.result["outcome"], ran.result["winner"]) == (0, "verified", "mini"), ran.result["attempts"]
    assert "# A task for you" in requests[0].text
    assert "make add add" in requests[0].text
    assert git(project, "rev-parse", "HEAD") == before, "it has committed, and that did not last"
    assert git(project, "status", "--porcelain").split() == ["M", "calc.py"]
    usage = ran.result["usage"]
    assert (usage["tokensIn"], usage["tokensOut"], usage["calls"], usage["cost"]) == (200, 40, 2, None)


@pytest.mark.usefixtures("agents")
def test_aider_is_hired(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = git(project, "rev-parse", "HEAD")
    coder = "aider --model openai/scripted --edit-format whole calc.py"
    ran, requests = hired(project, monkeypatch, coder, [text(EDIT)])
    assert (ran.code, ran.result["outcome"], ran.result["winner"]) == (0, "verified", "aider"), ran.result["attempts"]
    assert "# A task for you" in requests[0].text
    assert git(project, "rev-parse", "HEAD") == before
    assert git(project, "status", "--porcelain").split() == ["M", "calc.py"], "it left nothing behind"
    assert ran.result["usage"]["tokensIn"] > 0


SHELLS = ("run_shell_command", "bash", "run_commands")
"""What agents call the tool that runs a command."""


def works(request: Request, _: int) -> Reply:
    """A model that edits by the agent's shell once, and is done; requests without tools are for titles and notes."""
    shell = next((name for name in SHELLS if name in request.tools), "")
    if not shell or any(message["role"] == "tool" for message in request.messages):
        return text("I changed the sign.")
    command = "sed -i 's/a - b/a + b/' calc.py"
    if shell == "run_commands":
        return calls(call(shell, commands=[command]))
    return calls(call(shell, command=command, description="fix the sign", is_background=False))


def refuses(_: Request, __: int) -> Reply:
    return status(401, "Incorrect API key provided")


def qwen(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    return "qwen --auth-type openai -m scripted"


def copilot(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COPILOT_PROVIDER_BASE_URL", url)
    monkeypatch.setenv("COPILOT_PROVIDER_API_KEY", "scripted-key-of-nobody-4711")
    monkeypatch.setenv("COPILOT_MODEL", "scripted")
    return "copilot"


def pi(url: str, _: pytest.MonkeyPatch) -> str:
    local = {"baseUrl": url, "api": "openai-completions", "apiKey": "OPENAI_API_KEY", "models": [{"id": "scripted"}]}
    written(".pi/agent/models.json", {"providers": {"local": local}})
    return "pi --provider local --model scripted"


def opencode(url: str, _: pytest.MonkeyPatch, name: str = "opencode") -> str:
    options = {"baseURL": url, "apiKey": "scripted-key-of-nobody-4711"}
    local = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"scripted": {"name": "scripted"}}}
    written(f".config/{name}/{name}.json", {"provider": {"local": local}})
    return f"{name} --model local/scripted"


def kilo(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    return opencode(url, monkeypatch, "kilo")


def cline(url: str, _: pytest.MonkeyPatch) -> str:
    name = "openai-compatible"
    settings = {"provider": name, "apiKey": "scripted-key-of-nobody-4711", "model": "scripted", "baseUrl": url}
    providers = {name: {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}}
    kept = {"version": 1, "lastUsedProvider": name, "modes": {}, "providers": providers}
    written(".cline/data/settings/providers.json", kept)
    return "cline"


def written(name: str, content: object) -> None:
    file = Path(os.environ["HOME"]) / name
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(content))


AGENTS: dict[Callable[..., str], int] = {qwen: 100, copilot: 0, pi: 100, opencode: 100, kilo: 100, cline: 100}
"""Agent → tokens that it reports at least."""


def endpoint(
    project: Path, monkeypatch: pytest.MonkeyPatch, agent: Callable[..., str], model: Callable[..., Reply]
) -> Ran:
    if shutil.which(agent.__name__) is None:
        pytest.skip(f"{agent.__name__} is not installed: neither on PATH nor in a folder of KOTEF_AGENTS")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    with OpenAIServer(model) as server:
        coder = agent(server.base_url, monkeypatch)
        return kotef(project, "run", "make add add", "--check", UNITTEST, "--coder", coder, "--max-time", "120")


@pytest.mark.usefixtures("agents")
@pytest.mark.parametrize(("agent", "tokens"), AGENTS.items(), ids=[agent.__name__ for agent in AGENTS])
def test_an_agent_of_npm_is_hired(project: Path, monkeypatch: pytest.MonkeyPatch, agent, tokens: int) -> None:
    ran = endpoint(project, monkeypatch, agent, works)
    name = agent.__name__
    assert (ran.code, ran.result["outcome"], ran.result["winner"]) == (0, "verified", name), ran.result["attempts"]
    assert git(project, "status", "--porcelain").split() == ["M", "calc.py"], "it left nothing behind"
    assert ran.result["attempts"][0]["said"] == "I changed the sign."
    assert ran.result["usage"]["tokensIn"] >= tokens
    assert ran.result["usage"]["cost"] is None, "the price of the scripted model is unknown"


@pytest.mark.usefixtures("agents")
@pytest.mark.parametrize("agent", AGENTS, ids=[agent.__name__ for agent in AGENTS])
def test_an_agent_of_npm_whose_login_is_refused_is_tried_once(
    project: Path, monkeypatch: pytest.MonkeyPatch, agent
) -> None:
    ran = endpoint(project, monkeypatch, agent, refuses)
    assert (ran.code, ran.result["reason"]) == (7, "login_refused"), ran.result["attempts"]
    assert sum(event["event"] == "coder_started" for event in ran.events) == 1
