"""The window is what a person says, then the model's profile, then its server; else 32k."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.openai_server import OpenAIServer

from kotef.models.context_window import ContextWindow, Window, read_models, read_props
from kotef.models.factory import make_model
from kotef.models.scripted_model import ScriptedChatModel

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["data", "id", "meta", "n_ctx", "default_generation_settings"]), inner)
    ),
)


def find(window: ContextWindow) -> Window:
    return asyncio.run(window.find())


def test_a_person_knows_best() -> None:
    assert find(ContextWindow(ScriptedChatModel(replies=[]), given=9000)) == (9000, "settings")


def test_a_profile_is_believed() -> None:
    model = make_model("some", base_url="http://127.0.0.1:9/v1", api_key=None)
    model.profile = {"max_input_tokens": 64_000}
    assert find(ContextWindow(model)) == (64_000, "profile")


@pytest.mark.parametrize(
    ("listed", "tokens"),
    [
        ({"id": "m", "max_model_len": 4096}, 4096),
        ({"id": "m", "context_length": 8192}, 8192),
        ({"id": "m", "meta": {"n_ctx": 2048}}, 2048),
        ({"id": "another", "context_window": 16_384}, 16_384),
    ],
)
def test_the_server_is_asked_once(listed: dict, tokens: int) -> None:
    with OpenAIServer(model_list=json.dumps({"data": [listed]})) as server:
        window = ContextWindow(make_model("m", base_url=server.base_url, api_key=None))

        async def twice() -> list[Window]:
            return [await window.find(), await window.find()]

        assert asyncio.run(twice()) == [(tokens, "server")] * 2
        assert server.lookups == 1


@pytest.mark.parametrize(
    "listed", ['{"data": []}', "<html>", '{"data": [{"id": "a"}, {"id": "b", "n_ctx": 4096}]}', "[" * 9999]
)
def test_a_server_that_does_not_say_costs_nothing_but_the_question(listed: str) -> None:
    with OpenAIServer(model_list=listed) as server:
        assert find(ContextWindow(make_model("m", base_url=server.base_url, api_key=None))) == (32_768, "unknown")


def test_nobody_answers() -> None:
    assert find(ContextWindow(make_model("m", base_url="http://127.0.0.1:9/v1", api_key=None))).tokens == 32_768


def test_a_slot_of_llama_cpp() -> None:
    assert read_props({"default_generation_settings": {"n_ctx": 4096}, "n_ctx": 16_384}) == 4096
    assert read_props({"default_generation_settings": {"n_ctx": 0}}) is None


@given(JSON)
def test_any_json_can_be_read(body: object) -> None:
    for found in (read_props(body), read_models(body, "m")):
        assert found is None or found >= 512


@pytest.mark.parametrize(
    ("said", "tokens"),
    [
        ("This model's maximum context length is 4096 tokens. However, you requested 6100 tokens.", 4096),
        ("the request exceeds the available context size (4096 tokens), try increasing it", 4096),
        ('{"error": {"code": 400, "n_prompt_tokens": 6100, "n_ctx": 4096}}', 4096),
        ("the prompt is too long", 6000),
        ("the context window is 12 pages", 6000),
    ],
)
def test_an_overflow_that_names_the_window_is_believed(said: str, tokens: int) -> None:
    async def lowered() -> Window:
        window = ContextWindow(ScriptedChatModel(replies=[]))
        await window.lower(6000, said)
        return await window.find()

    assert asyncio.run(lowered()) == (tokens, "overflow")
