"""Whatever a model answers, as calls or as text, can be kept in a checkpoint and sent back to any endpoint."""

import asyncio
import json
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain.agents.middleware import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from support.any_answers import answers
from support.any_json import any_json, nested, texts

from kotef.middleware.malformed_calls import Malformed
from kotef.models.coercion import coerced
from kotef.models.dialects import BY_NAME
from kotef.models.endpoint_memory import EndpointMemory
from kotef.models.errors import AnswerError
from kotef.models.factory import make_model
from kotef.models.response_parser import ModelResponse as Parsed
from kotef.models.scripted_model import ScriptedChatModel
from kotef.models.text_tool_calls import text_calls

MODEL = make_model("m", base_url="http://127.0.0.1:9/v1", api_key=None)
EMPTY = ModelRequest(model=ScriptedChatModel(replies=[]), messages=[])
TOOL = {"type": "function", "function": {"name": "view_file", "parameters": {"type": "object", "properties": {}}}}

NUMBERS = ("1" * 40, "1" * 5_000, "1e999", "NaN", "-Infinity", "1.5")
WRITTEN = st.one_of(
    st.sampled_from(NUMBERS).map('{{"path": {}}}'.format),
    st.sampled_from((60, 900, 5_000)).map(lambda depth: '{"path": ' + "[" * depth + "]" * depth + "}"),
    (any_json() | st.sampled_from(("\ud800", "a\0b", nested(49)))).map(lambda value: json.dumps({"path": value})),
    any_json().map(json.dumps),
    texts(),
)
NAMES = st.sampled_from(("view_file", "no_such", "a.b-c", "\x1b[31m", "\ud800", "")) | st.text(max_size=5)


def texts_of_calls() -> st.SearchStrategy[str]:
    """Calls as text in each form that is read, whole, cut off or inside each other."""
    forms = (
        '<tool_call>{{"name": "{name}", "arguments": {args}}}</tool_call>',
        "<tool_call><name>{name}</name><arguments>{args}</arguments></tool_call>",
        "<tool_call><name>{name}</name><args><path>{args}</path></args></tool_call>",
        "<function={name}>{args}</function>",
        "<function={name}><parameter=path>{args}</parameter></function>",
        '```json\n{{"name": "{name}", "parameters": {args}}}\n```',
        '[{{"function": {{"name": "{name}", "arguments": {args}}}}}]',
    )
    one = st.builds(lambda form, name, args: form.format(name=name, args=args), st.sampled_from(forms), NAMES, WRITTEN)
    cut = st.builds(lambda text, end: text[: len(text) - end], one, st.integers(0, 12))
    return st.lists(one | cut | texts(), min_size=1, max_size=3).map("\n".join)


def guarded(message: AIMessage) -> AIMessage:
    """The answer as the guard leaves it."""

    async def handler(_: ModelRequest[Any]) -> ModelResponse[Any]:
        return ModelResponse(result=[message])

    guard = Malformed({"view_file"}, lambda *_, **__: None)
    found = asyncio.run(guard.awrap_model_call(EMPTY, handler)).result[0]
    assert isinstance(found, AIMessage)
    return found


def sendable(message: AIMessage, memory: EndpointMemory) -> None:
    results = [ToolMessage("ok", tool_call_id=call["id"] or "") for call in message.tool_calls]
    conversation: list[AnyMessage] = [HumanMessage("hi"), message, *results, HumanMessage("go on")]
    request = memory.fitted(MODEL._get_request_payload(conversation, tools=[TOOL]))
    json.dumps(request, ensure_ascii=False, allow_nan=False).encode()


def memories() -> st.SearchStrategy[EndpointMemory]:
    flag = st.booleans()
    return st.builds(
        EndpointMemory,
        st.sampled_from(list(BY_NAME.values())),
        bare=flag,
        prompted=flag,
        signed=flag,
        alternates=flag,
        call_id=st.sampled_from(("", r"[a-zA-Z0-9]{9}")),
        needed_fields=st.sets(st.sampled_from(("reasoning_content", "extra_content"))),
    )


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(answers(), memories())
def test_any_answer_can_be_kept_and_sent_back(sent: dict[str, Any], memory: EndpointMemory) -> None:
    response = Parsed()
    with suppress(AnswerError):
        response.add(sent)
        response.check()
        message = guarded(response.message(used_ids=(), request_characters=1, tries=1))
        JsonPlusSerializer().dumps_typed(message)
        assert message.invalid_tool_calls == []
        sendable(message, memory)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(texts_of_calls(), memories())
def test_any_calls_as_text_can_be_kept_and_sent_back(text: str, memory: EndpointMemory) -> None:
    message = guarded(Parsed.of_text(text).message(used_ids=(), request_characters=1, tries=1))
    JsonPlusSerializer().dumps_typed(message)
    sendable(message, memory)


@given(texts_of_calls(), any_json() | any_json().map(lambda one: {"properties": {"path": {"type": one, "anyOf": one}}}))
def test_no_schema_of_a_server_is_too_strange_for_what_a_model_wrote(text: str, schema: Any) -> None:
    for call in text_calls(text).calls:
        coerced(call["args"], schema if isinstance(schema, dict) else {})
