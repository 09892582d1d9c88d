"""Translation between chat completions and the Responses API: nothing is lost, and nothing a server sends is a defect."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.models.errors import AnswerError
from kotef.models.message_fields import fields_of
from kotef.models.response_parser import ModelResponse, read_answer
from kotef.models.responses_answer import ResponsesAnswer
from kotef.models.responses_request import ITEMS, responses_request

THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}


def item(call_id: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "view", "arguments": '{"path": "a"}', "id": "fc_1"}


def said(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def response(*output: Any, **others: Any) -> dict[str, Any]:
    return {"object": "response", "id": "resp_1", "model": "m", "status": "completed", "output": list(output)} | others


def read(*events: Any) -> ModelResponse:
    async def body() -> AsyncIterator[bytes]:
        for event in events:
            yield f"data: {json.dumps(event)}\n\n".encode()

    return asyncio.run(read_answer(body(), ResponsesAnswer()))


def message_of(*output: Any, **others: Any) -> Any:
    answer = read({"type": "response.completed", "response": response(*output, **others)})
    return answer.message(used_ids=(), request_characters=10, tries=1)


def sent_again(message: Any) -> list[dict[str, Any]]:
    """The items of the next request that stand for an answer."""
    calls = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
        }
        for call in message.tool_calls
    ]
    fields, _ = fields_of(message)
    one = {"role": "assistant", "content": message.content, "tool_calls": calls, **fields}
    return responses_request({"model": "m", "messages": [one]})["input"]


def test_an_answer_goes_back_in_the_order_in_which_it_came() -> None:
    second = THOUGHT | {"id": "rs_2"}
    message = message_of(THOUGHT, said("I look."), item("c1"), second, item("c2"))
    kinds = [(one["type"], one.get("id") or one.get("call_id") or "") for one in sent_again(message)]
    assert kinds == [
        ("reasoning", "rs_1"),
        ("message", ""),
        ("function_call", "c1"),
        ("reasoning", "rs_2"),
        ("function_call", "c2"),
    ]


def test_reasoning_that_nothing_follows_any_more_stays_behind() -> None:
    message = message_of(THOUGHT, item("c1"))
    message.tool_calls.clear()
    assert sent_again(message) == []


def test_reasoning_without_its_content_is_not_kept() -> None:
    bare = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]}
    message = message_of(bare, item("c1"))
    assert ITEMS not in fields_of(message)[0]
    assert message.additional_kwargs["reasoning_content"] == "hm"


@pytest.mark.parametrize(
    ("others", "finish"),
    [
        ({"status": "completed"}, "tool_calls"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "content_filter"),
        ({"status": "incomplete"}, "length"),
    ],
)
def test_a_call_of_an_answer_that_was_cut_is_not_made(others: dict[str, Any], finish: str) -> None:
    message = message_of(item("c1"), **others)
    assert message.response_metadata["finish_reason"] == finish
    assert bool(message.tool_calls) == (finish == "tool_calls")


def test_an_answer_in_one_piece_is_read_too() -> None:
    async def body() -> AsyncIterator[bytes]:
        yield json.dumps(response(said("hello"))).encode()

    answer = asyncio.run(read_answer(body(), ResponsesAnswer()))
    assert answer.message(used_ids=(), request_characters=10, tries=1).content == "hello"


def test_words_are_heard_once_as_they_arrive() -> None:
    heard: list[str] = []
    answer = ResponsesAnswer(heard.append)
    for piece in ("hel", "lo"):
        answer.add({"type": "response.output_text.delta", "delta": piece})
    answer.add({"type": "response.completed", "response": response(said("hello"))})
    assert heard == ["hel", "lo"]


def test_items_of_a_stream_count_where_its_end_repeats_none() -> None:
    done = {"type": "response.output_item.done", "output_index": 0, "item": said("hello")}
    answer = read(done, {"type": "response.completed", "response": response()})
    assert answer.message(used_ids=(), request_characters=10, tries=1).content == "hello"


def test_a_request_says_the_same_in_the_other_form() -> None:
    schema = {"type": "object", "properties": {}}
    request = {
        "model": "m",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "tools": [{"type": "function", "function": {"name": "view", "description": "d", "parameters": schema}}],
        "tool_choice": {"type": "function", "function": {"name": "view"}},
        "response_format": {"type": "json_schema", "json_schema": {"name": "Plan", "schema": schema}},
        "max_tokens": 9,
        "reasoning_effort": "low",
        "stream": True,
        "stream_options": {"include_usage": True},
    }  # fmt: skip
    assert responses_request(request, {"include"}) == {
        "model": "m",
        "stream": True,
        "store": False,
        "max_output_tokens": 9,
        "input": [{"role": "system", "content": "be brief"}, {"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        "tools": [{"type": "function", "strict": False, "name": "view", "description": "d", "parameters": schema}],
        "tool_choice": {"type": "function", "name": "view"},
        "reasoning": {"effort": "low"},
        "text": {"format": {"type": "json_schema", "strict": False, "name": "Plan", "schema": schema}},
    }  # fmt: skip


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = ("type", "object", "response", "output", "item", "delta", "output_index", "status", "error", "usage", "content")
KINDS = (
    "response.completed",
    "response.incomplete",
    "response.output_item.done",
    "reasoning",
    "function_call",
    "message",
)
EVENTS = st.dictionaries(
    st.sampled_from((*NAMES, "summary", "encrypted_content", "incomplete_details", "call_id", "arguments", "name")),
    st.recursive(
        JSON | st.sampled_from((*KINDS, "response", "completed", "incomplete")),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
        max_leaves=12,
    ),
)


@given(st.lists(EVENTS | JSON, max_size=4))
def test_whatever_a_server_sends_is_an_answer_or_a_fault_of_the_answer(events: list[Any]) -> None:
    try:
        message = read(*events).message(used_ids=(), request_characters=10, tries=1)
    except AnswerError:
        return
    assert sent_again(message) is not None
