"""Real agents from PyPI as the coder, against a scripted endpoint: whole runs, in the best sandbox there is.

uv venv /tmp/agents && uv pip install --python /tmp/agents/bin/python mini-swe-agent "litellm<1.100"
KOTEF_AGENTS=/tmp/agents/bin python -m pytest -m agents
"""

import os
import shutil
from pathlib import Path

import pytest
from support.loop import BUG, UNITTEST, UNITTEST_TEST, Ran, git, kotef
from support.openai_server import OpenAIServer, Reply, Request, call, calls, text

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
