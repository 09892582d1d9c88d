"""Tool calls that a model wrote as text."""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any, Final
from uuid import uuid4

from langchain_core.messages import ToolCall
from langchain_core.messages.tool import tool_call

_OPENING: Final = re.compile(r"<tool_call>\s*|<function=([\w.-]+)>\s*")
_PARAMETER: Final = re.compile(r"\s*<parameter=([\w.-]+)>\n?")
_FENCE: Final = re.compile(r"```[\w-]*\n(.*?)```", re.DOTALL)
_ENDS: Final = re.compile(r"(?:</tool_call>|</function>|```|[}\]])\s*(?:<\|\w+\|>\s*)*\Z")
"""How a text ends that ends in a call; after it only the special tokens of chat templates."""
_ARGUMENT_KEYS: Final = ("arguments", "parameters", "args")
_CALL_KEYS: Final = frozenset({"id", "type", "name", *_ARGUMENT_KEYS})

_DECODER: Final = json.JSONDecoder()


def rescue_tool_calls(text: str, known: Collection[str]) -> list[ToolCall]:
    """The calls written in `text`, in order, each with a fresh id: only whole ones, and only of tools in `known`.

    Read are `<tool_call>{json}</tool_call>` (Hermes, Qwen), `<function=name>` with `<parameter=key>value</parameter>`
    (Qwen coder; values are text) or with JSON (Llama), and JSON with a name and arguments that is a fenced block or
    the whole text. What is ambiguous, such as a value that holds a closing tag, is not a call, and neither is what the
    text continues after: a model that quotes a call speaks of it, one that makes a call stops and waits for its result.
    """
    spoken = text.rpartition("</think>")[2].partition("<think>")[0]
    if not _ENDS.search(spoken):
        return []
    found = list(_tagged(spoken)) or list(_plain(spoken))
    return [tool_call(name=name, args=args, id=f"call_{uuid4().hex[:24]}") for name, args in found if name in known]


def _tagged(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls between tags, up to the first that is broken: what follows it may have been meant to come after it."""
    position = 0
    while opening := _OPENING.search(text, position):
        position = opening.end()
        name = opening[1]
        if text[position : position + 1] in {"{", "["}:
            value, position = _json_before(text, position, "</function>" if name else "</tool_call>")
            if value is None:
                return
            yield from [(name, value)] if name and isinstance(value, dict) else _named(value)
        elif name:
            close = text.find("</function>", position)
            args = _parameters(text[position:close]) if close >= 0 else None
            if args is None:
                return
            yield name, args
            position = close


def _json_before(text: str, start: int, closing: str) -> tuple[Any, int]:
    """The JSON value at `start` and its end; None unless only space is between it and `closing`."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start
    return (value, end) if text[end : end + 64].lstrip().startswith(closing) else (None, start)


def _parameters(body: str) -> dict[str, str] | None:
    """Parameters of one function body; None unless they are all of it."""
    args: dict[str, str] = {}
    position = 0
    while opening := _PARAMETER.match(body, position):
        close = body.find("</parameter>", opening.end())
        if close < 0:
            return None
        args[opening[1]] = body[opening.end() : close].removesuffix("\n")
        position = close + len("</parameter>")
    return None if body[position:].strip() else args


def _plain(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls in fenced blocks, or in a text that is only JSON."""
    for block in _FENCE.findall(text) or [text]:
        if block.lstrip()[:1] in {"{", "["}:
            try:
                yield from _named(json.loads(block))
            except (ValueError, RecursionError):
                continue


def _named(value: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and arguments of a call, or of each call of a list; nothing if another key says it is something else."""
    if isinstance(value, list):
        for one in value:
            if isinstance(one, dict):
                yield from _named(one)
        return
    if not isinstance(value, dict):
        return
    function = value.get("function")
    call: dict[str, Any] = function if isinstance(function, dict) else value
    args = next((call[key] for key in _ARGUMENT_KEYS if key in call), None)
    if isinstance(args, str):
        try:
            args = json.loads(args)
        except (ValueError, RecursionError):
            return
    name = call.get("name")
    if isinstance(name, str) and isinstance(args, dict) and _CALL_KEYS.issuperset(call):
        yield name, args
