"""Python expressions that stand around another one: a value of its type that cannot be equal, and a failure."""

import random
from typing import Final

from kotef.probes.oracles.near_values import random_word

NEEDED: Final = frozenset(
    {"abs", "bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "int", "isinstance", "list",
     "object", "set", "str", "tuple"}
)  # fmt: skip
"""Names of Python itself that the expressions use: a module that binds one of them cannot be changed so."""

_UNEQUAL: Final = (
    "(lambda v: not v if isinstance(v, bool)"
    " else (v + {step} * (1 + abs(v)) if abs(v) < 1e300 else 0) if isinstance(v, (int, float, complex))"
    ' else v + "{letter}" if isinstance(v, str)'
    ' else v + b"{letter}" if isinstance(v, (bytes, bytearray))'
    " else [*v, {number}] if isinstance(v, list)"
    " else (*v, {number}) if isinstance(v, tuple)"
    ' else {{*v, "{word}"}} if isinstance(v, (set, frozenset))'
    ' else {{**v, "{word}": {number}}} if isinstance(v, dict)'
    " else {number} if v is None else object())("
)


def unequal(chance: random.Random, tolerance: float = 0) -> tuple[str, str]:
    """What to put in front of an expression and behind it, so that a comparison with its value must fail.

    The expression is evaluated once, and its value is not changed. Numbers move by more than the tolerance.
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
