"""Replacement of every text inside a nested value."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def each_text(value: T, change: Callable[[str], str]) -> T:
    """The value with every text in it changed: models, mappings, sequences; keys are kept.

    It is the same object where nothing changes.
    """
    changed: T = _changed(value, change)
    return changed


def encodable(value: T) -> T:
    """The value with lone surrogates, as in file names that are no UTF-8, replaced: they cannot be written or sent."""
    return each_text(value, _encodable)


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    match value:
        case str():
            return change(value)
        case _ if hasattr(type(value), "model_fields"):  # pydantic's, which costs too much to be imported for this
            fields = {name: getattr(value, name) for name in type(value).model_fields}
            changed = {name: new for name, old in fields.items() if (new := _changed(old, change)) is not old}
            return value.model_copy(update=changed) if changed else value
        case Mapping():
            new = {key: _changed(one, change) for key, one in value.items()}
            return new if any(new[key] is not one for key, one in value.items()) else value
        case list() | tuple() | frozenset():
            members = [_changed(one, change) for one in value]
            if all(new is old for new, old in zip(members, value, strict=True)):
                return value
            return type(value)(*members) if hasattr(value, "_fields") else type(value)(members)
        case _:
            return value
