"""Requests for a value of a schema, for models with and without native support."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.utils.json_schema import dereference_refs
from pydantic import BaseModel, ValidationError

from kotef.context.prompt_budget import fitted_prompt
from kotef.errors import ContextOverflowError, ModelError
from kotef.models.dialects import LADDER, Rung, windows_in
from kotef.models.json_values import unfit
from kotef.models.usage import CHARACTERS_PER_TOKEN, unanswered

T = TypeVar("T", bound=BaseModel)

MAX_BROKEN: Final = 64
"""Beginnings of an object in one text that may turn out to be none; each costs its whole way from the start."""

MAX_REPAIRS: Final = 8
"""Objects with trailing commas that are repaired in one text; each costs the rest of it."""

MAX_CUTS: Final = 4
"""How often a question is cut because it is too long."""

SHOWN: Final = 1_500
"""Characters of a wrong answer that go back with what is wrong about it."""

REFUSALS: Final = frozenset({"bad_request", "nonsense"})
"""Faults of an endpoint that answers, but not as it was asked to; with others no form of a question helps."""

MAX_PROBLEM: Final = 500
"""Characters of a validation error that are shown to the model and to people."""

_OBJECT: Final = re.compile(r'\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\})', re.DOTALL)
_STRING_OR_TRAILING_COMMA: Final = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_DECODER: Final = json.JSONDecoder()


@dataclass
class RungMemory:
    """Which rung worked, and how much fits, per model; one for a run. A later question starts there."""

    worked: dict[str, Rung] = field(default_factory=dict)
    room: dict[str, int] = field(default_factory=dict)
    """Characters of a question, where a longer one was too long."""

    def rungs(self, model: str, order: Sequence[Rung] = LADDER) -> tuple[Rung, ...]:
        """The order from the rung that worked last."""
        start = self.worked.get(model, order[0])
        return tuple(order[order.index(start) :]) if start in order else (start, *order)


@dataclass(frozen=True)
class StructuredAnswer(Generic[T]):
    """What came of a question."""

    value: T | None
    """None: no rung led to a valid value; the caller makes one by code."""
    rung: Rung | None
    """The rung that led to `value`."""
    messages: tuple[AIMessage, ...]
    """Every answer received, valid or not, and one for requests that led to none: each was paid for."""
    problems: tuple[str, ...]
    """Why each rung before was left, and what did not validate; one line each."""


async def ask(
    model: BaseChatModel, messages: Sequence[BaseMessage], schema: type[T], *, memory: RungMemory
) -> StructuredAnswer[T]:
    """Ask for a `schema` by each rung in turn, in the order that the endpoint's dialect has; at most 5 answers.

    A rung is left when the endpoint refuses the request or the answer does not validate; one answer in all is sent
    back with its validation error first. Any valid answer counts, whichever way it came. What is too long is cut, part
    by part. Raises ModelError for an endpoint that is out of reach, with the answers until then in `paid`.
    """
    return await _Question(model, schema, memory, list(messages)).ask()


@dataclass
class _Question(Generic[T]):
    """One question on its way down the rungs."""

    model: BaseChatModel
    schema: type[T]
    memory: RungMemory
    messages: list[BaseMessage]
    answers: list[AIMessage] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    may_repeat: bool = True
    cuts: int = 0

    async def ask(self) -> StructuredAnswer[T]:
        name = _name(self.model)
        self._cut_to(self.memory.room.get(name, 0))
        left: list[Rung] = []
        while (rung := self._next(name, left)) is not None:
            left.append(rung)
            value = await self._on(rung)
            if value is not None:
                self.memory.worked[name] = rung
                return StructuredAnswer(value, rung, tuple(self.answers), tuple(self.problems))
            if self.cuts > MAX_CUTS:
                break
        return StructuredAnswer(None, None, tuple(self.answers), tuple(self.problems))

    def _next(self, name: str, left: Sequence[Rung]) -> Rung | None:
        """The next in the order of the dialect, which may become known with the first answer."""
        order = self.memory.rungs(name, getattr(self.model, "structured_order", LADDER))
        return next((rung for rung in order if rung not in left), None)

    async def _on(self, rung: Rung) -> T | None:
        """The value by one rung, after a second answer if the first can be corrected; None: try the next."""
        objection: list[BaseMessage] = []
        while True:
            conversation = [*_conversation(self.messages, self.schema, rung), *objection]
            try:
                reply = await _request(self.model, conversation, self.schema, rung)
            except ContextOverflowError as error:
                self._book(error, conversation, rung)
                if objection or not self._shrink(str(error), conversation):
                    return None
                continue
            except ModelError as error:
                if error.fault not in REFUSALS:
                    error.paid = tuple(self.answers)
                    raise
                self._book(error, conversation, rung)
                if error.fault != "bad_request":
                    self.cuts = MAX_CUTS + 1
                return None
            self.answers.append(reply)
            value, problem = _read(reply, self.schema)
            if value is not None:
                return value
            self.problems.append(f"{rung}: {problem}")
            if not self.may_repeat:
                return None
            self.may_repeat = False
            objection = _objection(reply, problem)

    def _book(self, error: ModelError, conversation: Sequence[BaseMessage], rung: Rung) -> None:
        self.problems.append(f"{rung}: {error}")
        coming = sum(len(message.text) for message in conversation) // CHARACTERS_PER_TOKEN
        self.answers.append(unanswered(error, coming))

    def _shrink(self, said: str, conversation: Sequence[BaseMessage]) -> bool:
        """Whether the question could be cut after an overflow, to what the error names or by a third."""
        self.cuts += 1
        size = sum(len(message.text) for message in conversation)
        window = min(windows_in(said), default=0) * CHARACTERS_PER_TOKEN // 2
        room = min(window or size, size * 2 // 3) - (size - sum(len(message.text) for message in self.messages))
        if self.cuts > MAX_CUTS or not self._cut_to(max(room, 1)):
            self.cuts = MAX_CUTS + 1
            return False
        self.memory.room[_name(self.model)] = room
        return True

    def _cut_to(self, room: int) -> bool:
        """Whether the last message got shorter; 0 is no limit."""
        last = self.messages[-1] if self.messages else None
        if not room or not isinstance(last, HumanMessage) or not isinstance(last.content, str):
            return False
        before = sum(len(message.text) for message in self.messages[:-1])
        text = fitted_prompt(last.content, max(room - before, 1))
        shorter = len(text) < len(last.content)
        self.messages[-1] = HumanMessage(text)
        return shorter


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
        except ValueError as error:
            broken += 1
            place = error.pos if isinstance(error, json.JSONDecodeError) else start  # a number of too many digits
            value, position = None, max(place, start + 1)
            if repairs < MAX_REPAIRS and _at_trailing_comma(spoken, place):
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
    except (ValueError, RecursionError):
        return None, failed
    return value, start + end + sum(place < end for place in removed)


def _conversation(messages: Sequence[BaseMessage], schema: type[BaseModel], rung: Rung) -> list[BaseMessage]:
    """The messages, with the schema in words unless it is a tool's: some servers ignore a response format.

    It joins the last message where that is a person's: some chat templates refuse two of a kind in a row.
    """
    if rung == "function_calling":
        return list(messages)
    words = "Answer with one JSON object and nothing else. It must match this JSON schema:\n" + json.dumps(
        _schema_of(schema), ensure_ascii=False
    )
    if messages and isinstance(messages[-1], HumanMessage) and isinstance(messages[-1].content, str):
        return [*messages[:-1], HumanMessage(f"{messages[-1].content}\n\n{words}")]
    return [*messages, HumanMessage(words)]


def _schema_of(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema without references, which some servers do not follow."""
    described = dereference_refs(schema.model_json_schema())
    return {name: part for name, part in described.items() if name != "$defs"}


async def _request(model: BaseChatModel, messages: list[BaseMessage], schema: type[BaseModel], rung: Rung) -> AIMessage:
    match rung:
        case "function_calling":
            return await model.bind_tools([schema], tool_choice=schema.__name__).ainvoke(messages)
        case "json_schema":
            described = {"name": schema.__name__, "schema": _schema_of(schema)}
            response_format: dict[str, Any] = {"response_format": {"type": "json_schema", "json_schema": described}}
        case "json_mode":
            response_format = {"response_format": {"type": "json_object"}}
        case "text":
            response_format = {}
    return await model.ainvoke(messages, **response_format)


def _object_in(reply: AIMessage, name: str) -> dict[str, Any] | None:
    """The arguments of the call of this name, else the JSON in the text."""
    called = [call["args"] for call in reply.tool_calls if call["name"] == name]
    return called[0] if called else extract_json(str(reply.text))


def _read(reply: AIMessage, schema: type[T]) -> tuple[T | None, str]:
    """The value in an answer, as a call or as text, or None and what is wrong with it in one line."""
    found = _object_in(reply, schema.__name__)
    if found is None:
        malformed = next((call["error"] for call in reply.invalid_tool_calls if call["error"]), None)
        return None, malformed or "no JSON object in the answer"
    if reason := unfit(found):
        return None, f"its values cannot be kept: {reason}"
    try:
        return schema.model_validate(found), ""
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, one['loc'])) or 'the object'}: {one['msg']}" for one in error.errors())
        return None, "; ".join(wrong)[:MAX_PROBLEM]


def _objection(reply: AIMessage, problem: str) -> list[BaseMessage]:
    """The answer and why it was not taken, in a form in which every call has its result."""
    words = f"That could not be used: {problem}. Answer again with this corrected."
    calls = [*reply.tool_calls, *reply.invalid_tool_calls]
    if len(reply.text) > SHOWN:
        reply = reply.model_copy(update={"content": f"{reply.text[:SHOWN]}…"})
    if not calls:
        return [reply, HumanMessage(words)]
    return [reply, *(ToolMessage(words, tool_call_id=call["id"] or "", status="error") for call in calls)]


def _name(model: BaseChatModel) -> str:
    """What a model is remembered by: its name at its endpoint."""
    parts = (str(getattr(model, part, "")) for part in ("openai_api_base", "model_name"))
    return " ".join(parts).strip() or type(model).__name__
