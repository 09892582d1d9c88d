"""Tool calls that a model wrote as text."""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any, Final, NamedTuple
from uuid import uuid4

from langchain_core.messages import ToolCall
from langchain_core.messages.tool import tool_call

_OPENING: Final = re.compile(r"<tool_call>\s*|<function=([\w.-]+)>\s*")
_CLOSING: Final = re.compile(r"</(?:tool_call|function)>")
_NAMED: Final = re.compile(r"<name>\s*([\w.-]+)\s*</name>\s*<(arguments|parameters|args)>\s*")
_CHILD: Final = re.compile(r"\s*<([\w.-]+)>\n?")
_PARAMETER: Final = re.compile(r"\s*<parameter=([\w.-]+)>\n?")
_FENCE: Final = re.compile(r"```[\w-]*\n(.*?)```", re.DOTALL)
_ENDS: Final = re.compile(r"(?:</tool_call>|</function>|```|[}\]])\s*(?:<\|\w+\|>\s*)*\Z")
"""How a text ends that ends in a call; after it only the special tokens of chat templates."""
_ARGUMENT_KEYS: Final = ("arguments", "parameters", "args")
_CALL_KEYS: Final = frozenset({"id", "type", "name", *_ARGUMENT_KEYS})

_DECODER: Final = json.JSONDecoder()


class TextCalls(NamedTuple):
    """What a text that stands where calls should holds of them."""

    calls: list[ToolCall]
    """The whole ones, in order, each with a fresh id, whatever tool they name."""
    broken: bool = False
    """Whether the text ends in the beginning of a call, or in one that cannot be read, and holds no whole one."""


def rescue_tool_calls(text: str, known: Collection[str]) -> list[ToolCall]:
    """The calls written in `text`: only whole ones, and only of tools in `known`."""
    return [call for call in text_calls(text).calls if call["name"] in known]


def text_calls(text: str) -> TextCalls:
    """The calls written in `text`.

    Read are `<tool_call>{json}</tool_call>` (Hermes, Qwen), `<tool_call>` with `<name>` and `<arguments>` (JSON, or a
    tag for each), `<function=name>` with `<parameter=key>value</parameter>` (Qwen coder; values are text) or with JSON
    (Llama), and JSON with a name and arguments that is a fenced block or the whole text. What is ambiguous, such as a
    value that holds a closing tag, is not a call, and neither is what the text continues after: a model that quotes a
    call speaks of it, one that makes a call stops and waits for its result.
    """
    spoken = text.rpartition("</think>")[2].partition("<think>")[0]
    if not _ENDS.search(spoken):
        return TextCalls([], broken=_is_cut_off(spoken))
    found = list(_tagged(spoken)) or list(_plain(spoken))
    calls = [tool_call(name=name, args=args, id=f"call_{uuid4().hex[:24]}") for name, args in found]
    return TextCalls(calls, broken=not calls and _OPENING.search(spoken) is not None)


def _is_cut_off(text: str) -> bool:
    """Whether a text ends within a call: nothing closes what was opened last."""
    position = max(text.rfind("<tool_call>"), text.rfind("<function="))
    return position >= 0 and not _CLOSING.search(text, position) and bool(_OPENING.match(text, position))


def _tagged(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls between tags, up to the first that is broken: what follows it may have been meant to come after it."""
    position = 0
    while opening := _OPENING.search(text, position):
        position = opening.end()
        name = opening[1]
        if named := None if name else _NAMED.match(text, position):
            args, position = _arguments(text, named)
            if args is None:
                return
            yield named[1], args
        elif text[position : position + 1] in {"{", "["}:
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


def _arguments(text: str, named: re.Match[str]) -> tuple[dict[str, Any] | None, int]:
    """The arguments after a name between tags, and their end; None unless they are all that the call holds."""
    closing, start = f"</{named[2]}>", named.end()
    if text[start : start + 1] == "{":
        value, end = _json_before(text, start, closing)
        close = text.find(closing, end)
    else:
        close = text.find(closing, start)
        value = _children(text[start:close]) if close >= 0 else None
    end = close + len(closing)
    if not isinstance(value, dict) or not text[end : end + 64].lstrip().startswith("</tool_call>"):
        return None, start
    return value, end


def _children(body: str) -> dict[str, str] | None:
    """Arguments that have a tag each; None unless they are all of it."""
    args: dict[str, str] = {}
    position = 0
    while opening := _CHILD.match(body, position):
        close = body.find(f"</{opening[1]}>", opening.end())
        if close < 0 or opening[1] in args:
            return None
        args[opening[1]] = body[opening.end() : close].removesuffix("\n")
        position = close + len(opening[1]) + 3
    return None if body[position:].strip() else args


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
