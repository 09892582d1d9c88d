"""Whole runs of a model that has only the Responses API: translated, streamed, booked, with its reasoning sent back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.loop import CHECK, Ran, kotef
from support.providers import LOOK, MEND, PROVIDERS, ProviderServer
from support.responses_server import RULES, UNENCRYPTED, ResponsesModel, ResponsesServer, items_of

Runs = Callable[..., Ran]


@pytest.fixture
def run_against(project: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    def run(server: Any, *options: str, config: str = "", command: tuple[str, ...] = ()) -> Ran:
        home = project.parent / "config"
        (home / "kotef").mkdir(parents=True, exist_ok=True)
        (home / "kotef" / "config.toml").write_text(config)
        monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
        monkeypatch.setenv("KOTEF_MODEL", "scripted")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        return kotef(project, *(command or ("run", "make add add", "--check", CHECK, "--coder", "model", *options)))

    return run


def reasoning_in(server: ResponsesServer) -> list[str]:
    return [item["encrypted_content"] for item in items_of(server.requests[-1]) if item["type"] == "reasoning"]


def test_a_model_without_chat_completions_is_asked_by_responses_once_its_server_says_so(run_against: Runs) -> None:
    with ResponsesServer() as server:
        ran = run_against(server, config='[models."scripted"]\ntemperature = 0.2\nmax_tokens = 4000\n')
    assert ran.result["outcome"] == "verified", ran.stderr
    assert [event["source"] for event in ran.events if event["event"] == "planned"] == ["model"]
    assert server.refusals == ["chat completions", "a reasoning model takes no temperature"]
    assert ran.result["usage"]["calls"] == server.calls
    assert reasoning_in(server) == server.model.thoughts[1:-1], "the coder's reasoning went back, each with its call"
    assert any("Responses API" in event["what"] for event in ran.events if event["event"] == "model_adapted")


def test_usage_is_booked_as_it_is_reported(run_against: Runs) -> None:
    with ResponsesServer() as server:
        ran = run_against(server, config='[models."scripted"]\napi = "responses"\n')
    answered = server.calls - len(server.refusals)
    usage = ran.result["usage"]
    figures = (usage["tokensIn"], usage["tokensOut"], usage["tokensCached"])
    assert figures == (100 * answered, 20 * answered, 40 * answered)
    assert "chat completions" not in server.refusals, "the API was chosen by the user"


def test_settings_of_the_model_are_named_as_this_api_names_them(run_against: Runs) -> None:
    config = '[models."scripted"]\napi = "responses"\nreasoning_effort = "high"\nmax_tokens = 900\n'
    with ResponsesServer() as server:
        run_against(server, config=config)
    for request in server.requests:
        assert request.body["reasoning"] == {"effort": "high"}
        assert (request.body["max_output_tokens"], request.body["store"]) == (900, False)


def test_a_model_without_reasoning_is_asked_without_it(run_against: Runs) -> None:
    with ResponsesServer((UNENCRYPTED, *RULES)) as server:
        ran = run_against(server)
    assert ran.result["outcome"] == "verified", ran.stderr
    assert server.refusals.count(UNENCRYPTED.what) == 1, "what was refused is remembered"


def test_a_resumed_run_sends_back_the_reasoning_of_before(run_against: Runs) -> None:
    with ResponsesServer(model=ResponsesModel(turns=(LOOK, MEND), dies_after=2)) as server:
        ran = run_against(server)
    assert ran.code == 7
    first = server.model.thoughts[-1]
    with ResponsesServer() as second:
        again = run_against(second, command=("resume", ran.run_dir.name))
    assert again.result["outcome"] == "verified"
    assert reasoning_in(second)[0] == first


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda events: events[:-1], id="without its end"),
        pytest.param(lambda events: [*events[:-1], {"type": "error", "code": "server_error", "message": "sorry"}], id="an error"),
        pytest.param(
            lambda events: [
                *events[:-1],
                events[-1] | {"type": "response.failed", "response": events[-1]["response"] | {"status": "failed", "error": {"code": "server_error", "message": "sorry"}}},
            ],
            id="failed",
        ),
    ],
)  # fmt: skip
def test_an_answer_that_is_not_whole_is_asked_for_again(
    change: Callable[[list[Any]], list[Any]], run_against: Runs
) -> None:
    with ResponsesServer() as server:
        changed: list[bool] = []

        def once(events: list[Any]) -> list[Any]:
            changed.append(True)
            return change(events) if len(changed) == 2 else events

        server.change = once
        ran = run_against(server)
    assert ran.result["outcome"] == "verified", ran.stderr
    assert ran.result["usage"]["calls"] == server.calls


def test_a_user_who_chose_chat_completions_gets_them(run_against: Runs) -> None:
    with ResponsesServer() as server:
        ran = run_against(server, config='[models."scripted"]\napi = "chat"\n')
    assert ran.code == 7
    assert 'set api = "responses"' in ran.stderr + ran.stdout
    assert all(request.path.endswith("/chat/completions") for request in server.requests)


def test_a_server_of_chat_completions_is_never_asked_otherwise(run_against: Runs) -> None:
    with ProviderServer(PROVIDERS["vllm"]) as server:
        server.paths = ("/chat/completions", "/responses")
        ran = run_against(server)
    assert ran.result["outcome"] == "verified"
    assert all(request.path.endswith("/chat/completions") for request in server.requests)
    assert not any("output_items" in message for request in server.requests for message in request.messages)


def test_a_resumed_run_knows_what_the_endpoint_refuses(run_against: Runs) -> None:
    config = '[models."scripted"]\ntemperature = 0.2\n'
    with ResponsesServer((UNENCRYPTED, *RULES), model=ResponsesModel(turns=(LOOK, MEND), dies_after=2)) as server:
        ran = run_against(server, config=config)
        assert (ran.code, len(server.refusals)) == (7, 3)
        refused = len(server.refusals)
        server.model.dies_after = None
        again = run_against(server, config=config, command=("resume", ran.run_dir.name))
    assert again.result["outcome"] == "verified"
    assert len(server.refusals) == refused, "nothing is refused twice in one run"
    assert not any(server.base_url.encode() in path.read_bytes() for path in ran.run_dir.glob("endpoints.json"))


def test_lessons_that_cannot_be_read_are_learnt_again(run_against: Runs) -> None:
    with ResponsesServer(model=ResponsesModel(turns=(LOOK, MEND), dies_after=2)) as server:
        ran = run_against(server)
        (ran.run_dir / "endpoints.json").write_text("[{")
        server.model.dies_after = None
        again = run_against(server, command=("resume", ran.run_dir.name))
    assert again.result["outcome"] == "verified"
    assert server.refusals.count("chat completions") == 2
