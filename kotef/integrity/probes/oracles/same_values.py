"""Same values: replacements for a literal of a test with different text and the same meaning."""

import ast
import math
import random
from collections.abc import Collection

from kotef.integrity.probes.oracles.near_values import constant


def same_python(node: ast.expr, segment: str, _: Collection[object], chance: random.Random) -> str | None:
    """An expression with the value and the type of the constant, of which neither text nor constants are the same.

    It needs no name, because a module may bind any, and Python does not compute it before it runs.
    """
    value = constant(node)
    match value:
        case _ if "\n" in segment:
            return None
        case bool():
            return f"(not {not value})"
        case int():
            part = chance.randint(2, 97)
            return f"({value - part}).__add__({part})"
        case float():
            return _same_float(value)
        case str() | bytes():
            at = chance.randint(1, max(1, len(value) - 1))
            return f"{value[:at]!r}.__add__({value[at:]!r})"
        case _:
            return None


def _same_float(value: float) -> str | None:
    double = value * 2
    is_exact = math.isfinite(double) and double / 2 == value
    return f"({double!r}).__truediv__(2.0)" if is_exact else None
