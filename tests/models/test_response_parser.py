import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from support.any_answers import answers
from support.example_count import example_count

from kotef.models.errors import AnswerError
from kotef.models.response_parser import MAX_ANSWER, ModelResponse, read_answer


def read(*pieces: bytes) -> ModelResponse:
    async def body() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    return asyncio.run(read_answer(body()))


def events(*deltas: dict[str, Any], finish: str | None = "stop", ascii_only: bool = True) -> bytes:
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    if finish:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    lines = [f"data: {json.dumps(chunk, ensure_ascii=ascii_only)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def message(answer: ModelResponse) -> AIMessage:
    return answer.message(used_ids=(), request_characters=0, tries=1)


def piece(
    index: int | None = None, call_id: str | None = None, name: str | None = None, arguments: str | None = None
) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {
        "tool_calls": [
            {
                "index": index,
                "id": call_id,
                "function": {key: value for key, value in function.items() if value is not None},
            }
        ]
    }


def calls_of(*deltas: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(call["name"], call["args"]) for call in message(read(events(*deltas, finish="tool_calls"))).tool_calls]


def test_pieces_of_calls_are_put_together_by_their_index() -> None:
    deltas = [
        piece(0, "a", "x", '{"p":'),
        piece(1, "b", "y", '{"q":'),
        piece(0, None, None, " 1}"),
        piece(1, None, None, " 2}"),
    ]
    assert calls_of(*deltas) == [("x", {"p": 1}), ("y", {"q": 2})]


def test_a_server_that_numbers_every_call_0_still_makes_several() -> None:
    assert calls_of(piece(0, "a", "x", '{"p": 1}'), piece(0, "b", "x", '{"p": 2}')) == [
        ("x", {"p": 1}),
        ("x", {"p": 2}),
    ]


def test_a_server_without_numbers_still_makes_several() -> None:
    deltas = [piece(None, None, "x", '{"p":'), piece(None, None, None, "1}"), piece(None, None, "y", "")]
    assert calls_of(*deltas) == [("x", {"p": 1}), ("y", {})]


def test_a_server_that_repeats_id_and_name_in_every_piece_makes_one_call() -> None:
    assert calls_of(piece(0, "a", "x", '{"p":'), piece(0, "a", "x", "1}")) == [("x", {"p": 1})]


def test_arguments_sent_as_an_object_are_read() -> None:
    whole = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "x", "arguments": {"p": 1}}}]}
    answer = read(json.dumps({"choices": [{"message": whole, "finish_reason": "stop"}]}, indent=1).encode())
    assert [call["args"] for call in message(answer).tool_calls] == [{"p": 1}]


def test_a_call_without_a_name_is_invalid() -> None:
    found = message(read(events(piece(0, "a", None, "{}"), finish="tool_calls")))
    assert found.tool_calls == []
    assert found.invalid_tool_calls[0]["error"] == "the call names no tool"


def test_line_separators_inside_text_do_not_split_a_chunk() -> None:
    text = "a\u2028b\u0085c\x0bd\x1ee"
    assert message(read(events({"content": text}, ascii_only=False))).content == text


def test_halves_of_a_character_in_two_chunks_come_together() -> None:
    body = b'data: {"choices": [{"delta": {"content": "\\ud83d"}}]}\n\ndata: {"choices": [{"delta": {"content": "\\ude00 \\ud83d"}, "finish_reason": "stop"}]}\n\n'
    assert message(read(body)).content == "😀 \ufffd"


def test_comments_and_carriage_returns_are_no_content() -> None:
    body = b": keep-alive\r\n\r\nevent: x\r\n" + events({"content": "hi"}).replace(b"\n", b"\r\n")
    assert message(read(body)).content == "hi"


def test_content_in_parts_and_a_refusal_are_text() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert message(read(events({"content": parts}))).content == "ab"
    assert message(read(events({"refusal": "I cannot"}))).content == "I cannot"


def test_an_endless_body_is_given_up() -> None:
    with pytest.raises(AnswerError, match="more than 32 MB"):
        read(*([b"x" * 1024 * 1024] * (MAX_ANSWER // 1024**2 + 1)))


def test_usage_of_zeros_is_no_usage() -> None:
    body = json.dumps(
        {
            "choices": [{"message": {"content": "x" * 8}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 0, "completion_tokens": 0},
        }
    )
    found = read(body.encode()).message(used_ids=(), request_characters=40, tries=1)
    assert found.response_metadata["usage_estimated"]
    assert found.usage_metadata == {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}


@given(st.data())
@example_count(60)
def test_where_the_bytes_are_cut_does_not_matter(data: st.DataObject) -> None:
    body = events(
        {"content": "zażółć "},
        {"content": "gęślą"},
        piece(0, "a", "x", '{"p": "ß"}'),
        finish="tool_calls",
        ascii_only=False,
    )
    cuts = sorted(data.draw(st.sets(st.integers(1, len(body) - 1), max_size=8)))
    pieces = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    found = message(read(*pieces))
    assert (found.content, found.tool_calls[0]["args"]) == ("zażółć gęślą", {"p": "ß"})


@given(st.integers(0, 400))
@example_count(80)
def test_no_part_of_an_answer_is_an_answer(length: int) -> None:
    """Cut anywhere before the finish reason, a body raises; it never becomes a call with less in it."""
    body = events(piece(0, "a", "write", '{"text": "one two'), piece(0, None, None, ' three"}'), finish="tool_calls")
    end = body.index(b"finish_reason")
    with pytest.raises(AnswerError):
        read(body[: min(length, end)])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "delta",
                    "message",
                    "tool_calls",
                    "function",
                    "index",
                    "id",
                    "name",
                    "arguments",
                    "content",
                    "usage",
                    "finish_reason",
                    "error",
                    "prompt_tokens",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(JSON)
@example_count(150)
def test_any_json_is_an_answer_or_an_answer_error(value: Any) -> None:
    for body in (json.dumps(value).encode(), b"data: " + json.dumps(value).encode()):
        with suppress(AnswerError):
            assert isinstance(message(read(body)), AIMessage)


@given(answers() | st.lists(answers(part="delta"), min_size=1, max_size=4))
@example_count(200)
def test_an_answer_with_parts_of_any_shape_can_be_kept(sent: dict[str, Any] | list[dict[str, Any]]) -> None:
    chunks = sent if isinstance(sent, list) else []
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) or json.dumps(sent)
    with suppress(AnswerError):
        found = message(read(body.encode()))
        JsonPlusSerializer().dumps_typed(found)
        json.dumps(found.model_dump(), ensure_ascii=False, allow_nan=False).encode()


@given(st.binary(max_size=60))
@example_count(60)
def test_any_bytes_are_an_answer_error(body: bytes) -> None:
    with pytest.raises(AnswerError):
        read(body)
