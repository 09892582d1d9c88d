"""JSON from models and servers: its bounds, which JSON itself does not have."""

import json
import math
import re
from collections.abc import Iterable
from typing import Any, Final

from kotef.redaction import encodable

MAX_DEPTH: Final = 50
"""Lists and objects inside each other in the arguments of a call: programs that read them count on a stack."""
DEEPEST: Final = 100
"""The same in what a server sends; no server nests its answers like that."""
DEEPEST_FIELD: Final = 32
"""Levels that are kept of a field, or of an error."""
LARGEST: Final = 2**63
"""Beyond it, and below its negative, a checkpoint holds no integer."""

_LONE: Final = re.compile(r"[\ud800-\udfff]")


def parsed(text: str | bytes) -> Any:
    """The value. Raises ValueError for what is not JSON or is nested too deeply to be read safely."""
    try:
        value = json.loads(text)
    except RecursionError:
        value = None
    else:
        if not _is_deeper(value, DEEPEST):
            return value
    raise ValueError(f"it is nested more than {DEEPEST} levels deep")


def unfit(value: object) -> str:
    """Why a value can neither be kept in a checkpoint nor sent back; empty if it can."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        if reason := next((reason for one in level if (reason := _unfit_value(one))), ""):
            return reason
        level = _inside(level)
        if not level:
            return ""
    return f"they are nested more than {MAX_DEPTH} levels deep"


def plain_value(value: Any, depth: int = 0) -> Any:
    """The value as JSON and a checkpoint can hold it; what is nested too deeply, or is not a number, becomes null."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case int() if not -LARGEST <= value < LARGEST:
            return None
        case dict() | list() if depth >= DEEPEST_FIELD:
            return None
        case dict():
            return {encodable(str(name)): plain_value(one, depth + 1) for name, one in value.items()}
        case list():
            return [plain_value(one, depth + 1) for one in value]
        case _:
            return value


def _is_deeper(value: object, levels: int) -> bool:
    level: list[Any] = [value]
    for _ in range(levels + 1):
        level = _inside(level)
        if not level:
            return False
    return True


def _inside(level: Iterable[Any]) -> list[Any]:
    """The members of all lists, and the names and values of all objects, of one level."""
    found: list[Any] = []
    for one in level:
        if isinstance(one, dict):
            found += [*one, *one.values()]
        elif isinstance(one, list):
            found += one
    return found


def _unfit_value(value: object) -> str:
    if isinstance(value, int) and not -LARGEST <= value < LARGEST:
        return "they contain a number of more than 64 bits"
    if isinstance(value, float) and not math.isfinite(value):
        return "they contain a number that is too large"
    if isinstance(value, str) and _LONE.search(value):
        return "they contain half of a character (a lone surrogate)"
    return ""
