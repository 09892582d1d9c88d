import asyncio
import gc
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from support import openai_server as serve
from support.openai_server import Call, OpenAIServer, Reply, Script

from kotef.errors import ContextOverflowError, ModelError
from kotef.models.openai import StrictChatOpenAI

KEY = "sk-test-0123456789abcdef"


def model_at(server: OpenAIServer, **options: Any) -> StrictChatOpenAI:
    settings = {"model": "scripted", "api_key": KEY, "retry_base": 0.001} | options
    return StrictChatOpenAI(base_url=server.base_url, **settings)


def ask(
    script: Script, prompt: Any = "hi", *, server: dict[str, Any] | None = None, **options: Any
) -> tuple[AIMessage, OpenAIServer]:
    """One call against a fresh server; closing the loop must close everything."""
    with OpenAIServer(script, **(server or {})) as running:
        return asyncio.run(model_at(running, **options).ainvoke(prompt)), running


def fail(script: Script, **options: Any) -> tuple[ModelError, OpenAIServer]:
    with OpenAIServer(script) as running:
        with pytest.raises(ModelError) as caught:
            asyncio.run(model_at(running, **options).ainvoke("hi"))
        return caught.value, running


def note(text: str) -> str:
    """Write a note."""
    return f"noted {text}"


# What arrives


def test_an_answer_in_words_arrives_with_the_endpoints_own_usage() -> None:
    message, server = ask([Reply(content="hello, world, at some length", tokens=(11, 7), tokens_cached=5)])
    assert message.content == "hello, world, at some length"
    assert message.usage_metadata is not None
    assert (message.usage_metadata["input_tokens"], message.usage_metadata["output_tokens"]) == (11, 7)
    assert message.usage_metadata["input_token_details"] == {"cache_read": 5}
    assert message.response_metadata["finish_reason"] == "stop"
    assert message.response_metadata["tries"] == 1
    assert message.response_metadata["model_name"] == "scripted"
    assert "usage_estimated" not in message.response_metadata
    assert server.requests[0].body["stream"] is True
    assert server.requests[0].body["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("whole", [False, True])
def test_tool_calls_arrive_streamed_or_whole(whole: bool) -> None:
    reply = serve.calls(serve.call("note", text="a" * 50), serve.call("note", text="b"), content="two notes")
    message, _ = ask([serve.whole(reply) if whole else reply])
    assert [(call["name"], call["args"]) for call in message.tool_calls] == [
        ("note", {"text": "a" * 50}),
        ("note", {"text": "b"}),
    ]
    assert message.content == "two notes"
    assert message.response_metadata["finish_reason"] == "tool_calls"


@pytest.mark.parametrize("bad_id", [None, "", "call_0"])
def test_missing_and_repeated_call_ids_become_unique(bad_id: str | None) -> None:
    used = AIMessage(content="", tool_calls=[{"name": "note", "args": {}, "id": "call_0"}])
    prompt = [HumanMessage("hi"), used, ToolMessage("ok", tool_call_id="call_0")]
    message, _ = ask(
        [serve.calls(Call("note", {"text": "a"}, id=bad_id), Call("note", {"text": "b"}, id=bad_id))], prompt
    )
    ids = [call["id"] for call in message.tool_calls]
    assert [call["args"]["text"] for call in message.tool_calls] == ["a", "b"]
    assert len({*ids, "call_0"}) == 3
    assert all(ids)


def test_an_endpoint_without_usage_gets_an_estimate_that_says_so() -> None:
    message, _ = ask([serve.without_usage(serve.text("x" * 40))], "y" * 400)
    assert message.response_metadata["usage_estimated"] is True
    assert message.usage_metadata is not None
    assert message.usage_metadata["output_tokens"] == 10
    assert 100 <= message.usage_metadata["input_tokens"] <= 120


def test_white_space_is_no_content_and_reasoning_is_kept_aside() -> None:
    message, _ = ask([Reply(content=" \n\t ", reasoning="let me think")])
    assert message.content == ""
    assert message.additional_kwargs["reasoning_content"] == "let me think"


def test_reasoning_that_stood_in_the_words_is_not_sent_back() -> None:
    earlier = AIMessage("four", additional_kwargs={"reasoning_content": "secret thoughts"})
    _, server = ask([serve.text("ok")], [HumanMessage("2+2"), earlier, HumanMessage("sure?")])
    assert b"secret thoughts" not in server.requests[0].raw


# What never acts


def test_arguments_that_are_not_json_are_an_invalid_call_beside_the_valid_one() -> None:
    message, _ = ask([serve.calls(Call("note", '{"text": "half'), serve.call("note", text="whole"))])
    assert [call["args"] for call in message.tool_calls] == [{"text": "whole"}]
    assert [call["args"] for call in message.invalid_tool_calls] == ['{"text": "half']
    assert "not valid JSON" in (message.invalid_tool_calls[0]["error"] or "")


@pytest.mark.parametrize(
    "arguments",
    [
        '["a list"]',
        '"text"',
        "null",
        '{"x": NaN}',
        '{"x": "\\ud800"}',
        '{"x": [{"y": 9223372036854775808}]}',
        "[" * 100_000,
    ],
)
def test_arguments_that_are_no_sendable_object_are_invalid(arguments: str) -> None:
    message, _ = ask([serve.whole(serve.calls(Call("note", arguments)))])
    assert message.tool_calls == []
    assert message.invalid_tool_calls[0]["error"]


@pytest.mark.parametrize("arguments", ['{"text": "it looks whole"}', '{"text": "half'])
def test_a_call_in_an_answer_that_ran_into_the_length_limit_is_invalid(arguments: str) -> None:
    message, _ = ask([serve.at_length(serve.calls(Call("note", arguments)))])
    assert message.tool_calls == []
    assert "length" in (message.invalid_tool_calls[0]["error"] or "")


@pytest.mark.parametrize("cleanly", [True, False])
@pytest.mark.parametrize("after", [0, 1, 2, 4])
def test_a_stream_cut_in_a_tool_call_raises_after_all_tries(after: int, cleanly: bool) -> None:
    whole = serve.calls(serve.call("note", text="long enough for many chunks, so that it can be cut"))
    error, server = fail(lambda request, n: serve.cut(whole, after, cleanly=cleanly))
    assert error.fault in ({"nonsense"} if after == 0 and cleanly else {"truncated"})
    assert server.calls == 4


def test_a_cut_stream_is_asked_for_again() -> None:
    reply = serve.calls(serve.call("note", text="long enough for many chunks, so that it can be cut"))
    message, server = ask([serve.cut(reply, 4), serve.unfinished(reply), reply])
    assert message.tool_calls[0]["args"]["text"].endswith("be cut")
    assert message.response_metadata["tries"] == server.calls == 3


def test_an_answer_without_finish_reason_is_truncated() -> None:
    error, _ = fail(lambda request, n: serve.unfinished(serve.text("I will now")))
    assert error.fault == "truncated"
    error, _ = fail(lambda request, n: serve.whole(serve.unfinished(serve.text("I will now"))))
    assert error.fault == "truncated"


def test_an_answer_that_was_complete_survives_the_connection() -> None:
    message, server = ask([serve.cut(serve.calls(serve.call("note", text="a")), after=5)])
    assert message.tool_calls[0]["args"] == {"text": "a"}
    assert (server.calls, message.response_metadata["usage_estimated"]) == (1, True)


def test_an_agent_runs_only_the_whole_call() -> None:
    ran: list[str] = []

    def write(text: str) -> str:
        """Write."""
        ran.append(text)
        return "ok"

    reply = serve.calls(serve.call("write", text="the whole text, every word of it"))
    script = [
        serve.cut(reply, 4),
        serve.at_length(serve.calls(Call("write", '{"text": "hal'))),
        reply,
        serve.text("done"),
    ]
    with OpenAIServer(script) as server:

        async def run() -> dict[str, Any]:
            agent = create_agent(model_at(server), tools=[write])
            first = await agent.ainvoke({"messages": [HumanMessage("go")]})
            assert first["messages"][-1].invalid_tool_calls
            return await agent.ainvoke({"messages": [HumanMessage("again")]})

        state = asyncio.run(run())
    assert ran == ["the whole text, every word of it"]
    assert state["messages"][-1].content == "done"
    assert server.requests[-1].tools == ["write"]


def test_langgraphs_token_stream_does_not_mend_a_broken_call() -> None:
    """Stream mode `messages` makes other models merge chunks with a partial JSON parser."""
    with OpenAIServer([serve.calls(Call("note", '{"text": "half'))]) as server:

        async def run() -> list[Any]:
            agent = create_agent(model_at(server), tools=[note])
            return [
                part
                async for part in agent.astream({"messages": [HumanMessage("go")]}, stream_mode=["messages", "values"])
            ]

        parts = asyncio.run(run())
    final = parts[-1][1]["messages"][-1]
    assert final.tool_calls == []
    assert len(final.invalid_tool_calls) == 1


@pytest.mark.parametrize("disabled", [True, False])
def test_streaming_from_the_model_yields_the_whole_answer_once(disabled: bool) -> None:
    with OpenAIServer(
        [serve.calls(Call("note", '{"text": "half'), serve.call("note", text="b"), content="x")]
    ) as server:

        async def run() -> list[Any]:
            model = model_at(server, disable_streaming=disabled)
            return [chunk async for chunk in model.astream("hi")]

        chunks = asyncio.run(run())
    assert [chunk.content for chunk in chunks if chunk.content] == ["x"]
    assert [call["args"] for chunk in chunks for call in chunk.tool_calls] == [{"text": "b"}]
    assert [call["args"] for chunk in chunks for call in chunk.invalid_tool_calls] == ['{"text": "half']


# What is tried again, and what is not


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (serve.status(500), "server_error"),
        (serve.status(503), "server_error"),
        (serve.status(409), "server_error"),
        (serve.status(408), "timeout"),
        (serve.rate_limited(), "rate_limited"),
        (serve.html(), "nonsense"),
        (serve.html(502), "server_error"),
        (serve.empty(), "nonsense"),
        (serve.invalid_json(), "nonsense"),
        (serve.no_choices(), "nonsense"),
        (Reply(body='data: {"choices": [{"index": 0,\n\n', content_type="text/event-stream"), "nonsense"),
        (Reply(body='data: {"error": {"message": "GPU lost"}}\n\n', content_type="text/event-stream"), "server_error"),
        (Reply(body='{"error": "model is loading"}'), "server_error"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.status}",
)
def test_a_fault_that_may_pass_is_tried_four_times_and_survived_when_it_passes(reply: Reply, fault: str) -> None:
    error, server = fail(lambda request, n: reply)
    assert (error.fault, server.calls) == (fault, 4)
    assert "after 4 tries" in str(error)
    message, server = ask([reply, reply, reply, serve.text("at last")])
    assert message.content == "at last"
    assert message.response_metadata["tries"] == server.calls == 4


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (serve.status(400, "bad temperature"), "bad_request"),
        (serve.status(422), "bad_request"),
        (serve.status(401), "unauthorized"),
        (serve.status(403), "unauthorized"),
        (serve.status(404, "no such model"), "unreachable"),
        (serve.status(307, headers={"Location": "http://127.0.0.1:1/"}), "unreachable"),
        (serve.status(429, "no credit", code="insufficient_quota"), "rate_limited"),
        (serve.status(500, "tools param requires --jinja flag"), "bad_request"),
        (serve.rate_limited(61), "rate_limited"),
        (serve.rate_limited(format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)), "rate_limited"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.status}",
)
def test_a_fault_that_will_not_pass_is_not_tried_again(reply: Reply, fault: str) -> None:
    error, server = fail(lambda request, n: reply)
    assert (error.fault, server.calls) == (fault, 1)


@pytest.mark.parametrize("kind", ["openai", "vllm", "llama.cpp", "ollama"])
def test_a_context_overflow_is_its_own_error_and_not_tried_again(kind: Any) -> None:
    error, server = fail(lambda request, n: serve.overflow(kind))
    assert isinstance(error, ContextOverflowError)
    assert server.calls == 1


def test_a_context_overflow_inside_a_stream_is_recognised() -> None:
    body = json.dumps(serve.OVERFLOWS["llama.cpp"][1])
    error, server = fail(lambda request, n: Reply(body=f"data: {body}\n\n", content_type="text/event-stream"))
    assert isinstance(error, ContextOverflowError)
    assert server.calls == 1


def test_a_connection_closed_without_a_word_is_tried_again() -> None:
    message, _ = ask([serve.closed(), serve.text("hello")])
    assert (message.content, message.response_metadata["tries"]) == ("hello", 2)


def test_an_endpoint_that_is_not_there_is_unreachable() -> None:
    with OpenAIServer() as server:
        gone = model_at(server)
    with pytest.raises(ModelError, match=r"127\.0\.0\.1") as caught:
        asyncio.run(gone.ainvoke("hi"))
    assert caught.value.fault == "unreachable"
    assert "check OPENAI_BASE_URL" in str(caught.value)


@pytest.mark.parametrize("url", ["localhost:8080/v1", "http://", "ftp://x/v1", "http://[::1/v1"])
def test_a_base_url_that_is_none_is_unreachable_at_once(url: str) -> None:
    waits: list[Any] = []
    model = StrictChatOpenAI(model="m", base_url=url, api_key=KEY, emit=lambda *said, **facts: waits.append(said))
    with pytest.raises(ModelError) as caught:
        asyncio.run(model.ainvoke("hi"))
    assert caught.value.fault == "unreachable"
    assert waits == []


def test_retry_after_is_obeyed_and_told() -> None:
    told: list[dict[str, Any]] = []
    message, server = ask([serve.rate_limited(0.3), serve.text("ok")], emit=lambda _, **facts: told.append(facts))
    assert message.content == "ok"
    assert server.requests[1].at - server.requests[0].at >= 0.3
    assert told == [{"attempt": 1, "seconds": 0.3, "why": "rate_limited: HTTP 429: slow down", "level": "quiet"}]


def test_waits_grow_between_tries() -> None:
    told: list[float] = []
    fail(lambda request, n: serve.status(500), retry_base=0.01, emit=lambda _, **facts: told.append(facts["seconds"]))
    assert len(told) == 3
    assert [0.005 * 2**n <= wait <= 0.015 * 2**n for n, wait in enumerate(told)] == [True] * 3


def test_silence_is_a_fault_of_its_own_and_asked_again() -> None:
    error, server = fail(lambda request, n: serve.slow(serve.text("x"), 5), read_timeout=0.1, max_tries=2)
    assert (error.fault, server.calls) == ("silent", 2)


def test_a_silent_endpoint_is_asked_again_however_little_time_there_is() -> None:
    """The limit on silence is never so long that the time for one answer is over with the first request."""
    error, server = fail(lambda request, n: serve.slow(serve.text("x"), 5), read_timeout=600, deadline=0.6)
    assert error.fault == "silent"
    assert server.calls >= 2


def test_an_endpoint_that_fell_silent_once_is_heard_the_second_time() -> None:
    message, server = ask([serve.slow(serve.text("late"), 5), serve.text("in time")], read_timeout=600, deadline=2)
    assert (message.content, server.calls) == ("in time", 2)


def test_an_endless_answer_ends_at_the_deadline() -> None:
    error, server = fail([serve.paced(serve.text("never ending story " * 50), 0.05)], deadline=0.4)
    assert (error.fault, server.calls) == ("call_time", 1)
    assert "0.4 s" in str(error)


def test_a_slow_answer_that_keeps_coming_is_waited_for() -> None:
    """In all it takes longer than one wait for the next piece may; between two pieces there is room for a busy machine."""
    message, _ = ask([serve.paced(serve.text("a" * 1200), 0.012)], read_timeout=1)
    assert message.content == "a" * 1200


# What older and stranger servers do


def test_a_server_that_refuses_stream_options_is_asked_without_from_then_on() -> None:
    with OpenAIServer([serve.text("a"), serve.text("b")], refuses={"stream_options"}) as server:

        async def run() -> list[AIMessage]:
            model = model_at(server)
            return [await model.ainvoke("hi"), await model.ainvoke("hi")]

        first, second = asyncio.run(run())
    assert [first.content, second.content] == ["a", "b"]
    assert ["stream_options" in request.body for request in server.requests] == [True, False, False]
    assert second.response_metadata["usage_estimated"] is True


def test_malformed_arguments_go_back_as_an_object() -> None:
    """Several servers parse the history's arguments and refuse the request if they cannot."""
    broken = AIMessage("", invalid_tool_calls=[{"name": "note", "args": '{"text": "half', "id": "c1", "error": "no"}])
    _, server = ask([serve.text("ok")], [HumanMessage("x"), broken, ToolMessage("malformed", tool_call_id="c1")])
    sent = server.requests[0].messages[1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"malformed": '{"text": "half'}


def test_text_that_is_no_unicode_can_be_sent() -> None:
    message, server = ask([serve.text("ok")], "a file named caf\udce9.txt")
    assert message.content == "ok"
    assert server.requests[0].messages[0]["content"] == "a file named caf?.txt"


def test_requests_are_byte_for_byte_those_of_the_stock_client() -> None:
    conversation = [
        HumanMessage("read ä \u2028 𝄞"),
        AIMessage("ok", tool_calls=[{"name": "note", "args": {"text": "é"}, "id": "c1"}]),
        ToolMessage("noted", tool_call_id="c1"),
    ]
    with OpenAIServer([serve.text("a"), serve.text("b")]) as server:
        options: dict[str, Any] = {"model": "m", "base_url": server.base_url, "api_key": KEY, "temperature": 0.5}

        async def run() -> None:
            await StrictChatOpenAI(**options).bind_tools([note]).ainvoke(conversation)
            stock = ChatOpenAI(**options, stream_usage=True, use_responses_api=False)
            async for _ in stock.bind_tools([note]).astream(conversation):
                pass
            await stock.root_async_client.close()

        asyncio.run(run())
    ours, stock = server.requests
    assert ours.raw == stock.raw


# Keys, loops, connections


@pytest.mark.parametrize("code", [400, 401, 500])
def test_the_key_is_never_in_a_message(code: int) -> None:
    error, server = fail(lambda request, n: serve.status(code, f"Incorrect API key provided: {KEY}."))
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(error)
    assert "[secret:OPENAI_API_KEY]" in str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None


def test_user_and_password_of_the_url_are_not_shown() -> None:
    model = StrictChatOpenAI(
        model="m", base_url="http://me:secret@127.0.0.1:1/v1?token=secret", api_key=KEY, max_tries=1
    )
    with pytest.raises(ModelError) as caught:
        asyncio.run(model.ainvoke("hi"))
    assert "secret" not in str(caught.value)


def test_one_model_works_in_several_event_loops_and_leaves_nothing_open() -> None:
    with OpenAIServer([serve.text(str(n)) for n in range(5)]) as server:
        model = model_at(server)

        async def two() -> list[Any]:
            return [(await model.ainvoke("hi")).content for _ in range(2)]

        assert asyncio.run(two()) == ["0", "1"]
        assert asyncio.run(two()) == ["2", "3"]
        assert model.invoke("hi").content == "4"
        gc.collect()  # an open transport would be a ResourceWarning, and warnings are errors


def test_connections_are_kept_within_a_loop() -> None:
    with OpenAIServer([serve.text("a"), serve.text("b"), serve.whole(serve.text("c"))]) as server:

        async def run() -> None:
            model = model_at(server)
            for _ in range(3):
                await model.ainvoke("hi")

        asyncio.run(run())
    assert server.connections == 1


def test_aclose_closes_and_the_next_call_opens_again() -> None:
    with OpenAIServer([serve.text("a"), serve.text("b")]) as server:

        async def run() -> list[Any]:
            model = model_at(server)
            first = await model.ainvoke("hi")
            await model.aclose()
            await model.aclose()
            return [first.content, (await model.ainvoke("hi")).content]

        assert asyncio.run(run()) == ["a", "b"]
    assert server.connections == 2


def test_a_cancelled_call_ends_at_once() -> None:
    with OpenAIServer([serve.slow(serve.text("x"), 30)]) as server:

        async def run() -> float:
            loop = asyncio.get_running_loop()
            task = asyncio.create_task(model_at(server).ainvoke("hi"))
            await asyncio.to_thread(server.wait_for_calls, 1)
            before = loop.time()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return loop.time() - before

        assert asyncio.run(run()) < 1


def test_a_loopback_endpoint_is_asked_directly_whatever_proxy_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert ask([serve.text("ok")])[0].content == "ok"


def test_tokens_are_estimated_without_a_download() -> None:
    model = StrictChatOpenAI(model="m", base_url="http://127.0.0.1:1/v1", api_key=KEY)
    assert model.get_num_tokens("x" * 41) == 11
    assert 10 < model.get_num_tokens_from_messages([HumanMessage("x" * 40)]) < 30


def test_calls_run_concurrently() -> None:
    async def run(call: Callable[[str], Awaitable[Any]]) -> None:
        await asyncio.gather(*(call("hi") for _ in range(5)))

    with OpenAIServer(lambda request, n: serve.slow(serve.text("x"), 2)) as server:
        asyncio.run(run(model_at(server).ainvoke))
    starts = [request.at for request in server.requests]
    assert max(starts) - min(starts) < 2
