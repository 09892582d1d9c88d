"""Minification of tool schemas, which every request repeats."""

from collections.abc import Mapping
from typing import Any, Final

BOUNDS: Final = frozenset(
    {
        *("default", "title", "additionalProperties", "minItems", "maxItems", "minLength", "maxLength"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    }
)
"""Schema keywords that a call does not need, because breaking a limit returns an error."""


def lean(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of a model's arguments with its definitions put in place, without bounds and doc strings."""
    definitions = schema.get("$defs", {})
    whole = {name: value for name, value in schema.items() if name not in ("$defs", "description")}
    return _lean(whole, definitions)  # type: ignore[no-any-return]  # an object becomes an object


def _lean(value: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_lean(one, definitions) for one in value]
    if not isinstance(value, dict):
        return value
    value = _meant(value, definitions)
    return {
        name: {field: _lean(one, definitions) for field, one in part.items()}
        if name == "properties"
        else _lean(part, definitions)
        for name, part in value.items()
        if name not in BOUNDS
    }


def _meant(value: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The target of a reference, without its description; X for `X or null`."""
    options = [one for one in value.get("anyOf", ()) if one != {"type": "null"}]
    if len(options) == 1:
        value = {**options[0], **{name: part for name, part in value.items() if name != "anyOf"}}
    if reference := value.get("$ref"):
        found = {
            name: part for name, part in definitions[reference.rpartition("/")[2]].items() if name != "description"
        }
        return {**found, **{name: part for name, part in value.items() if name != "$ref"}}
    return value
