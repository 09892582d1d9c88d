"""What a server adds to its answers goes back to it, whichever way it came and whatever happened to it meanwhile."""

import asyncio
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from support import openai_server as serve
from support.openai_server import Call, OpenAIServer, Reply

from kotef.models.message_fields import AddedFields, ContentParts
from kotef.models.openai import StrictChatOpenAI

SIGNATURE = {"google": {"thought_signature": "CiQB4/H/XQ"}}
DETAILS = [
    {"type": "reasoning.text", "text": "first, ", "index": 0, "format": "anthropic-claude-v1"},
    {"type": "reasoning.encrypted", "data": "gAAAA", "id": "rs_1", "index": 1, "format": "openai-responses-v1"},
]
ADDED: dict[str, dict[str, Any]] = {
    "DeepSeek, Moonshot, llama.cpp": {"reasoning_content": "I must look at the file first."},
    "Groq, vLLM": {"reasoning": "I must look at the file first."},
    "OpenRouter": {"reasoning": "first, ", "reasoning_details": DETAILS},
    "both names": {"reasoning": "the same", "reasoning_content": "the same"},
    "two texts": {"reasoning": "one", "reasoning_content": "another"},
    "litellm": {"thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s1g"}]},
    "a server of tomorrow": {"opaque_state": {"v": 3, "blob": "x" * 40}},
}


def second_request(reply: Reply, through: Any = lambda message: message) -> dict[str, Any]:
    """The assistant message of the second request, after `reply` to the first."""
    with OpenAIServer([reply, serve.text("done")]) as server:

        async def run() -> None:
            model = StrictChatOpenAI(model="m", base_url=server.base_url, api_key="k")
            answer = await model.ainvoke("hi")
            results = [ToolMessage("ok", tool_call_id=call["id"]) for call in answer.tool_calls]
            conversation: list[BaseMessage] = [HumanMessage("hi"), through(answer), *results]
            await model.ainvoke(conversation)

        asyncio.run(run())
        sent: dict[str, Any] = server.requests[1].messages[1]
        return sent


def through_a_checkpoint(message: AIMessage) -> AIMessage:
    serializer = JsonPlusSerializer()
    restored: AIMessage = serializer.loads_typed(serializer.dumps_typed(message))
    return restored


def through_the_record(message: AIMessage) -> AIMessage:
    return AIMessage.model_validate(json.loads(json.dumps(message.model_dump(mode="json"))))


@pytest.mark.parametrize("way", [None, through_a_checkpoint, through_the_record])
@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("server", ADDED)
def test_what_a_server_adds_to_a_message_goes_back_as_it_came(server: str, streamed: bool, way: Any) -> None:
    reply = Reply(calls=(serve.call("look", path="a.py"),), fields=ADDED[server], stream=streamed)
    sent = second_request(reply, way or (lambda message: message))
    assert {name: sent[name] for name in ADDED[server]} == ADDED[server]
    assert set(sent) == {"role", "content", "tool_calls", *ADDED[server]}


@pytest.mark.parametrize("way", [None, through_a_checkpoint, through_the_record])
@pytest.mark.parametrize("streamed", [True, False])
def test_what_a_server_adds_to_a_call_goes_back_with_that_call(streamed: bool, way: Any) -> None:
    signed = Call("look", {"path": "a.py"}, fields={"extra_content": SIGNATURE})
    reply = Reply(calls=(signed, serve.call("look", path="b.py")), stream=streamed)
    first, second = second_request(reply, way or (lambda message: message))["tool_calls"]
    assert first["extra_content"] == SIGNATURE
    assert set(first) == {"id", "type", "function", "extra_content"}
    assert set(second) == {"id", "type", "function"}


def test_a_call_whose_id_was_replaced_keeps_its_fields() -> None:
    signed = Call("look", {"path": "a.py"}, id=None, fields={"extra_content": SIGNATURE})
    assert second_request(Reply(calls=(signed,)))["tool_calls"][0]["extra_content"] == SIGNATURE


def test_an_empty_field_and_what_no_server_takes_do_not_go_back() -> None:
    fields = {"reasoning_content": "", "refusal": None, "annotations": [], "audio": None, "function_call": None}
    sent = second_request(Reply(calls=(serve.call("look", path="a.py"),), fields=fields, stream=False))
    assert set(sent) == {"role", "content", "tool_calls"}


def test_content_in_parts_goes_back_in_parts_and_its_text_is_the_answer() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "let me see"}]}
    parts = [thinking, {"type": "text", "text": "I will look."}]
    reply = Reply(calls=(serve.call("look", path="a.py"),), fields={"content": parts}, stream=False)
    seen: list[AIMessage] = []
    sent = second_request(reply, lambda message: seen.append(message) or message)
    assert sent["content"] == parts
    assert seen[0].content == "I will look."
    assert seen[0].additional_kwargs["reasoning_content"] == "let me see"


def test_content_in_parts_of_text_is_plain_text() -> None:
    reply = Reply(fields={"content": [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]}, stream=False)
    assert second_request(reply)["content"] == "one two"


TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)


@given(TEXTS, st.lists(st.integers(0, 30), max_size=5))
def test_a_field_in_any_pieces_is_the_field(text: str, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]
    added, parts = AddedFields(), ContentParts()
    for piece in pieces:
        added.take_message({"reasoning": piece, "reasoning_details": [{"type": "t", "index": 0, "text": piece}]})
        added.take_call({"index": 0, "extra_content": {"google": {"note": piece}}})
        parts.take([{"type": "thinking", "thinking": [{"type": "text", "text": piece}]}])
    assert added.values["reasoning"] == text
    assert added.values["reasoning_details"] == [{"type": "t", "index": 0, "text": text}]
    assert added.values["extra_content"] == {"google": {"note": text}}
    assert parts.thoughts() == text
    assert parts.kept() == [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]


NAMES = st.sampled_from(("type", "index", "text", "thinking", "id", "function", "signature")) | st.text(max_size=5)
KINDS = st.sampled_from(("text", "thinking", "x", 0, None))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | KINDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(NAMES, JSON, max_size=3), max_size=4))
def test_no_field_is_too_strange_to_be_kept(pieces: list[dict[str, Any]]) -> None:
    added = AddedFields()
    for piece in pieces:
        added.take_message(piece)
        added.take_call(piece)
    json.dumps(added.kept(), allow_nan=False).encode()
    JsonPlusSerializer().dumps_typed(added.kept())


@given(st.lists(JSON, max_size=6))
def test_no_content_is_too_strange_to_be_kept(pieces: list[Any]) -> None:
    parts = ContentParts()
    for piece in pieces:
        parts.take(piece)
    parts.thoughts().encode()
    json.dumps(parts.kept(), allow_nan=False).encode()
    JsonPlusSerializer().dumps_typed(parts.kept())


def test_a_first_part_without_a_type_is_kept() -> None:
    parts = ContentParts()
    parts.take([{"command": []}, {"type": "thinking", "thinking": "x"}])
    assert parts.kept() == [{"command": []}, {"type": "thinking", "thinking": "x"}]


def test_a_field_that_is_nested_without_end_is_cut() -> None:
    deep: Any = "x"
    for _ in range(500):
        deep = {"a": [deep]}
    added = AddedFields()
    added.take_message({"deep": deep})
    assert len(json.dumps(added.kept())) < 1000
