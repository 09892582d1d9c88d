"""How a model that fails is asked again, told of, cancelled, and taken over from."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from support import openai_server as serve
from support.openai_server import Call, OpenAIServer, Reply, Script

from kotef.errors import ModelError
from kotef.models import exchange as transport
from kotef.models.openai import StrictChatOpenAI
from kotef.models.response_parser import MENDED, ModelResponse
from kotef.models.retry_verbosity import LOUD_SECONDS, QUIET_SECONDS, loudness
from kotef.models.usage import spent_on
from kotef.settings import Price, Tariff

Told = list[tuple[str, dict[str, Any]]]


def ask(script: Script, **options: Any) -> tuple[list[AIMessage | ModelError], OpenAIServer, Told]:
    """Two calls, what came of them, and what was told."""
    told: Told = []
    came: list[AIMessage | ModelError] = []

    async def twice(model: StrictChatOpenAI) -> None:
        for _ in range(2):
            try:
                came.append(await model.ainvoke("hi"))
            except ModelError as error:
                came.append(error)

    with OpenAIServer(script) as server:
        settings = {"model": "first", "api_key": "sk-test-0123456789", "retry_base": 0.001} | options
        model = StrictChatOpenAI(
            base_url=server.base_url, emit=lambda event, **facts: told.append((event, facts)), **settings
        )
        asyncio.run(twice(model))
    return came, server, told


# How loud


@given(st.integers(1, 20), st.floats(0, 200))
def test_a_person_is_told_after_three_failures_or_a_while_and_loudly_after_a_minute(
    failed: int, seconds: float
) -> None:
    expected = "loud" if seconds >= LOUD_SECONDS else "line" if failed >= 3 or seconds >= QUIET_SECONDS else "quiet"
    assert loudness(failed, seconds) == expected


def test_retries_are_quiet_and_then_one_line() -> None:
    _, _, told = ask(lambda *_: serve.status(503), max_tries=6)
    levels = [facts["level"] for event, facts in told if event == "model_retry"]
    assert levels[:5] == ["quiet", "quiet", "line", "quiet", "quiet"]


# Retry-After


def test_an_endpoint_that_asks_to_wait_for_longer_than_is_left_is_given_up_at_once() -> None:
    came, server, told = ask(lambda *_: serve.rate_limited(30), deadline=5)
    assert [type(one) for one in came] == [ModelError, ModelError]
    assert "asks to wait 30 s, more than is left of 5 s" in str(came[0])
    assert (server.calls, told) == (2, [])


def test_a_date_to_wait_for_is_obeyed() -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    came, server, _ = ask([serve.rate_limited(when), serve.text("ok"), serve.text("ok")])
    assert isinstance(came[0], AIMessage)
    assert 0.5 <= server.requests[1].at - server.requests[0].at <= 4


# Cancellation


def test_an_answer_that_is_cancelled_is_told_of() -> None:
    told: Told = []

    async def go(server: OpenAIServer) -> None:
        model = StrictChatOpenAI(
            model="first",
            api_key="k",
            base_url=server.base_url,
            emit=lambda event, **facts: told.append((event, facts)),
        )
        call = asyncio.create_task(model.ainvoke("hi"))
        await asyncio.to_thread(server.wait_for_calls, 1)
        await asyncio.sleep(0.05)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    with OpenAIServer([serve.paced(serve.text("a long answer " * 50), 0.05)]) as server:
        asyncio.run(go(server))
    assert told == [("model_cancelled", {"model": "first", "tries": 1})]


def test_an_answer_whose_last_piece_meets_the_cancellation_does_not_act(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stream is whole; whoever cancelled while it was read must not see a tool call come of it."""
    whole = transport.read_answer
    calls: list[asyncio.Task[AIMessage]] = []

    async def cancelled_meanwhile(pieces: Any, *_: object) -> ModelResponse:
        answer = await whole(pieces)
        calls[0].cancel()
        return answer

    async def go(server: OpenAIServer) -> None:
        model = StrictChatOpenAI(
            model="first", api_key="k", base_url=server.base_url, emit=lambda event, **_: told.append(event)
        )
        calls.append(asyncio.create_task(model.ainvoke("hi")))
        with pytest.raises(asyncio.CancelledError):
            await calls[0]

    told: list[str] = []
    monkeypatch.setattr(transport, "read_answer", cancelled_meanwhile)
    with OpenAIServer([serve.calls(serve.call("note", text="x"))]) as server:
        asyncio.run(go(server))
    assert told == ["model_cancelled"]


# A model that takes over


def of(**replies: Reply) -> Any:
    """A server with a reply for each model."""
    return lambda request, _: replies[request.body["model"]]


def test_another_model_takes_over_for_good_and_says_so_once() -> None:
    came, server, told = ask(of(first=serve.status(503, "down"), second=serve.text("here")), stand_in="second")
    assert [getattr(one, "content", one) for one in came] == ["here", "here"]
    assert [request.body["model"] for request in server.requests] == ["first"] * 4 + ["second"] * 2
    taken = [facts for event, facts in told if event == "model_fallback"]
    assert [(facts["model"], facts["stand_in"]) for facts in taken] == [("first", "second")]
    assert "HTTP 503: down, after 4 tries" in taken[0]["why"]
    assert [one.response_metadata["tries"] for one in came if isinstance(one, AIMessage)] == [5, 1]


@pytest.mark.parametrize("reply", [serve.status(400, "bad temperature"), serve.overflow("openai")])
def test_no_other_model_is_asked_when_the_request_is_at_fault(reply: Reply) -> None:
    came, server, told = ask(of(first=reply, second=serve.text("here")), stand_in="second")
    assert all(isinstance(one, ModelError) for one in came)
    assert ({request.body["model"] for request in server.requests}, told) == ({"first"}, [])


def test_when_both_are_of_no_use_the_error_is_the_last_ones() -> None:
    came, _, _ = ask(of(first=serve.status(503), second=serve.status(401, "no entry")), stand_in="second")
    assert isinstance(came[0], ModelError)
    assert (came[0].fault, came[0].tries) == ("unauthorized", 5)


def test_each_model_has_its_own_price() -> None:
    prices = Tariff(input=1.0, output=0.0, stand_in=Price(input=10.0, output=0.0))
    came, _, _ = ask(of(first=serve.status(401), second=serve.text("here")), stand_in="second")
    assert isinstance(came[0], AIMessage)
    assert spent_on(came[0], prices).cost == pytest.approx(100 * 10 / 1_000_000)
    assert spent_on(came[0], Price(input=1.0, output=0.0)).cost == 0
    usual, _, _ = ask(of(first=serve.text("here")), stand_in="second")
    assert isinstance(usual[0], AIMessage)
    assert spent_on(usual[0], prices).cost == pytest.approx(100 * 1 / 1_000_000)


# What is mended, and when


@pytest.mark.parametrize("finish", ["tool_calls", "stop", "length", "content_filter", "eos"])
def test_arguments_are_mended_only_in_an_answer_that_came_to_its_own_end(finish: str) -> None:
    reply = Reply(calls=(Call("note", "{'text': True,}"),), finish_reason=finish)
    came, _, _ = ask([reply, reply])
    assert isinstance(came[0], AIMessage)
    complete = finish in {"tool_calls", "stop"}
    assert [call["args"] for call in came[0].tool_calls] == ([{"text": True}] if complete else [])
    assert len(came[0].invalid_tool_calls) == (0 if complete else 1)
    said = [["note", "literal of Python, single quotes, trailing comma"]] if complete else None
    assert came[0].response_metadata.get(MENDED) == said


def test_an_object_that_came_as_a_string_is_read_and_half_of_one_is_not() -> None:
    came, _, _ = ask(
        [serve.calls(Call("note", '"{\\"text\\": \\"a\\"}"'), Call("note", '"{\\"text\\": "')), serve.text("")]
    )
    assert isinstance(came[0], AIMessage)
    assert [call["args"] for call in came[0].tool_calls] == [{"text": "a"}]
    assert len(came[0].invalid_tool_calls) == 1


@pytest.mark.parametrize(
    ("content", "words", "thoughts"),
    [
        ("<think>\nhm\n</think>\n\nfour", "four", "hm"),
        ("<think>never ends", "", "never ends"),
        ("the tag <think> is </think> a tag", "the tag <think> is </think> a tag", None),
    ],
)
def test_thoughts_before_the_words_are_kept_aside(content: str, words: str, thoughts: str | None) -> None:
    came, _, _ = ask([serve.text(content), serve.text("")])
    assert isinstance(came[0], AIMessage)
    assert (came[0].content, came[0].additional_kwargs.get("reasoning_content")) == (words, thoughts)
