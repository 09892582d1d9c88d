"""Whole runs against the rules of each provider: plan, look, edit, verify; none ends because of a form of a request."""

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.loop import CHECK, DONE, FIX, Agent, Ran, kotef
from support.openai_server import Reply, Request, call, html, overflow, paced, slow, text
from support.providers import LOOK, MEND, PROVIDERS, Provider, ProviderModel, ProviderServer, raw

from kotef.errors import SpecError
from kotef.runs.config import read_config

FIRST = ("deepseek", "gemini", "groq", "llama.cpp")
ORDER = (*FIRST, *(name for name in PROVIDERS if name not in FIRST))
IN_VAIN = {"openai", "sglang", "ollama", "together"}
"""Providers with rules that a usual run does not meet, or with none."""


def run_at(
    provider: Provider,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    *options: str,
    config: str | None = None,
    model: ProviderModel | None = None,
    command: tuple[str, ...] = (),
) -> tuple[Ran, ProviderServer]:
    home = project.parent / "config"
    (home / "kotef").mkdir(parents=True, exist_ok=True)
    written = provider.settings if config is None else config
    tomllib.loads(written)
    (home / "kotef" / "config.toml").write_text(written)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setenv("KOTEF_MODEL", "scripted")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    with ProviderServer(provider, model) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        asked = command or ("run", "make add add", "--check", CHECK, "--coder", "model", *options)
        return kotef(project, *asked), server


@pytest.mark.examples(len(FIRST))
@pytest.mark.parametrize("name", ORDER)
def test_a_run_comes_to_its_end_with_each_provider(name: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = PROVIDERS[name]
    ran, server = run_at(provider, project, monkeypatch)
    assert ran.result["outcome"] == "verified", ran.stderr
    assert [event["source"] for event in ran.events if event["event"] == "planned"] == ["model"]
    often = Counter(server.refusals).most_common(1)
    assert not often or often[0][1] <= 2, "what was refused is remembered"
    assert ran.result["usage"]["calls"] == server.calls


@pytest.mark.parametrize("name", ORDER)
def test_every_rule_says_where_it_is_written(name: str) -> None:
    assert all(rule.source.startswith("https://") for rule in PROVIDERS[name].rules)


def sent_back(server: ProviderServer) -> list[dict[str, Any]]:
    return [message for message in server.requests[-1].messages if message.get("tool_calls")]


def test_reasoning_goes_back_after_compaction_and_in_every_later_request(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a small window the conversation is cut; what is left of it still satisfies the server."""
    (project / "long.txt").write_text(f"a line of a long file{' of words' * 20}\n" * 600)
    looks = [call("view_file", path="long.txt", start=start, lines=150) for start in (1, 150, 300, 450)]
    model = ProviderModel(turns=(LOOK, *looks, MEND))
    ran, server = run_at(PROVIDERS["deepseek"], project, monkeypatch, "--context-window", "6000", model=model)
    assert ran.result["outcome"] == "verified"
    assert [event for event in ran.events if event["event"] == "compacted"]
    assert all(message["reasoning_content"] for message in sent_back(server))


def test_a_resumed_run_sends_back_what_came_before_the_kill(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fields are in the checkpoint: the first run ends in the middle of the conversation, by a dead endpoint."""
    stopped = ProviderModel(turns=(LOOK, MEND), dies_after=2)
    ran, _ = run_at(PROVIDERS["gemini"], project, monkeypatch, model=stopped)
    assert ran.code == 7
    again, second = run_at(PROVIDERS["gemini"], project, monkeypatch, command=("resume", ran.run_dir.name))
    assert again.result["outcome"] == "verified"
    signatures = [
        message["tool_calls"][0]["extra_content"]["google"]["thought_signature"] for message in sent_back(second)
    ]
    assert signatures
    assert "skip_thought_signature_validator" not in signatures


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(text("{}"), id="an empty object"),
        pytest.param(text("I would rather not."), id="words"),
        pytest.param(raw(400, {"error": {"message": "no", "code": 400}}), id="a refusal"),
        pytest.param(html(), id="a page"),
        pytest.param(overflow("llama.cpp"), id="too long, however short"),
        pytest.param(PROVIDERS["groq"].slip, id="a slip each time"),
    ],
)
def test_whatever_becomes_of_the_plan_code_makes_one_and_says_why(answer: Reply, project: Path, run) -> None:
    agent = Agent(coder=[FIX, DONE])

    def script(request: Request, number: int) -> Reply:
        return answer if "You plan; another agent edits" in request.text else agent(request, number)

    ran = run(project, script, "make add add", "--check", CHECK)
    assert ran.result["outcome"] == "verified"
    why = next(event["problems"] for event in ran.events if event["event"] == "plan_fallback")
    assert why
    assert "code made one" in ran.stdout
    assert ran.result["usage"]["calls"] == ran.server.calls, "each request is counted, whatever came of it"


def test_an_endpoint_that_stays_silent_is_unavailable_and_not_out_of_budget(project: Path, run) -> None:
    ran = run(project, lambda request, n: slow(text("x"), 30), "make add add", "--check", CHECK, "--max-call-time", "1")
    assert (ran.code, ran.result["reason"]) == (7, "silent")
    assert ran.server.calls >= 2, "it was asked again"


def test_an_endpoint_that_speaks_too_slowly_is_out_of_budget(project: Path, run) -> None:
    ran = run(
        project, lambda request, n: paced(text("never ending " * 99), 0.05), "make add add", "--max-call-time", "1"
    )
    assert (ran.code, ran.result["reason"]) == (4, "max_call_time")


def test_settings_of_a_model_are_in_its_requests_and_its_headers_nowhere_else(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = """
[models."scripted"]
reasoning_effort = "high"
temperature = 0.1
top_p = 0.9
window = 30000
silence = 50
headers = { X-Team = "hidden-team-token-42" }
query = { api-version = "7" }
extra_body = { chat_template_kwargs = { enable_thinking = false } }
[models."scripted".prices]
input = 1.0
output = 2.0
"""
    ran, server = run_at(PROVIDERS["sglang"], project, monkeypatch, config=config)
    assert ran.result["outcome"] == "verified"
    assert ran.result["usage"]["cost"] > 0
    for request in server.requests:
        assert (request.headers["x-team"], request.query) == ("hidden-team-token-42", "api-version=7")
        assert request.body["reasoning_effort"] == "high"
        assert (request.body["temperature"], request.body["top_p"]) == (0.1, 0.9)
        assert request.body["chat_template_kwargs"] == {"enable_thinking": False}
    for path in [*ran.run_dir.rglob("*"), *(project / ".sdd").rglob("*")]:
        if path.is_file():
            assert b"hidden-team-token-42" not in path.read_bytes(), path


@pytest.mark.parametrize("line", ['dialect = "klingon"', "extra_body = { messages = [] }", "silence = 0", "warmth = 3"])
def test_a_setting_that_makes_no_sense_is_refused(line: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpecError):
        read_config_of(project, f'[models."scripted"]\n{line}\n')


def read_config_of(project: Path, text: str) -> Any:
    path = project.parent / "config.toml"
    path.write_text(text)
    return read_config(path)
