"""Memory of what an endpoint takes and refuses, and requests in the form that it takes."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from kotef.models.dialects import BY_NAME, GENERAL, ChoiceForm, Dialect, dialect_of_url, dialect_of_words
from kotef.models.prompted_tools import with_prompted_tools
from kotef.models.responses_request import ITEMS, ModelApi, responses_request

CORE: Final = frozenset({"model", "messages", "tools", "tool_choice", "response_format", "stream", "input"})
"""Parameters that are never left out because a refusal names them; what is done instead has a rule of its own."""

RENAMES: Final = {"max_completion_tokens": "max_tokens", "max_tokens": "max_completion_tokens"}
"""Parameters that a refusal gives another name before they are left out."""

SKIP_SIGNATURE: Final = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""What Gemini takes for a call that it did not make itself, as its documentation of thought signatures says."""

_STANDARD: Final = frozenset({"role", "content", "name", "tool_calls", "tool_call_id", "refusal"})
_STANDARD_OF_CALL: Final = frozenset({"id", "type", "function"})
_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@dataclass(slots=True)
class EndpointMemory:
    """One model at one endpoint; everything here is learnt from what it says and refuses, and holds for the run."""

    dialect: Dialect = GENERAL
    named: bool = False
    """Whether the user has named the dialect: then nothing changes it."""
    api: ModelApi = "chat"
    """By which API the model is asked."""
    has_fixed_api: bool = False
    """Whether the user has chosen the API: then nothing changes it."""
    spoken: bool = False
    """Whether the server has given itself away; before that the dialect is a hint."""
    without: set[str] = field(default_factory=set)
    """Parameters that are left out."""
    renamed: dict[str, str] = field(default_factory=dict)
    refused_fields: set[str] = field(default_factory=set)
    """Fields of messages and calls that are not sent back."""
    needed_fields: set[str] = field(default_factory=set)
    """Fields of a message with calls that are sent even where it came without them."""
    bare: bool = False
    """No field but the standard ones is sent back, unless it is needed."""
    forms: tuple[ChoiceForm, ...] | None = None
    """Forms of `tool_choice` not yet refused; None: as the dialect has them."""
    choice_refused: bool = False
    """Not even the word `none` is taken."""
    call_id: str = ""
    alternates: bool = False
    signed: bool = False
    """Calls without a signature need a substitute."""
    keywords: set[str] = field(default_factory=set)
    """Keywords of JSON schemas that are left out."""
    prompted: bool = False
    """Tools are described in words, and calls are read from the text."""
    fixed: dict[str, Any] = field(default_factory=dict)
    """Parameters with the only value that is taken."""
    learnt: list[str] = field(default_factory=list)
    """Each lesson, in words, in order; none is learnt twice."""

    def hear(self, words: Mapping[str, str]) -> None:
        """Take note of a server's headers, fingerprint or list of models."""
        row = None if self.named or self.spoken else dialect_of_words(words)
        if row is not None:
            self.dialect, self.spoken = row, True

    @property
    def choices(self) -> tuple[ChoiceForm, ...]:
        """Forms of `tool_choice` that are worth a try."""
        return self.dialect.tool_choice if self.forms is None else self.forms

    def off(self, name: str) -> bool:
        """Whether a field of a message or a call is not sent back."""
        if name == ITEMS and self.api == "chat":
            return True
        if name in self.needed_fields:
            return False
        return self.bare or name in self.refused_fields or name in self.dialect.never

    def fitted(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """The request as this endpoint takes it; `payload` stays as it is."""
        request = {self.renamed.get(name, name): value for name, value in payload.items() if name not in self.without}
        if "extra_body" in request:
            extra = request.pop("extra_body") or {}
            request |= {name: value for name, value in extra.items() if name not in self.without}
        request |= self.fixed
        if "stream" not in request:
            request.pop("stream_options", None)
        self._choose(request)
        if self.keywords:
            _without_keywords(request, self.keywords)
        request["messages"] = [self._message(message) for message in payload["messages"]]
        if self.alternates or self.dialect.alternates:
            request["messages"] = _alternating(request["messages"])
        if self.prompted and request.get("tools"):
            request = with_prompted_tools(request)
        return responses_request(request, self.without) if self.api == "responses" else request

    def _choose(self, request: dict[str, Any]) -> None:
        """Put `tool_choice` into the strictest form that the endpoint takes."""
        wanted = request.get("tool_choice")
        if isinstance(wanted, dict):
            form = next(iter(self.choices), "auto")
            if form == "required":
                request["tool_choice"] = "required"
            elif form == "auto":
                del request["tool_choice"]
        elif wanted is not None and self.choice_refused:
            del request["tool_choice"]

    def _message(self, message: dict[str, Any]) -> dict[str, Any]:
        if message["role"] == "tool":
            return {**message, "tool_call_id": self._id(str(message.get("tool_call_id", "")))}
        if message["role"] != "assistant":
            return message
        sent = {name: value for name, value in message.items() if name in _STANDARD or not self.off(name)}
        if isinstance(sent.get("content"), list) and self.off("content"):
            sent["content"] = "".join(str(part.get("text", "")) for part in sent["content"]) or None
        if not sent.get("tool_calls"):
            return sent
        sent["tool_calls"] = [self._call(call, first=not number) for number, call in enumerate(sent["tool_calls"])]
        for name in sorted(self.needed_fields):
            sent.setdefault(name, "")
        return sent

    def _call(self, call: dict[str, Any], *, first: bool) -> dict[str, Any]:
        kept = {name: value for name, value in call.items() if name in _STANDARD_OF_CALL or not self.off(name)}
        kept["id"] = self._id(str(call.get("id", "")))
        if self.signed and first and "extra_content" not in kept:
            kept["extra_content"] = SKIP_SIGNATURE
        return kept

    def _id(self, given: str) -> str:
        """An id in the form that the endpoint wants, the same for the same id."""
        pattern = self.call_id or self.dialect.call_id
        if not pattern or re.fullmatch(pattern, given):
            return given
        number = int.from_bytes(sha256(given.encode("utf-8", "replace")).digest())
        letters = ""
        for _ in range(9):
            number, place = divmod(number, len(_ALPHABET))
            letters += _ALPHABET[place]
        return letters


@dataclass(slots=True)
class EndpointMemories:
    """The memories of a run, one for each model at each endpoint; models of several roles share them."""

    by_model: dict[tuple[str, str], EndpointMemory] = field(default_factory=dict)
    store: Any = None
    """A `LessonStore`, which keeps lessons beyond this process; None: nothing does."""

    def of(self, base_url: str, model: str, dialect: str = "", api: ModelApi | None = None) -> EndpointMemory:
        """What is known of a model there; the user may have named the `dialect` and the `api`."""
        key = base_url.rstrip("/"), model
        if key not in self.by_model:
            row = BY_NAME[dialect] if dialect else dialect_of_url(base_url)
            self.by_model[key] = EndpointMemory(
                row, named=bool(dialect), api=api or "chat", has_fixed_api=api is not None
            )
            if self.store is not None:
                self.store.recall(*key, self.by_model[key])
        return self.by_model[key]

    def keep(self) -> None:
        """Write down what was learnt, if there is a place for it."""
        if self.store is not None:
            self.store.keep(self.by_model)


def added_fields(request: Mapping[str, Any]) -> set[str]:
    """Names of fields beyond the standard ones in the assistant messages of a request, and in their calls."""
    found: set[str] = set()
    for message in request.get("messages") or ():
        if message.get("role") != "assistant":
            continue
        found |= message.keys() - _STANDARD
        found |= {"content"} if isinstance(message.get("content"), list) else set()
        for call in message.get("tool_calls") or ():
            found |= call.keys() - _STANDARD_OF_CALL
    return found


def schema_keywords(request: Mapping[str, Any]) -> set[str]:
    """Keywords of the JSON schemas of a request that say something a server may not know."""
    found: set[str] = set()
    for schema in _schemas(request):
        _visit(schema, lambda part: found.update(part.keys() - {"type", "properties", "items", "required"}))
    return found


def _alternating(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a person says after the result of a tool, or after themselves, as a part of that message."""
    joined: list[dict[str, Any]] = []
    for message in messages:
        last = joined[-1] if joined else {}
        texts = last.get("content"), message.get("content")
        follows = message["role"] == "user" and last.get("role") in {"user", "tool"}
        if follows and all(isinstance(text, str) for text in texts):
            joined[-1] = {**last, "content": f"{texts[0]}\n\n{texts[1]}"}
        else:
            joined.append(message)
    return joined


def _without_keywords(request: dict[str, Any], keywords: set[str]) -> None:
    """Leave the keywords out of the schemas of the tools; the caller's are not touched."""

    def prune(part: dict[str, Any]) -> None:
        for name in keywords & part.keys():
            del part[name]

    copied = [_copy(tool) for tool in request.get("tools") or ()]
    if copied:
        request["tools"] = copied
    if isinstance(request.get("response_format"), dict):
        request["response_format"] = _copy(request["response_format"])
    for schema in _schemas(request):
        _visit(schema, prune)


def _schemas(request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for tool in request.get("tools") or ():
        parameters = (tool.get("function") or tool).get("parameters")
        if isinstance(parameters, dict):
            yield parameters
    described = (request.get("response_format") or {}).get("json_schema") or {}
    if isinstance(described.get("schema"), dict):
        yield described["schema"]


def _visit(schema: Any, act: Callable[[dict[str, Any]], None]) -> None:
    """Call `act` with each schema in a schema; names of properties are not keywords."""
    if not isinstance(schema, dict):
        return
    act(schema)
    for name, value in schema.items():
        if name in {"properties", "$defs", "definitions"} and isinstance(value, dict):
            for inner in value.values():
                _visit(inner, act)
        elif isinstance(value, list):
            for inner in value:
                _visit(inner, act)
        else:
            _visit(value, act)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copy(inner) for name, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value
