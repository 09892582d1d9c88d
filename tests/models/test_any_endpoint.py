"""Nothing that an endpoint says is a defect: errors, headers, lists of models and usage of any shape."""

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, get_args

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from support.any_answers import answers
from support.any_endpoints import bodies, endpoint, errors, headers, listings, words
from support.any_json import any_json

from kotef.errors import ModelError, ModelFault
from kotef.events import make_event
from kotef.models.context_window import MOST, ContextWindow, read_models, read_props
from kotef.models.dialects import BY_NAME, dialect_of_words
from kotef.models.endpoint_memory import EndpointMemory
from kotef.models.errors import MAX_DETAIL, ReportedError, diagnose, diagnose_status, retry_after
from kotef.models.factory import Endpoint, make_model, probe
from kotef.models.refusals import MOST_LESSONS, Refusal, RefusedRequest, learn, slip_in, with_slip
from kotef.models.response_parser import MAX_COUNT, ModelResponse
from kotef.models.usage import answer_facts, spent_on

BASE = "http://127.0.0.1:9/v1"
NOW = datetime(2026, 1, 2, tzinfo=UTC)
STATUSES = st.sampled_from((200, 201, 204, 302, 307, 400, 401, 404, 408, 409, 413, 422, 429, 500, 501, 503, 529))
SENT: dict[str, Any] = {
    "model": "m",
    "temperature": 0.1,
    "max_tokens": 5,
    "messages": [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "why",
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
        {"role": "user", "content": "go on"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {"name": "f", "parameters": {"type": "object", "additionalProperties": False}},
        }
    ],
    "tool_choice": {"type": "function", "function": {"name": "f"}},
}


def response(status: int, found: Mapping[str, str], body: bytes) -> httpx2.Response:
    raw = [(name.encode(), value.encode("latin-1", "replace")) for name, value in found.items()]
    return httpx2.Response(status, headers=raw, stream=httpx2.ByteStream(body))


# ---- whole calls, from the bytes to the answer


def asked(replies: list[httpx2.Response]) -> Any:
    """The answer to one question, or its ModelError."""
    waiting = iter(replies)
    with endpoint(lambda _: next(waiting, None) or response(500, {}, b"{}")):
        model = make_model("m", base_url=BASE, api_key=None, deadline=5)
        model.retry_base, model.max_tries = 0.0, 2
        try:
            return asyncio.run(model.ainvoke([HumanMessage("hi")]))
        except ModelError as error:
            return error


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    st.lists(
        st.builds(response, STATUSES, headers().filter(lambda one: "retry-after" not in one), bodies()),
        min_size=1,
        max_size=3,
    )
)
def test_whatever_an_endpoint_sends_is_an_answer_or_a_fault_of_it(replies: list[httpx2.Response]) -> None:
    came = asked(replies)
    if isinstance(came, ModelError):
        assert came.fault in get_args(ModelFault)
        assert str(came).isprintable()
    else:
        JsonPlusSerializer().dumps_typed(came)
        spent_on(came)


@pytest.mark.parametrize("charset", ["rot13", "hex", "undefined", "utf-16"])
def test_a_header_cannot_name_an_encoding_that_is_none(charset: str) -> None:
    found = {"content-type": f"application/json; charset={charset}"}
    came = asked([response(401, found, b'{"error": {"message": "no such key"}}')])
    assert (came.fault, "no such key" in str(came)) == ("unauthorized", True)


@pytest.mark.parametrize("status", [302, 500])
def test_a_cookie_that_no_request_can_hold_is_not_sent_back(status: int) -> None:
    found = {"set-cookie": "a=\x80", "location": "/x"}
    came = asked([response(status, found, b"{}") for _ in range(2)])
    assert came.fault in {"unreachable", "server_error"}


# ---- errors


@given(STATUSES, errors() | words(), headers())
def test_an_error_of_any_shape_is_one_printable_line(status: int, body: Any, found: dict[str, str]) -> None:
    for fault in (diagnose_status(status, body, found), diagnose(ReportedError(body))):
        assert fault.fault in get_args(ModelFault)
        assert fault.detail.isprintable()
        assert len(fault.detail) <= MAX_DETAIL


@given(headers())
def test_a_wait_is_none_or_not_negative(found: dict[str, str]) -> None:
    seconds = retry_after(found.get("retry-after"), NOW)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize("length", ["9" * 30, "0", "8"])
def test_a_length_of_ids_that_cannot_be_kept_is_not_learnt(length: str) -> None:
    memory = EndpointMemory()
    refusal = Refusal(400, f"tool_calls[0].id is too long: maximum length {length}")
    learn(RefusedRequest(memory, refusal, memory.fitted(SENT), forced=True))
    assert memory.fitted(SENT)["messages"][1]["tool_calls"][0]["id"] == "call_1"


@given(STATUSES, st.lists(errors() | words(), min_size=1, max_size=6), st.sampled_from(sorted(BY_NAME)), st.booleans())
def test_any_row_of_refusals_ends_and_leaves_a_request(
    status: int, said: list[Any], dialect: str, forced: bool
) -> None:
    memory, lessons = EndpointMemory(BY_NAME[dialect]), 0
    for body in said:
        refusal = Refusal(status, body)
        assert slip_in(refusal) is None or isinstance(slip_in(refusal), str)
        while learn(RefusedRequest(memory, refusal, memory.fitted(SENT), forced)):
            lessons += 1
            assert lessons <= MOST_LESSONS * len(said)
    request = memory.fitted(with_slip(SENT, "x", "y"))
    json.dumps(request, allow_nan=False).encode()
    assert {"model", "messages"} <= request.keys()


# ---- what a server says of itself


@given(headers(), listings())
def test_any_words_of_a_server_leave_a_dialect(found: dict[str, str], listed: Any) -> None:
    memory = EndpointMemory()
    memory.hear(found)
    assert memory.dialect in BY_NAME.values()
    assert dialect_of_words({str(listed): str(listed)}) is None
    for tokens in (read_props(listed), read_models(listed, "m")):
        assert tokens is None or 512 <= tokens <= MOST


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(STATUSES, headers(), bodies() | listings().map(lambda one: json.dumps(one).encode()), st.sampled_from(("", "m")))
def test_a_list_of_models_of_any_shape_is_a_verdict_and_a_window(
    status: int, found: dict[str, str], body: bytes, name: str
) -> None:
    with endpoint(lambda _: response(status, found, body)):
        report = asyncio.run(probe(Endpoint(name, BASE, None)))
        window = asyncio.run(ContextWindow(make_model("m", base_url=BASE, api_key=None)).find())
    assert report.verdict.isprintable()
    assert window.tokens <= MOST


# ---- figures


FIGURES = st.sampled_from((0, 7, -5, 10**12, 10**40, 2**63, 1.5, 1e300, "12", True, None)) | any_json(depth=3)
DETAILS = st.fixed_dictionaries({}, optional={"cached_tokens": FIGURES, "reasoning_tokens": FIGURES}) | any_json(
    depth=2
)
USAGE = st.fixed_dictionaries(
    {},
    optional={
        "prompt_tokens": FIGURES,
        "completion_tokens": FIGURES,
        "prompt_tokens_details": DETAILS,
        "completion_tokens_details": DETAILS,
        "prompt_cache_hit_tokens": FIGURES,
        "cached_tokens": FIGURES,
    },
)


@given(answers(), USAGE | any_json())
def test_figures_of_any_size_are_counts_that_an_event_can_hold(answer: dict[str, Any], usage: Any) -> None:
    answer["choices"][0] |= {"index": 0, "usage": usage}
    response = ModelResponse()
    response.add(answer | {"usage": usage, "x_groq": {"usage": usage}})
    message = response.message(used_ids=(), request_characters=40, tries=1)
    spent = spent_on(message)
    assert 0 <= spent.tokens_in <= 2 * MAX_COUNT
    assert 0 <= spent.tokens_cached <= MAX_COUNT
    facts = answer_facts(message, spent) | {"seconds": 0.1}
    make_event("model_answer", {"visit": 1, "node": "coder", **facts})
