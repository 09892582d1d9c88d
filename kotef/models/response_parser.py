"""Parser of an endpoint's response: whether it is complete, and its message."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall
from langchain_core.messages.ai import InputTokenDetails, OutputTokenDetails, UsageMetadata
from langchain_core.messages.tool import invalid_tool_call, tool_call

from kotef.models.dialects import CACHED, USAGE
from kotef.models.errors import AnswerError, ReportedError
from kotef.models.json_repair import mend
from kotef.models.json_values import LARGEST, parsed
from kotef.models.message_fields import THOUGHTS, AddedFields, ContentParts, marks_of
from kotef.models.usage import CHARACTERS_PER_TOKEN
from kotef.redaction import encodable

MAX_ANSWER: Final = 32 * 1024 * 1024
"""Bytes of one answer, framing included; an endpoint that sends more is talking nonsense."""

MAX_COUNT: Final = 10**9
"""Tokens of one answer; an endpoint that counts more is talking nonsense, and a checkpoint holds 64 bits."""

DRAIN_SECONDS: Final = 1.0
"""How long the end of the response is waited for after `[DONE]`, so that the connection can be used again."""

UNSAFE_FINISHES: Final = frozenset({"length", "content_filter"})
"""Finish reasons after which the last thing written may be half a thing."""

ORDER: Final = "kotef_order"
"""Key in `response_metadata` of an answer with valid calls and others: the ids of all, as the model made them."""

COMPLETE: Final = frozenset({"stop", "tool_calls", "function_call"})
"""Finish reasons that say the model came to its own end: what it wrote last is all of it."""

MENDED: Final = "mended"
"""Key in `response_metadata`: for each call whose arguments were repaired, the tool and what was done, in words."""

_THINKING: Final = re.compile(r"\s*<think>(.*?)(?:</think>|\Z)", re.DOTALL)


@dataclass
class _CallDraft:
    index: int | None
    id: str
    name: str
    arguments: list[str]
    added: AddedFields = field(default_factory=AddedFields)


@dataclass
class ModelResponse:
    """One answer while it arrives: the pieces of a stream, or one object, in the shapes servers really send."""

    heard: Callable[[str], None] | None = field(default=None, repr=False)
    """Told each piece of the text as it arrives."""
    finish_reason: str | None = None
    model: str = ""
    id: str = ""
    fingerprint: str = ""
    """What some servers give themselves away by."""
    usage: dict[str, Any] = field(default_factory=dict)
    _content: list[str] = field(default_factory=list)
    _refusal: list[str] = field(default_factory=list)
    _added: AddedFields = field(default_factory=AddedFields)
    _parts: ContentParts = field(default_factory=ContentParts)
    _calls: list[_CallDraft] = field(default_factory=list)
    _has_choice: bool = False

    @classmethod
    def of_text(cls, text: str) -> "ModelResponse":
        """An answer in words that the model gave in another way."""
        return cls(finish_reason="stop", _content=[text], _has_choice=True)

    def add(self, chunk: object) -> None:
        """Take one chunk, or the one object of an answer that was not streamed."""
        if not isinstance(chunk, dict):
            raise AnswerError("nonsense", "the answer is JSON, but not an object")
        if chunk.get("error"):
            raise ReportedError(chunk["error"])
        self.model = encodable(_text(chunk.get("model"))) or self.model
        self.id = encodable(_text(chunk.get("id"))) or self.id
        self.fingerprint = encodable(_text(chunk.get("system_fingerprint"))) or self.fingerprint
        for path in (("usage",), *USAGE):
            found = _at(chunk, path)
            if isinstance(found, dict):
                self.usage = found
        for choice in _dicts(chunk.get("choices")):
            if choice.get("index") in (0, None):  # a tuple: an index that cannot be hashed is none of these
                self._has_choice = True
                self._take(choice.get("delta") or choice.get("message"))
                self.finish_reason = encodable(_text(choice.get("finish_reason"))) or self.finish_reason

    def _take(self, part: object) -> None:
        if not isinstance(part, dict):
            return
        text = _text(part.get("content"))
        self._content.append(text)
        if text and self.heard is not None:
            self.heard(text)
        self._refusal.append(_text(part.get("refusal")))
        self._added.take_message(part)
        self._parts.take(part.get("content"))
        for piece in _dicts(part.get("tool_calls")):
            self._take_call(piece)

    def _take_call(self, piece: dict[str, Any]) -> None:
        """A piece belongs to the call with its index, else to the last; a new id with a name is always a new call.

        Some servers number every call 0, and some give no number at all.
        """
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        index, call_id, name = piece.get("index"), _text(piece.get("id")), _text(function.get("name"))
        arguments = function.get("arguments")
        written = json.dumps(arguments) if isinstance(arguments, dict) else _text(arguments)
        same = [draft for draft in self._calls if index is None or draft.index == index]
        if not same or (name and (index is None or (call_id and call_id != same[-1].id))):
            draft = _CallDraft(index if isinstance(index, int) else None, call_id, name, [written])
            draft.added.take_call(piece)
            self._calls.append(draft)
            return
        draft = same[-1]
        draft.added.take_call(piece)
        draft.id = draft.id or call_id
        draft.name = draft.name or name
        draft.arguments.append(written)

    def check(self) -> None:
        """Raise `AnswerError` unless the answer is whole: the server itself must have said why it ended."""
        if not self._has_choice:
            raise AnswerError("nonsense", "an answer without choices")
        if not self.finish_reason:
            raise AnswerError("truncated", "the answer ended without a finish reason")

    @property
    def characters(self) -> int:
        """Everything the model wrote, for an estimate of its tokens."""
        thoughts = [text for text in self._added.values.values() if isinstance(text, str)]
        written = [*self._content, *self._refusal, *thoughts]
        return sum(map(len, written)) + sum(len(part) for draft in self._calls for part in draft.arguments)

    def message(self, *, used_ids: Collection[str], request_characters: int, tries: int) -> AIMessage:
        """The message; a tool call that is not whole, or more than its syntax is wrong, is invalid.

        `used_ids` are the call ids of the conversation so far; a call that repeats one gets a fresh id. Reasoning is
        kept aside from the content, also where it is before it between `<think>` marks.
        """
        valid: list[ToolCall] = []
        mended: list[list[str]] = []
        invalid: list[InvalidToolCall] = []
        taken = set(used_ids)
        order: list[str] = []
        of_calls: dict[str, dict[str, Any]] = {}
        for draft in self._calls:
            call_id = draft.id if draft.id and draft.id not in taken else f"call_{uuid4().hex[:24]}"
            taken.add(call_id)
            order.append(call_id)
            if kept := draft.added.kept():
                of_calls[call_id] = kept
            draft.name = _joined([draft.name])
            written = _joined(draft.arguments)
            args, problem = _arguments(draft.name, written, self.finish_reason or "")
            if args is None:
                invalid.append(invalid_tool_call(name=draft.name or "unknown", args=written, id=call_id, error=problem))
                continue
            valid.append(tool_call(name=draft.name, args=args, id=call_id))
            if problem:
                mended.append([draft.name, problem])
        content, thoughts = _apart(_joined(self._content) or _joined(self._refusal))
        marks = self._marks(of_calls)
        if thoughts:
            marks.setdefault(THOUGHTS, thoughts)
        usage = _usage(self.usage)
        metadata: dict[str, Any] = {
            "model_provider": "openai",
            "model_name": self.model,
            "id": self.id,
            "finish_reason": self.finish_reason,
            "tries": tries,
        }
        if mended:
            metadata[MENDED] = mended
        if valid and invalid:
            metadata[ORDER] = order
        if usage is None:
            usage = _estimated(request_characters, self.characters)
            metadata["usage_estimated"] = True
        return AIMessage(
            content=content if content.strip() else "",
            additional_kwargs=marks,
            response_metadata=metadata,
            tool_calls=valid,
            invalid_tool_calls=invalid,
            usage_metadata=usage,
        )

    def _marks(self, of_calls: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """What the message keeps beside its content: its reasoning, and the fields to send back."""
        fields = self._added.kept()
        if parts := self._parts.kept():
            fields["content"] = parts
        marks = marks_of(fields, of_calls)
        if thoughts := self._parts.thoughts():
            marks.setdefault(THOUGHTS, encodable(thoughts))
        return marks


async def read_answer(pieces: AsyncIterator[bytes], answer: ModelResponse | None = None) -> ModelResponse:
    """The `answer` with what is in a response body: server-sent events or one JSON object, whatever its type says.

    Raises AnswerError when the body is neither, or is not whole; what `pieces` raises passes through, unless the
    answer was already complete.
    """
    import httpx2

    answer = answer or ModelResponse()
    streamed = False
    rest: list[bytes] = []
    lines = _lines(pieces)
    try:
        async for line in lines:
            if not line.startswith(b"data:"):
                rest.append(line)
                continue
            streamed = True
            event = line[5:].strip()
            if event == b"[DONE]":
                await _drain(lines)
                break
            if event:
                answer.add(_parsed(event))
    except httpx2.HTTPError:
        if not answer.finish_reason:
            raise
    if not streamed:
        answer.add(_parsed(b"\n".join(rest)))
    answer.check()
    return answer


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Lines ended by a newline only: U+2028 and the like may be inside JSON."""
    pending: list[bytes] = []
    size = 0
    async for piece in pieces:
        size += len(piece)
        if size > MAX_ANSWER:
            raise AnswerError("nonsense", f"an answer of more than {MAX_ANSWER // 1024**2} MB")
        first, *others = piece.split(b"\n")
        pending.append(first)
        for line in others:
            yield b"".join(pending)
            pending = [line]
    yield b"".join(pending)


async def _drain(lines: AsyncIterator[bytes]) -> None:
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in lines:
                pass
    except TimeoutError:
        return  # the connection will not be used again; the answer is whole all the same


def _parsed(body: bytes) -> object:
    stripped = body.strip()
    if not stripped:
        raise AnswerError("nonsense", "an empty answer")
    if stripped.startswith(b"<"):
        raise AnswerError("nonsense", "an HTML page instead of an answer")
    try:
        return parsed(stripped)
    except ValueError as error:
        raise AnswerError("nonsense", f"an answer that is not JSON: {error}") from None


def _arguments(name: str, written: str, finish_reason: str) -> tuple[dict[str, Any] | None, str]:
    """The arguments of one call and what was repaired in them, or None and why they cannot be used."""
    if not name:
        return None, "the call names no tool"
    if finish_reason in UNSAFE_FINISHES:
        return None, f"the answer was cut off (finish reason {finish_reason}), so the call may be incomplete"
    try:
        args, changes = _read(written, may_mend=finish_reason in COMPLETE)
        json.dumps(args, ensure_ascii=False).encode()
        if _too_large(args):
            return None, "the arguments contain an integer of more than 64 bits"
    except UnicodeEncodeError:
        return None, "the arguments contain half of a character (a lone surrogate)"
    except (ValueError, RecursionError) as error:
        return None, f"the arguments are not valid JSON: {error}"
    if not isinstance(args, dict):
        return None, f"the arguments must be a JSON object, not {type(args).__name__}"
    return args, ", ".join(changes)


def _too_large(value: object) -> bool:
    """Whether it holds an integer that a checkpoint cannot."""
    match value:
        case int():
            return not -LARGEST <= value < LARGEST
        case list():
            return any(map(_too_large, value))
        case dict():
            return any(map(_too_large, value.values()))
        case _:
            return False


def _read(written: str, *, may_mend: bool) -> tuple[object, tuple[str, ...]]:
    """The value, and the repairs it needed; the error for a text that cannot be repaired is that of the original."""
    if not written.strip():
        return {}, ()
    try:
        value = json.loads(written, parse_constant=_refuse_constant)
    except ValueError as error:
        mended = mend(written) if may_mend else None
        if mended is None:
            raise
        try:
            return json.loads(mended.text, parse_constant=_refuse_constant), mended.changes
        except ValueError:
            raise error from None
    if may_mend and isinstance(value, str) and value.lstrip()[:1] == "{":
        return json.loads(value, parse_constant=_refuse_constant), ("object in a string",)
    return value, ()


def _apart(content: str) -> tuple[str, str]:
    """The content without the reasoning before it, and the reasoning."""
    thinking = _THINKING.match(content)
    return (content[thinking.end() :].lstrip(), thinking[1].strip()) if thinking else (content, "")


def _refuse_constant(name: str) -> None:
    msg = f"{name} is not JSON"
    raise ValueError(msg)


def _usage(sent: dict[str, Any]) -> UsageMetadata | None:
    """The endpoint's own figures; None if it sent none (some send zeros)."""
    tokens_in, tokens_out = _count(sent.get("prompt_tokens")), _count(sent.get("completion_tokens"))
    if not tokens_in and not tokens_out:
        return None
    usage = UsageMetadata(input_tokens=tokens_in, output_tokens=tokens_out, total_tokens=tokens_in + tokens_out)
    if cached := max(_count(_at(sent, path)) for path in (("prompt_tokens_details", "cached_tokens"), *CACHED)):
        usage["input_token_details"] = InputTokenDetails(cache_read=cached)
    if reasoning := _count(_at(sent, ("completion_tokens_details", "reasoning_tokens"))):
        usage["output_token_details"] = OutputTokenDetails(reasoning=reasoning)
    return usage


def _estimated(characters_in: int, characters_out: int) -> UsageMetadata:
    tokens_in, tokens_out = (-(-count // CHARACTERS_PER_TOKEN) for count in (characters_in, characters_out))
    return UsageMetadata(input_tokens=tokens_in, output_tokens=tokens_out, total_tokens=tokens_in + tokens_out)


def _at(value: object, path: tuple[str, ...]) -> object:
    """What stands at a path; of a list the first member."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, list):
            value = value[0] if value else None
    return value


def _count(value: object) -> int:
    return min(max(value, 0), MAX_COUNT) if isinstance(value, int) else 0


def _dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    """Text as it is, or the text of a list of parts; anything else is none."""
    if isinstance(value, str):
        return value
    return "".join(_text(part.get("text")) for part in _dicts(value))


def _joined(parts: list[str]) -> str:
    """The whole text; the halves of a character that was cut between two chunks come together, a lone half is `?`."""
    whole = "".join(parts)
    try:
        whole.encode()
    except UnicodeEncodeError:
        return whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole
