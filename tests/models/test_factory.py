import asyncio

import pytest
from pydantic import SecretStr
from support import openai_server as serve
from support.openai_server import OpenAIServer

from kotef.errors import ModelError, UsageError
from kotef.models.factory import OPENAI_URL, Endpoint, discover_model, make_model, probe, resolve

KEY = "sk-test-0123456789abcdef"


def test_nothing_set_is_nobody_to_ask() -> None:
    assert resolve({}) is None
    assert resolve({"OPENAI_API_KEY": " ", "OPENAI_BASE_URL": ""}, model="m") is None


def test_a_key_and_a_model_lead_to_openai() -> None:
    assert resolve({"OPENAI_API_KEY": KEY, "KOTEF_MODEL": "m"}) == Endpoint("m", OPENAI_URL, SecretStr(KEY))


def test_a_base_url_is_enough_for_a_local_server() -> None:
    assert resolve({"OPENAI_BASE_URL": "http://localhost:8080/v1/ "}) == Endpoint("", "http://localhost:8080/v1", None)


def test_options_win_over_the_environment() -> None:
    env = {"OPENAI_BASE_URL": "http://env/v1", "KOTEF_MODEL": "env"}
    assert resolve(env, model="option", base_url="http://option/v1") == Endpoint("option", "http://option/v1", None)


def test_a_base_url_without_scheme_is_refused() -> None:
    with pytest.raises(UsageError, match="localhost:8080"):
        resolve({"OPENAI_BASE_URL": "localhost:8080"})


def test_a_key_alone_does_not_pick_a_model() -> None:
    with pytest.raises(UsageError, match="KOTEF_MODEL"):
        resolve({"OPENAI_API_KEY": KEY})


def test_the_key_does_not_show_in_an_endpoint() -> None:
    assert KEY not in repr(resolve({"OPENAI_API_KEY": KEY}, model="m"))
    assert KEY not in repr(make_model("m", base_url=None, api_key=KEY))


def test_a_made_model_speaks_with_a_server_that_needs_no_key() -> None:
    with OpenAIServer([serve.text("hello")]) as server:
        message = asyncio.run(make_model("m", base_url=server.base_url, api_key=None).ainvoke("hi"))
    assert message.content == "hello"
    assert server.requests[0].body["model"] == "m"
    assert "temperature" not in server.requests[0].body


def test_a_temperature_is_sent_when_given() -> None:
    with OpenAIServer([serve.text("hello")]) as server:
        asyncio.run(make_model("m", base_url=server.base_url, api_key=None, temperature=0.0).ainvoke("hi"))
    assert server.requests[0].body["temperature"] == 0.0


def test_the_first_listed_model_is_taken() -> None:
    with OpenAIServer(models=["qwen", "other"]) as server:
        found = asyncio.run(discover_model(Endpoint("", server.base_url, None)))
    assert found == Endpoint("qwen", server.base_url, None)
    assert (server.lookups, server.calls) == (1, 0)


def test_a_named_model_is_not_looked_up() -> None:
    named = Endpoint("mine", "http://127.0.0.1:9/v1", None)
    assert asyncio.run(discover_model(named)) is named


def test_no_model_to_be_found_says_what_to_do() -> None:
    with OpenAIServer(models=[]) as server, pytest.raises(ModelError, match="KOTEF_MODEL"):
        asyncio.run(discover_model(Endpoint("", server.base_url, None)))


@pytest.mark.parametrize(
    ("name", "ok", "words"),
    [
        ("qwen", True, "has qwen"),
        ("", True, "qwen:latest will be used"),
        ("gpt", True, "does not list gpt (it lists qwen:latest"),
    ],
)
def test_a_probe_tells_whether_the_model_is_there(name: str, ok: bool, words: str) -> None:
    with OpenAIServer(models=["qwen:latest", "other"]) as server:
        found = asyncio.run(probe(Endpoint(name, server.base_url, None)))
    assert found.ok is ok
    assert words in found.verdict
    assert "\n" not in found.verdict


def test_a_probe_tells_a_wrong_key_without_showing_it() -> None:
    with OpenAIServer(api_key="another") as server:
        found = asyncio.run(probe(Endpoint("m", server.base_url, SecretStr(KEY))))
    assert not found.ok
    assert "check OPENAI_API_KEY" in found.verdict
    assert KEY not in found.verdict


def test_a_probe_tells_an_endpoint_that_is_not_there() -> None:
    with OpenAIServer() as server:
        gone = Endpoint("m", server.base_url, None)
    found = asyncio.run(probe(gone))
    assert not found.ok
    assert found.verdict.endswith("(check OPENAI_BASE_URL and that the server runs)")


@pytest.mark.parametrize("body", ["<html></html>", "", "[]", '{"data": [1]}', '{"data": null}'])
def test_a_list_of_models_that_is_none_is_nonsense(body: str) -> None:
    with OpenAIServer(model_list=body) as server, pytest.raises(ModelError) as caught:
        asyncio.run(discover_model(Endpoint("", server.base_url, None)))
    assert caught.value.fault == "nonsense"
