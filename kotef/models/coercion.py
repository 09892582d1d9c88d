"""Coercion of values that a model wrote as text."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_INTEGER: Final = re.compile(r"[-+]?\d{1,18}")
_NUMBER: Final = re.compile(r"[-+]?(?:\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(?:[eE][-+]?\d{1,3})?")
_WORDS: Final[dict[str, dict[str, bool | None]]] = {
    "boolean": {"true": True, "false": False},
    "null": {"null": None, "none": None},
}
_CONTAINERS: Final = {"array": list, "object": dict}


def coerced(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call that was written as text, each text that is no text by `schema` as what it says.

    `schema` is the JSON schema of the tool's parameters, without references. What does not read as one of the types
    that the schema allows stays as it is, for the tool to refuse; so does everything that may be text.
    """
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    return {name: _coerced(value, set(_types(known.get(name)))) for name, value in arguments.items()}


def _types(schema: object) -> Iterator[str]:
    """The types that a value may have; none where the schema does not say."""
    if not isinstance(schema, dict):
        return
    kind = schema.get("type")
    if isinstance(kind, str):
        yield kind
    elif isinstance(kind, list):
        yield from (one for one in kind if isinstance(one, str))
    for way in ("anyOf", "oneOf"):
        ways = schema.get(way)
        for one in ways if isinstance(ways, list) else ():
            yield from _types(one)


def _coerced(value: object, types: set[str]) -> object:
    if not isinstance(value, str) or "string" in types:
        return value
    text = value.strip()
    if "integer" in types and _INTEGER.fullmatch(text):
        return int(text)
    if "number" in types and _NUMBER.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    for kind, words in _WORDS.items():
        if kind in types and text.casefold() in words:
            return words[text.casefold()]
    if types & set(_CONTAINERS) and text[:1] in {"[", "{"}:
        return _container(text, types, value)
    return value


def _container(said: str, types: set[str], value: str) -> object:
    try:
        read = json.loads(said)
    except (ValueError, RecursionError):
        return value
    return read if any(kind in types and isinstance(read, shape) for kind, shape in _CONTAINERS.items()) else value
