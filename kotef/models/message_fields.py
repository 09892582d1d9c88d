"""Fields that an endpoint adds to an assistant message or a tool call, kept so that they can be sent back."""

import json
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage

from kotef.models.json_values import plain_value
from kotef.redaction import encodable

SENT: Final = "kotef_sent"
"""Key in `additional_kwargs` of an answer: the fields its endpoint added to the message, and to each call by its id."""
THOUGHTS: Final = "reasoning_content"
"""Key in `additional_kwargs` of an answer: its reasoning as text, whichever field it came in."""
THOUGHT_FIELDS: Final = ("reasoning_content", "reasoning")
"""Fields of a message that hold reasoning as text: DeepSeek, Moonshot, llama.cpp; OpenRouter, Groq, vLLM."""

_STANDARD: Final = frozenset({"role", "content", "tool_calls", "function_call", "refusal", "annotations", "audio"})
"""Fields of a message that its own part of the parser reads, or that an endpoint sends but does not take."""
_STANDARD_OF_CALL: Final = frozenset({"id", "type", "index", "function"})
_STANDARD_OF_FUNCTION: Final = frozenset({"name", "arguments"})
_LABELS: Final = frozenset({"type", "id", "index", "format", "name", "object", "role", "signature"})
"""Keys inside a field whose text names something: a later piece of a stream repeats or replaces it."""


class AddedFields:
    """Fields of one answer while its pieces arrive."""

    def __init__(self) -> None:
        """Nothing was added yet."""
        self.values: dict[str, Any] = {}

    def take_message(self, part: dict[str, Any]) -> None:
        """Add what a message, or a piece of one, has beyond the standard."""
        self._take({name: value for name, value in part.items() if name not in _STANDARD})

    def take_call(self, piece: dict[str, Any]) -> None:
        """Add what a tool call, or a piece of one, has beyond the standard."""
        added = {name: value for name, value in piece.items() if name not in _STANDARD_OF_CALL}
        function = piece.get("function")
        if isinstance(function, dict):
            inner = {name: value for name, value in function.items() if name not in _STANDARD_OF_FUNCTION}
            added |= {"function": inner} if inner else {}
        self._take(added)

    def _take(self, added: dict[str, Any]) -> None:
        for name, value in added.items():
            if value is not None:
                self.values[encodable(name)] = _merged(self.values.get(name), plain_value(value))

    def kept(self) -> dict[str, Any]:
        """Those that say something, as they can be written and sent."""
        found = {name: value for name, value in self.values.items() if value not in ("", [], {})}
        return encodable(found)


def fields_of(message: BaseMessage) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The fields that an answer came with, and those of each of its calls by the call's id."""
    kept = message.additional_kwargs.get(SENT)
    if not isinstance(message, AIMessage) or not isinstance(kept, dict):
        return {}, {}
    names = kept.get("thoughts") or ()
    thoughts = {name: message.additional_kwargs.get(THOUGHTS, "") for name in names}
    return {**thoughts, **(kept.get("fields") or {})}, kept.get("calls") or {}


def marks_of(fields: dict[str, Any], calls: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What an answer keeps of its fields in `additional_kwargs`: reasoning as text once, whatever it was called."""
    texts = {name: fields[name] for name in THOUGHT_FIELDS if isinstance(fields.get(name), str)}
    thoughts = next(iter(texts.values()), "")
    same = [name for name, text in texts.items() if text == thoughts]
    others = {name: value for name, value in fields.items() if name not in same}
    kept = {"thoughts": same, "fields": others, "calls": calls}
    marks: dict[str, Any] = {THOUGHTS: thoughts} if thoughts else {}
    if any(kept.values()):
        marks[SENT] = {name: value for name, value in kept.items() if value}
    return marks


def send_back(sent: dict[str, Any], message: BaseMessage) -> None:
    """Put the fields that an answer came with into the message that is `sent` for it; standard fields stay."""
    fields, calls = fields_of(message)
    content = fields.get("content")
    for name, value in fields.items():
        if name != "content":
            sent.setdefault(name, value)
    if isinstance(content, list) and not isinstance(sent.get("content"), list):
        sent["content"] = content
    for call in sent.get("tool_calls") or ():
        for name, value in calls.get(call.get("id") or "", {}).items():
            if name == "function" and isinstance(value, dict):
                call["function"] = {**value, **call["function"]}
            elif name != "function":
                call.setdefault(name, value)


def characters(message: BaseMessage) -> int:
    """About how many characters the fields of an answer have in a request."""
    if SENT not in message.additional_kwargs:
        return 0
    return sum(len(json.dumps(part, ensure_ascii=False, default=str)) for part in fields_of(message) if part)


class ContentParts:
    """The parts of an answer's content while they arrive; only kept where some are not text, as Mistral's thinking."""

    def __init__(self) -> None:
        """Nothing arrived yet."""
        self._parts: list[dict[str, Any]] = []

    def take(self, content: object) -> None:
        """Add the content of a message, or of a piece of one: a text, or a list of parts."""
        for part in _as_list(content):
            new = {"type": "text", "text": part} if isinstance(part, str) else part
            if isinstance(new, dict) and new != {"type": "text", "text": ""}:
                self._add(plain_value(new))

    def _add(self, new: dict[str, Any]) -> None:
        kind = new.get("type")
        if self._parts and isinstance(kind, str) and self._parts[-1].get("type") == kind and "index" not in new:
            self._parts[-1] = _joined_part(self._parts[-1], new)
        else:
            self._parts.append(new)

    def kept(self) -> list[dict[str, Any]]:
        """The parts; empty where they are only text, which the message has anyway."""
        return encodable(self._parts) if any(part.get("type") != "text" for part in self._parts) else []

    def thoughts(self) -> str:
        """The text of the parts that are thinking."""
        return "".join(_texts_in(part.get("thinking")) for part in self._parts if part.get("type") == "thinking")


def _as_list(content: object) -> list[Any]:
    if isinstance(content, list):
        return content
    return [content] if isinstance(content, str) else []


def _joined_part(last: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    joined: dict[str, Any] = _merged(last, new)
    inner = joined.get("thinking")
    if isinstance(inner, list) and all(isinstance(one, dict) and set(one) == {"type", "text"} for one in inner):
        joined["thinking"] = [{"type": "text", "text": _texts_in(inner)}]
    return joined


def _texts_in(thinking: object) -> str:
    if isinstance(thinking, str):
        return thinking
    found = [one.get("text") for one in thinking if isinstance(one, dict)] if isinstance(thinking, list) else []
    return "".join(text for text in found if isinstance(text, str))


def _merged(before: Any, piece: Any, key: str = "") -> Any:
    """One field with its next piece: texts and lists grow, objects merge, and what names something is replaced."""
    if before is None:
        return piece
    match before, piece:
        case str(), str():
            return piece or before if key in _LABELS else before + piece
        case dict(), dict():
            merged = dict(before)
            for name, value in piece.items():
                merged[name] = _merged(merged.get(name), value, name)
            return merged
        case list(), list():
            return _merged_lists(before, piece)
        case _:
            return piece if piece is not None else before


def _merged_lists(before: list[Any], pieces: list[Any]) -> list[Any]:
    """A list with more members; one with the type and index of an earlier one continues that one."""
    merged = list(before)
    for piece in pieces:
        place = _place_of(merged, piece)
        if place is None:
            merged.append(piece)
        else:
            merged[place] = _merged(merged[place], piece)
    return merged


def _place_of(members: list[Any], piece: Any) -> int | None:
    if not isinstance(piece, dict) or not isinstance(piece.get("index"), int):
        return None
    for place in range(len(members) - 1, -1, -1):
        one = members[place]
        if isinstance(one, dict) and one.get("index") == piece["index"] and one.get("type") == piece.get("type"):
            return place
    return None
