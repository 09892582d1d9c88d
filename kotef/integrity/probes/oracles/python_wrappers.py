"""Python expressions that wrap another one: a value of its type that cannot be equal, and a failure."""

import random
from typing import Final

from kotef.integrity.probes.oracles.near_values import random_word

NEEDED: Final = frozenset(
    {"abs", "bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "getattr", "hasattr", "int",
     "isinstance", "iter", "list", "next", "object", "set", "str", "tuple", "type"}
)  # fmt: skip
"""Names of Python itself that the expressions use: a module that binds one of them cannot be changed so."""

_UNEQUAL: Final = (
    "(lambda v: not v if isinstance(v, bool)"
    " else complex(0, 0 if abs(v.imag) > 1 else {step}) if isinstance(v, complex)"
    " else (v + {step} * (1 + abs(v)) if abs(v) < 1e300 else 0) if isinstance(v, (int, float))"
    ' else v[:-1] + ("_" if v[-1:] == "{letter}" else "{letter}") if isinstance(v, str)'
    ' else v + b"{letter}" if isinstance(v, (bytes, bytearray))'
    " else [*v[:-1], object()] if isinstance(v, list)"
    " else (*v[:-1], object()) if isinstance(v, tuple)"
    ' else {{*list(v)[1:], "{word}"}} if isinstance(v, (set, frozenset))'
    ' else {{**v, next(iter(v), "{word}"): object()}} if isinstance(v, dict)'
    " else {number} if v is None"
    ' else next((m for m in type(v) if m is not v), object()) if hasattr(type(v), "__members__")'
    " else (lambda w: w.__dict__.update(dict.fromkeys(v.__dict__, object())) or w)(object.__new__(type(v)))"
    ' if getattr(v, "__dict__", None) and type(v).__new__ is object.__new__'
    " else object())("
)


def unequal(chance: random.Random, tolerance: float = 0) -> tuple[str, str]:
    """What to put in front of an expression and behind it, so that a comparison with its value must fail.

    The expression is evaluated once, and its value is not changed. An object of a class gets other attributes. Numbers
    move by more than the tolerance.
    """
    word = random_word(chance)
    step = chance.randint(3, 9) + int(3 * tolerance)
    front = _UNEQUAL.format(step=step, letter=word[0], word=word, number=chance.randint(2, 97))
    return front, ")"


def other_object(chance: random.Random) -> tuple[str, str]:
    """The same for a comparison by identity."""
    return "(", f", object())[{chance.choice(['1', '-1'])}]"


def failure(breaks: str) -> str:
    """An expression that raises what a failed `assert` raises; `breaks` keeps the lines below where they are."""
    return f"(_ for _ in ()).throw(AssertionError{breaks})"
