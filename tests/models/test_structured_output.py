import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.utils.json_schema import dereference_refs
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel, ConfigDict
from support import openai_server as serve
from support.any_json import any_json, fitting, nested
from support.cpu_time import bounded_cpu
from support.example_count import example_count
from support.openai_server import Call, OpenAIServer, Reply

from kotef.errors import ModelError
from kotef.failures.history import FailureEntry
from kotef.models.model_report import ReadyAnswer
from kotef.models.openai import StrictChatOpenAI
from kotef.models.response_parser import ModelResponse
from kotef.models.scripted_model import ScriptedChatModel, calls, says
from kotef.models.structured_output import RungMemory, StructuredAnswer, ask, extract_json
from kotef.nodes.planner import PlanAnswer
from kotef.nodes.review import ReviewAnswer
from kotef.runs.spec_draft import DraftAnswer, QuestionsAnswer


class Route(BaseModel):
    """Where to go."""

    model_config = ConfigDict(frozen=True)

    steps: list[str]
    hops: int = 0


QUESTION: list[BaseMessage] = [SystemMessage("You plan."), HumanMessage("How do I get there?")]
GOOD = '{"steps": ["left", "right"], "hops": 2}'
ROUTE = Route(steps=["left", "right"], hops=2)


def asked(
    script: serve.Script, *, memory: RungMemory | None = None, **server: Any
) -> tuple[StructuredAnswer[Route], OpenAIServer]:
    with OpenAIServer(script, **server) as running:
        model = StrictChatOpenAI(model="m", base_url=running.base_url, api_key="k", retry_base=0.001)
        return asyncio.run(ask(model, QUESTION, Route, memory=memory or RungMemory())), running


def test_a_model_that_calls_functions_answers_on_the_first_rung() -> None:
    answer, server = asked([serve.calls(serve.call("Route", steps=["left", "right"], hops=2))])
    assert (answer.value, answer.rung, answer.problems) == (ROUTE, "function_calling", ())
    assert len(answer.messages) == server.calls == 1
    assert server.requests[0].tools == ["Route"]
    assert server.requests[0].body["tool_choice"] == {"type": "function", "function": {"name": "Route"}}


def test_json_in_words_counts_on_any_rung() -> None:
    answer, server = asked([serve.text(f"<think>{{}}</think>Here you are:\n```json\n{GOOD}\n```")])
    assert (answer.value, server.calls) == (ROUTE, 1)


@pytest.mark.parametrize(
    ("refuses", "rung", "requests"),
    [
        ({"tools"}, "json_schema", 2),
        ({"tools", "json_schema"}, "json_mode", 3),
        ({"tools", "response_format"}, "text", 4),
    ],
)
def test_what_the_endpoint_refuses_is_left_for_the_next_rung(refuses: set[str], rung: str, requests: int) -> None:
    answer, server = asked([serve.text(GOOD)], refuses=refuses)
    assert (answer.value, answer.rung) == (ROUTE, rung)
    assert server.calls == requests
    assert sum(bool(message.usage_metadata) for message in answer.messages) == 1
    assert sum(message.response_metadata["tries"] for message in answer.messages) == requests, "each is counted"
    assert len(answer.problems) == requests - 1


def test_the_rung_that_worked_is_remembered_for_that_model() -> None:
    memory = RungMemory()
    with OpenAIServer([serve.text(GOOD)] * 3, refuses={"tools"}) as server:

        async def run() -> None:
            for name in ("one", "one", "two"):
                model = StrictChatOpenAI(model=name, base_url=server.base_url, api_key="k")
                assert (await ask(model, QUESTION, Route, memory=memory)).value == ROUTE

        asyncio.run(run())
    used = ["tools" if "tools" in request.body else "format" for request in server.requests]
    assert used == ["tools", "format", "format", "tools", "format"]


def test_an_answer_that_does_not_validate_is_asked_for_once_more_with_the_error() -> None:
    wrong = serve.calls(serve.call("Route", hops="many"))
    answer, server = asked([wrong, serve.calls(serve.call("Route", steps=["left", "right"], hops=2))])
    assert (answer.value, answer.rung, len(answer.messages)) == (ROUTE, "function_calling", 2)
    assert "steps: Field required" in answer.problems[0]
    assert "steps: Field required" in server.requests[1].text
    sent = server.requests[1].messages
    assert [one["role"] for one in sent] == ["system", "user", "assistant", "tool"]
    assert sent[3]["tool_call_id"] == sent[2]["tool_calls"][0]["id"]


def test_malformed_arguments_are_answered_with_their_error() -> None:
    answer, server = asked([serve.calls(Call("Route", '{"steps": ["le')), serve.calls(serve.call("Route", steps=[]))])
    assert answer.value == Route(steps=[])
    assert "not valid JSON" in server.requests[1].text


def test_a_model_that_never_manages_costs_five_calls_and_gives_none() -> None:
    answer, server = asked(lambda request, n: serve.text("I would rather not."))
    assert (answer.value, answer.rung) == (None, None)
    assert len(answer.messages) == len(answer.problems) == server.calls == 5
    assert all(message.usage_metadata for message in answer.messages)


def test_the_schema_is_in_the_last_persons_message_where_the_request_does_not_carry_it() -> None:
    _, server = asked([serve.text(GOOD)], refuses={"tools", "response_format"})
    last = server.requests[-1].messages
    assert [one["role"] for one in last] == ["system", "user"]
    assert last[1]["content"].startswith("How do I get there?")
    assert '"steps"' in last[1]["content"]
    assert "JSON" in last[1]["content"]


@pytest.mark.parametrize("reply", [serve.status(401), serve.status(404), serve.status(500)])
def test_a_fault_that_is_no_refusal_passes_up(reply: Reply) -> None:
    with pytest.raises(ModelError):
        asked(lambda request, n: reply)


def test_an_endpoint_that_speaks_nonsense_gives_no_value_and_its_answers_are_counted() -> None:
    answer, server = asked(lambda request, n: serve.html())
    assert answer.value is None
    assert "HTML" in answer.problems[-1]
    assert sum(message.response_metadata["tries"] for message in answer.messages) == server.calls == 4


def test_a_question_that_cannot_be_shorter_gives_no_value() -> None:
    answer, server = asked([serve.overflow("openai")])
    assert (answer.value, server.calls) == (None, 1)
    assert "context window" in answer.problems[-1]


def test_an_answer_that_came_before_the_endpoint_died_is_paid_for() -> None:
    with OpenAIServer([serve.text("no idea"), *[serve.status(401)] * 4]) as server:
        model = StrictChatOpenAI(model="m", base_url=server.base_url, api_key="k")
        with pytest.raises(ModelError) as caught:
            asyncio.run(ask(model, QUESTION, Route, memory=RungMemory()))
    assert [message.content for message in caught.value.paid] == ["no idea"]


def long_question(request: serve.Request, _: int, window: int) -> Reply:
    tokens = len(request.text) // 4
    return (
        serve.overflow("llama.cpp")
        if tokens > window
        else serve.calls(serve.call("Route", steps=["left", "right"], hops=2))
    )


def test_a_question_that_is_too_long_is_cut_part_by_part_and_the_cut_is_remembered() -> None:
    parts = "\n".join(f"<repository>\n{name * 400}\n</repository>" for name in ("map ", "spec ", "log "))
    question: list[BaseMessage] = [HumanMessage(f"The rules.\n\n{parts}\n\nPlan.")]
    memory = RungMemory()
    with OpenAIServer(lambda request, n: long_question(request, n, 600)) as server:
        model = StrictChatOpenAI(model="m", base_url=server.base_url, api_key="k")

        async def run() -> list[StructuredAnswer[Route]]:
            return [await ask(model, question, Route, memory=memory) for _ in range(2)]

        first, second = asyncio.run(run())
    assert (first.value, second.value) == (ROUTE, ROUTE)
    assert server.calls <= 5
    assert second.problems == (), "the second question has the size that fitted"
    sent = server.requests[-1].text
    assert sent.count("<repository>") == sent.count("</repository>") == 3
    assert all(name in sent for name in ("The rules.", "map", "spec", "log", "Plan."))


def test_a_correction_that_does_not_fit_is_left_out() -> None:
    def script(request: serve.Request, n: int) -> Reply:
        if n == 0:
            return serve.text("x" * 300)
        if "could not be used" in request.text:
            return serve.overflow("llama.cpp")
        return serve.text(GOOD)

    answer, server = asked(script)
    assert (answer.value, answer.rung, server.calls) == (ROUTE, "json_schema", 3)


def test_the_order_is_that_of_the_dialect_once_the_server_has_said_who_it_is() -> None:
    def script(request: serve.Request, n: int) -> Reply:
        return replace(serve.text("I would rather not."), headers={"Server": "llama.cpp"})

    _, server = asked(script)
    asked_by = [
        "format" if "response_format" in request.body else request.body.get("tool_choice", "")
        for request in server.requests
    ]
    assert isinstance(asked_by[0], dict), "nothing is known yet"
    assert asked_by[1:3] == ["required", "format"]


def test_the_scripted_model_can_be_asked() -> None:
    model = ScriptedChatModel(replies=[calls("Route", steps=["a"]), says(GOOD)])
    memory = RungMemory()
    assert asyncio.run(ask(model, QUESTION, Route, memory=memory)).value == Route(steps=["a"])
    assert asyncio.run(ask(model, QUESTION, Route, memory=memory)).value == ROUTE


# extract_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Sure! {"a": 1} Anything else?', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('use {x} and {"y"}, then {"a": {"b": [1, 2]}}', {"a": {"b": [1, 2]}}),
        ('{"a": 1} or rather {"a": 1, "b": 2}', {"a": 1, "b": 2}),
        ('<think>maybe {"a": 0, "much": "longer"}</think>{"a": 1}', {"a": 1}),
        ('thinking {"a": 0}</think>{"a": 1}', {"a": 1}),
        ('{"a": [1, 2,], "b": {"c": 3,},}', {"a": [1, 2], "b": {"c": 3}}),
        ('{"a": ",}", "b": [",]",],}', {"a": ",}", "b": [",]"]}),
        ("", None),
        ("no object", None),
        ("[1, 2]", None),
        ('{"a": 1', None),
        ('{"a": "half', None),
        ('{"a": [1, 2', None),
        ("{'a': 1}", None),
        ('<think>{"a": 1}', None),
    ],
)
def test_the_object_in_a_text(text: str, value: Any) -> None:
    assert extract_json(text) == value


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
OBJECTS = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        LEAVES,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ),
    min_size=1,
    max_size=4,
)


@given(
    OBJECTS,
    st.text(alphabet="abc .,:\n`'", max_size=20),
    st.text(alphabet="abc .,:\n`'", max_size=20),
    st.sampled_from([None, 2]),
)
@example_count(100)
def test_an_object_is_found_whatever_stands_around_it(
    value: dict[str, Any], before: str, after: str, indent: int | None
) -> None:
    written = json.dumps(value, indent=indent)
    if "think>" not in written:
        assert extract_json(before + written + after) == value


@given(OBJECTS, st.data())
@example_count(60)
def test_an_object_that_does_not_end_is_never_closed(value: dict[str, Any], data: st.DataObject) -> None:
    """What is found in a part of an object is an object that stands whole inside it."""
    written = json.dumps(value)
    part = written[: data.draw(st.integers(0, len(written) - 1))]
    found = extract_json(part)
    assert found is None or json.dumps(found) in part


@given(st.text(alphabet='{}[]",:\\a1 \n', max_size=200))
@example_count(200)
def test_no_text_is_too_strange(text: str) -> None:
    assert isinstance(extract_json(text), dict | None)


@pytest.mark.parametrize(
    "unit", ["{", '{"', '{"a":', '{"a":[', '{"a":[1,],x ', '{"\\"{', "<think>", '{"a', "[", '{"a":1,},', "{,}", "`" * 3]
)
def test_extraction_takes_linear_time(unit: str) -> None:
    with bounded_cpu():
        extract_json(unit * (200_000 // len(unit)))


SPOILT = st.sampled_from(
    (10**40, float("inf"), "\ud800", "\x1b[31mred", "a\0b", "", "x" * 5_000, nested(60), nested(400), True, None)
)


def answers_for(schema: type[BaseModel]) -> st.SearchStrategy[str]:
    """Texts that answer for a schema: fitting, with one field spoilt, or any JSON, with anything around it."""
    described = dereference_refs(schema.model_json_schema())
    names = st.sampled_from(sorted(described["properties"]))
    good = fitting(described)
    spoilt = st.builds(lambda value, name, bad: {**value, name: bad}, good, names, SPOILT | any_json())
    listed = st.builds(lambda value, name, bad: {**value, name: [bad]}, good, names, SPOILT | any_json())
    written = (good | spoilt | listed | any_json()).map(json.dumps)
    digits = st.sampled_from(('{"a": ' + "1" * 5_000 + "}", '{"a": {"b": ' + "1" * 5_000 + ",},}", "[" * 5_000))
    around = st.sampled_from(("", "```json\n", "<think>so", "</think>", "\x1b[2J", "```", "{"))
    return st.builds(lambda before, text, after: f"{before}{text}{after}", around, written | digits, around)


@pytest.mark.parametrize("schema", [PlanAnswer, ReviewAnswer, DraftAnswer, QuestionsAnswer, ReadyAnswer])
@given(st.data())
def test_what_is_taken_of_any_answer_can_be_kept_and_shown(schema: type[BaseModel], data: st.DataObject) -> None:
    texts_ = data.draw(st.lists(answers_for(schema), min_size=5, max_size=5))
    replies = [ModelResponse.of_text(text).message(used_ids=(), request_characters=1, tries=1) for text in texts_]
    answer = asyncio.run(ask(ScriptedChatModel(replies=replies), [HumanMessage("?")], schema, memory=RungMemory()))
    for problem in answer.problems:
        assert "\n" not in problem
        problem.encode()
    if answer.value is not None:
        json.dumps(answer.value.model_dump(), ensure_ascii=False, allow_nan=False).encode()
        JsonPlusSerializer().dumps_typed(answer.value.model_dump())


@given(answers_for(ReviewAnswer))
def test_any_reason_of_a_review_fits_into_an_entry(text: str) -> None:
    found = extract_json(text)
    reply = ModelResponse.of_text(text).message(used_ids=(), request_characters=1, tries=1)
    answer = asyncio.run(
        ask(ScriptedChatModel(replies=[reply] * 5), [HumanMessage("?")], ReviewAnswer, memory=RungMemory())
    )
    if answer.value is None:
        return
    assert found is not None
    FailureEntry(
        visit=1,
        check="review",
        command="",
        exit_code=0,
        kind="unknown",
        summary=answer.value.reason[:400],
        fingerprint="x",
    )
