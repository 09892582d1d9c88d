"""Lessons of refused requests: what an endpoint names in its refusal is left out, renamed or put otherwise."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kotef.models.dialects import REASONING, SLIP
from kotef.models.endpoint_memory import CORE, RENAMES, EndpointMemory, added_fields, schema_keywords
from kotef.models.responses_request import ITEMS

MOST_LESSONS: Final = 16
"""Refusals of one request that something is learnt from; each changes the next request."""

_READ: Final = 4000
"""Characters of a refusal that are read."""

_SHOWN: Final = 600
"""Characters of an answer that could not be read which the model is shown."""
_DEEPEST: Final = 12
"""Levels of an error's body that are read."""

_REFUSING: Final = re.compile(
    r"unsupported|support|unrecognized|unknown|unexpected|extra_forbidden|not permitted|not allowed|invalid"
    r"|cannot find field|incompatible|cannot specify|only .{0,40}(?:allowed|supported)|unavailable|not available"
    r"|deprecated|does(?:n't| not) (?:accept|take)|must be|not implemented|disallowed",
    re.IGNORECASE,
)
_NEEDED: Final = re.compile(r"missing|must be (?:passed|sent|provided|included|set)|is required", re.IGNORECASE)
_RESPONSES: Final = re.compile(
    r"only supported in v1/responses|use (?:the )?/?v1/responses|not a chat model .{0,80}chat/completions",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(
    r"of type '?reasoning'?|type '?reasoning'? (?:is )?not"
    r"|encrypted[_ ]content .{0,60}(?:not be|invalid|verified|decrypt)",
    re.IGNORECASE,
)
_ORDER: Final = re.compile(
    r"unexpected role '?user'? after|roles must alternate|invalid_request_message_order", re.IGNORECASE
)
_SHORT_ID: Final = re.compile(r"must be a-z, A-Z, 0-9, with a length of 9")
_LONG_ID: Final = re.compile(
    r"tool_calls\[\d+\]\.id\W.{0,40}too long.{0,80}maximum length (\d+)", re.IGNORECASE | re.DOTALL
)
_TOOLS: Final = re.compile(
    r"support tool (?:use|call)|(?:not|n't) support (?:tools\b|tool[- ]call|function[- ]call|functions\b)"
    r"|support parameters: [\[{]'tools'|--enable-auto-tool-choice"
    r"|tools? param requires|requires --jinja|unsupported param\w*:? *.?tools\b",
    re.IGNORECASE,
)
_CHOICE: Final = re.compile(r"tool[_ ]?choice", re.IGNORECASE)
_THINKS: Final = re.compile(r"think|reason", re.IGNORECASE)
_SIGNATURE: Final = re.compile(
    r"missing an? [`']?thought_?signature|thought_?signature.{0,40}(?:missing|required)", re.IGNORECASE
)
_SHORTEST_ID: Final = 9
"""Characters of an id that tell the calls of a run apart: an id that is made for an endpoint has so many."""
_FIGURES: Final = 4
"""Figures of a length that is believed."""
_FAILED: Final = "failed_generation"
"""Where Groq says what the model wrote."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error of an endpoint about one request."""

    status: int
    body: Any
    """JSON or text."""

    @property
    def words(self) -> str:
        """All that it says, bounded."""
        return "\n".join(_texts(self.body))[:_READ]

    @property
    def speaks_of_the_request(self) -> bool:
        """Whether it may be about the form of the request; some servers refuse with 500."""
        return self.status in {400, 404, 405, 415, 422, 500, 501}

    @property
    def parameter(self) -> str:
        """The parameter that it names in a field of its own."""
        error = self.body.get("error") if isinstance(self.body, dict) else None
        named = error.get("param") if isinstance(error, dict) else None
        return named if isinstance(named, str) else ""


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """The texts in an error, without the names of its fields; JSON in a text is read too."""
    match value:
        case str() if value.lstrip()[:1] in {"{", "["} and depth < _DEEPEST:
            try:
                yield from _texts(json.loads(value), depth + 1)
            except (ValueError, RecursionError):
                yield value
        case str() | int():
            yield str(value)
        case dict() if depth < _DEEPEST:
            for inner in value.values():
                yield from _texts(inner, depth + 1)
        case list() if depth < _DEEPEST:
            for inner in value:
                yield from _texts(inner, depth + 1)


def slip_in(refusal: Refusal) -> str | None:
    """What the model wrote, where an error says that it could not be read (empty if it does not); else None."""
    if refusal.status not in {400, 422, 500} or not SLIP.search(refusal.words):
        return None
    error = refusal.body.get("error") if isinstance(refusal.body, dict) else None
    written = error.get(_FAILED) if isinstance(error, dict) else None
    return written if isinstance(written, str) else ""


def with_slip(payload: Mapping[str, Any], written: str, detail: str) -> dict[str, Any]:
    """The request with a word to the model about its answer that could not be read."""
    wrote = f" You wrote:\n{written[:_SHOWN]}\n" if written else " "
    text = (
        f"Your last answer could not be read ({detail}).{wrote}Answer again. Call a tool only by its exact name, "
        "with arguments that are one JSON object and match its schema."
    )
    *before, last = payload["messages"]
    if last["role"] == "user" and isinstance(last.get("content"), str):
        return {**payload, "messages": [*before, {**last, "content": f"{last['content']}\n\n{text}"}]}
    return {**payload, "messages": [*before, last, {"role": "user", "content": text}]}


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """A request, and the endpoint's refusal of it."""

    memory: EndpointMemory
    refusal: Refusal
    request: Mapping[str, Any]
    """The request as sent."""
    forced: bool
    """It is for one call alone, so an endpoint without tools is asked in another way by the caller."""

    @property
    def words(self) -> str:
        """What the endpoint says."""
        return self.refusal.words


def learn(refused: RefusedRequest) -> str:
    """Change the memory so that the next request is another one; returns what was learnt, empty if nothing was."""
    if not refused.refusal.speaks_of_the_request:
        return ""
    for rule in _RULES:
        lesson = rule(refused)
        if lesson and lesson not in refused.memory.learnt:
            refused.memory.learnt.append(lesson)
            return lesson
    return ""


def _effort(refused: RefusedRequest) -> str:
    """Tools and reasoning only by the Responses API: without reasoning it takes them here."""
    if not _RESPONSES.search(refused.words) or "reasoning_effort" not in refused.words:
        return ""
    refused.memory.without.add("reasoning_effort")
    refused.memory.fixed["reasoning_effort"] = "none"
    return "it takes tools only without reasoning: reasoning_effort is none"


def _api(refused: RefusedRequest) -> str:
    """A model that chat completions do not have."""
    if not _RESPONSES.search(refused.words) or refused.memory.has_fixed_api or refused.memory.api == "responses":
        return ""
    refused.memory.api = "responses"
    return "the model has only the Responses API, which is used"


def _items(refused: RefusedRequest) -> str:
    """Reasoning of earlier answers that a server of the Responses API does not take back."""
    sent = any(item.get("type") == "reasoning" for item in refused.request.get("input") or ())
    if not sent or not _ITEM.search(refused.words) or ITEMS in refused.memory.refused_fields:
        return ""
    refused.memory.refused_fields.add(ITEMS)
    return "reasoning is not sent back"


def _signatures(refused: RefusedRequest) -> str:
    if not _SIGNATURE.search(refused.words) or refused.memory.signed:
        return ""
    refused.memory.signed = True
    refused.memory.needed_fields.discard("extra_content")
    refused.memory.refused_fields.discard("extra_content")
    return "calls without a signature get the documented substitute"


def _needed(refused: RefusedRequest) -> str:
    """A field of earlier answers that has to be there."""
    if not _NEEDED.search(refused.words):
        return ""
    names = [name for name in REASONING if re.search(rf"\b{name}\b", refused.words)]
    if not names or names[0] in refused.memory.needed_fields:
        return ""
    refused.memory.needed_fields.add(names[0])
    return f"{names[0]} is sent back with every call"


def _order(refused: RefusedRequest) -> str:
    if not _ORDER.search(refused.words) or refused.memory.alternates:
        return ""
    refused.memory.alternates = True
    return "a note joins the message before it: roles have to alternate"


def _ids(refused: RefusedRequest) -> str:
    long = _LONG_ID.search(refused.words)
    pattern = r"[a-zA-Z0-9]{9}" if _SHORT_ID.search(refused.words) else ""
    if long and len(long[1]) <= _FIGURES and int(long[1]) >= _SHORTEST_ID:
        pattern = rf"(?s).{{1,{int(long[1])}}}"
    if not pattern or refused.memory.call_id == pattern:
        return ""
    refused.memory.call_id = pattern
    return f"ids of calls have the form {pattern}"


def _tools(refused: RefusedRequest) -> str:
    offered = refused.request.get("tools") and not refused.forced
    if not offered or not _TOOLS.search(refused.words):
        return ""
    refused.memory.prompted = True
    return "it does not support tools: they are described in the prompt, and calls are read from the text"


def _choice(refused: RefusedRequest) -> str:
    wanted = refused.request.get("tool_choice")
    if wanted is None or not _CHOICE.search(refused.words):
        return ""
    if wanted == "none":
        refused.memory.choice_refused = True
        return "tool_choice is left out"
    used = "required" if wanted == "required" else "named"
    choices = refused.memory.choices
    left = choices[choices.index(used) + 1 :] if used in choices else ()
    if _THINKS.search(refused.words):  # in thinking mode neither form is taken, wherever that is said
        left = ()
    refused.memory.forms = left or ("auto",)
    return "tool_choice names no tool" if refused.memory.forms[0] == "required" else "tool_choice is left out"


def _fields(refused: RefusedRequest) -> str:
    """A field of earlier answers that it does not take back."""
    parameters = refused.request.keys()
    about_messages = re.search(r"messages|assistant", refused.words)
    for name in sorted(added_fields(refused.request) - refused.memory.needed_fields):
        named = re.search(rf"\b{re.escape(name)}\b", refused.words)
        if named and _REFUSING.search(refused.words) and (about_messages or name not in parameters):
            refused.memory.refused_fields.add(name)
            return f"{name} is not sent back"
    return ""


def _schema(refused: RefusedRequest) -> str:
    """A keyword of a JSON schema that it does not know."""
    if not _REFUSING.search(refused.words):
        return ""
    for name in sorted(schema_keywords(refused.request) - refused.memory.keywords):
        if re.search(rf"[\"'`]{re.escape(name)}[\"'`]|/{re.escape(name)}\b|: {re.escape(name)} is not", refused.words):
            refused.memory.keywords.add(name)
            return f"schemas go without {name}"
    return ""


def _parameters(refused: RefusedRequest) -> str:
    """A parameter that it does not take, or not with this value."""
    if not _REFUSING.search(refused.words):
        return ""
    candidates = [name for name in refused.request if name not in CORE]
    for name in sorted(candidates, key=lambda name: name != _head(refused.refusal.parameter)):
        if name == _head(refused.refusal.parameter) or _is_named(name, refused.words):
            return _leave_out(refused.memory, name)
    if refused.refusal.parameter == "stream" or re.search(r"[\"'`]stream[\"'`]", refused.words):
        return _leave_out(refused.memory, "stream")
    return ""


def _head(parameter: str) -> str:
    """The parameter of a request that a path such as `reasoning.effort` leads into."""
    return re.split(r"[.\[]", parameter, maxsplit=1)[0]


def _leave_out(memory: EndpointMemory, name: str) -> str:
    original = next((old for old, new in memory.renamed.items() if new == name), name)
    if original in RENAMES and original not in memory.renamed:
        memory.renamed[original] = RENAMES[original]
        return f"{original} is called {RENAMES[original]}"
    memory.without.add(original)
    return f"{original} is left out"


def _is_named(name: str, words: str) -> bool:
    """Whether a refusal speaks of a parameter; a name that is a common word has to be marked as one."""
    spoken = "".join(rf"_?{re.escape(letter)}" for letter in name.replace("_", ""))
    if "_" in name:
        return re.search(rf"(?i)(?<![a-z]){spoken}(?![a-z])", words) is not None
    plain = re.escape(name)
    alone = rf"(?m:^{plain}$)"
    marked = rf"[\"'`]{plain}[\"'`]|(?:parameters?|arguments?|invalid|supplied|supports?|field)\W{{1,3}}{plain}\b"
    subject = rf"(?<!\bthe )(?<!\ba )(?<!\byour )\b{plain}\b\W{{0,3}}(?:is|are|does|only|must|=)"
    return re.search(rf"(?i){marked}|{subject}|{alone}", words) is not None


def _bare(refused: RefusedRequest) -> str:
    """A refusal that names nothing, of a request with fields that not every server takes: once without them."""
    others = added_fields(refused.request) - refused.memory.needed_fields
    if refused.memory.bare or refused.refusal.status not in {400, 422} or not others:
        return ""
    refused.memory.bare = True
    return "only the standard fields are sent back"


Rule = Callable[[RefusedRequest], str]

_RULES: Final[tuple[Rule, ...]] = (
    _effort,
    _api,
    _items,
    _signatures,
    _needed,
    _order,
    _ids,
    _tools,
    _choice,
    _fields,
    _schema,
    _parameters,
    _bare,
)
"""What may be learnt of one refusal, the most specific first."""
