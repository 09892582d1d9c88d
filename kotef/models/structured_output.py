"""Requests for a value of a schema, for models with and without native support."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import BaseModel, ValidationError

from kotef.errors import ContextOverflowError, ModelError

T = TypeVar("T", bound=BaseModel)

Rung = Literal["function_calling", "json_schema", "json_mode", "text"]

LADDER: Final[tuple[Rung, ...]] = ("function_calling", "json_schema", "json_mode", "text")
"""Ways to ask, the most reliable first."""

MAX_BROKEN: Final = 64
"""Beginnings of an object in one text that may turn out to be none; each costs its whole way from the start."""

MAX_REPAIRS: Final = 8
"""Objects with trailing commas that are repaired in one text; each costs the rest of it."""

MAX_PROBLEM: Final = 500
"""Characters of a validation error that are shown to the model and to people."""

_OBJECT: Final = re.compile(r'\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\})', re.DOTALL)
_STRING_OR_TRAILING_COMMA: Final = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_DECODER: Final = json.JSONDecoder()


@dataclass
class RungMemory:
    """Which rung worked, per model; one for a run. A later question starts there and may continue down."""

    worked: dict[str, Rung] = field(default_factory=dict)

    def rungs(self, model: str) -> tuple[Rung, ...]:
        """The ladder from the rung that worked last."""
        return LADDER[LADDER.index(self.worked.get(model, LADDER[0])) :]


@dataclass(frozen=True)
class StructuredAnswer(Generic[T]):
    """What came of a question."""

    value: T | None
    """None: no rung led to a valid value; the caller makes one by code."""
    rung: Rung | None
    """The rung that led to `value`."""
    messages: tuple[AIMessage, ...]
    """Every answer received, valid or not: each was paid for."""
    problems: tuple[str, ...]
    """Why each rung before was left, and what did not validate; one line each."""


async def ask(
    model: BaseChatModel, messages: Sequence[BaseMessage], schema: type[T], *, memory: RungMemory
) -> StructuredAnswer[T]:
    """Ask for a `schema`: function calling, then a JSON schema, then JSON mode, then JSON in text; at most 5 calls.

    A rung is left when the endpoint refuses the request or the answer does not validate; one answer in all is sent
    back with its validation error first. Any valid answer counts, whichever way it came. Raises ModelError for every
    fault but a refusal.
    """
    answers: list[AIMessage] = []
    problems: list[str] = []
    may_repeat = True
    name = _name(model)
    for rung in memory.rungs(name):
        conversation = _conversation(messages, schema, rung)
        while True:
            try:
                reply = await _request(model, conversation, schema, rung)
            except ContextOverflowError:
                raise
            except ModelError as error:
                if error.fault != "bad_request":
                    raise
                problems.append(f"{rung}: {error}")
                break
            answers.append(reply)
            value, problem = _read(reply, schema)
            if value is not None:
                memory.worked[name] = rung
                return StructuredAnswer(value, rung, tuple(answers), tuple(problems))
            problems.append(f"{rung}: {problem}")
            if not may_repeat:
                break
            may_repeat = False
            conversation = [*conversation, *_objection(reply, problem)]
    return StructuredAnswer(None, None, tuple(answers), tuple(problems))


def extract_json(text: str) -> dict[str, Any] | None:
    """The JSON object in a text: fenced or bare, with words around it; of several, the longest. None if there is none.

    `<think>…</think>` is dropped, and a comma before a closing bracket is forgiven; nothing else is repaired, least of
    all an object that does not end. Linear in the length of the text.
    """
    spoken = text.rpartition("</think>")[2].partition("<think>")[0]
    best: dict[str, Any] | None = None
    longest = broken = repairs = position = 0
    while broken < MAX_BROKEN and (opening := _OBJECT.search(spoken, position)):
        start = opening.start()
        try:
            value, position = _DECODER.raw_decode(spoken, start)
        except json.JSONDecodeError as error:
            broken += 1
            value, position = None, max(error.pos, start + 1)
            if repairs < MAX_REPAIRS and _at_trailing_comma(spoken, error.pos):
                repairs += 1
                value, position = _without_trailing_commas(spoken, start, position)
        except RecursionError:
            break
        if value is not None and position - start > longest:
            best, longest = value, position - start
    return best


def _at_trailing_comma(text: str, position: int) -> bool:
    """Whether the decoder stopped at a comma before a closing bracket (Python 3.13), or at the bracket after it."""
    before = text[max(position - 200, 0) : position].rstrip()[-1:]
    after = text[position : position + 200].lstrip(", \t\r\n")[:1]
    return after in {"}", "]"} and "," in {before, text[position : position + 1]}


def _without_trailing_commas(text: str, start: int, failed: int) -> tuple[Any, int]:
    """The object at `start` once commas before closing brackets are gone, and where it ends; else None and `failed`."""
    removed: list[int] = []

    def drop(match: re.Match[str]) -> str:
        if match[0] != ",":
            return match[0]
        removed.append(match.start() - len(removed))
        return ""

    try:
        value, end = _DECODER.raw_decode(_STRING_OR_TRAILING_COMMA.sub(drop, text[start:]))
    except (json.JSONDecodeError, RecursionError):
        return None, failed
    return value, start + end + sum(place < end for place in removed)


def _conversation(messages: Sequence[BaseMessage], schema: type[BaseModel], rung: Rung) -> list[BaseMessage]:
    """The messages, with the schema in words where the request itself does not carry it.

    It joins the last message where that is a person's: some chat templates refuse two of a kind in a row.
    """
    if rung in {"function_calling", "json_schema"}:
        return list(messages)
    words = "Answer with one JSON object and nothing else. It must match this JSON schema:\n" + json.dumps(
        schema.model_json_schema(), ensure_ascii=False
    )
    if messages and isinstance(messages[-1], HumanMessage) and isinstance(messages[-1].content, str):
        return [*messages[:-1], HumanMessage(f"{messages[-1].content}\n\n{words}")]
    return [*messages, HumanMessage(words)]


async def _request(model: BaseChatModel, messages: list[BaseMessage], schema: type[BaseModel], rung: Rung) -> AIMessage:
    match rung:
        case "function_calling":
            return await model.bind_tools([schema], tool_choice=schema.__name__).ainvoke(messages)
        case "json_schema":
            described = {"name": schema.__name__, "schema": schema.model_json_schema()}
            asked: dict[str, Any] = {"response_format": {"type": "json_schema", "json_schema": described}}
        case "json_mode":
            asked = {"response_format": {"type": "json_object"}}
        case "text":
            asked = {}
    return await model.ainvoke(messages, **asked)


def _read(reply: AIMessage, schema: type[T]) -> tuple[T | None, str]:
    """The value in an answer, as a call or as text, or None and what is wrong with it in one line."""
    called = [call["args"] for call in reply.tool_calls if call["name"] == schema.__name__]
    found = called[0] if called else extract_json(str(reply.text))
    if found is None:
        malformed = next((call["error"] for call in reply.invalid_tool_calls if call["error"]), None)
        return None, malformed or "no JSON object in the answer"
    try:
        return schema.model_validate(found), ""
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, one['loc'])) or 'the object'}: {one['msg']}" for one in error.errors())
        return None, "; ".join(wrong)[:MAX_PROBLEM]


def _objection(reply: AIMessage, problem: str) -> list[BaseMessage]:
    """The answer and why it was not taken, in a form in which every call has its result."""
    words = f"That could not be used: {problem}. Answer again with this corrected."
    calls = [*reply.tool_calls, *reply.invalid_tool_calls]
    if not calls:
        return [reply, HumanMessage(words)]
    return [reply, *(ToolMessage(words, tool_call_id=call["id"] or "", status="error") for call in calls)]


def _name(model: BaseChatModel) -> str:
    """What a model is remembered by: its name at its endpoint."""
    parts = (str(getattr(model, part, "")) for part in ("openai_api_base", "model_name"))
    return " ".join(parts).strip() or type(model).__name__
