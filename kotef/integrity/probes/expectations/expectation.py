"""An expectation of a test, and whether two expectations contradict each other."""

import ast
import math
import re
from dataclasses import dataclass
from typing import Final, Literal

Relation = Literal["==", "!=", "true", "false", "raises"]

_VERSION: Final = re.compile(r"v?\d+(?:\.\d+)+")
_NEAR: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Expectation:
    """What one assertion wants of one expression."""

    path: str
    line: int
    test: str
    """Parts of the id below the file, as `TestCart::test_total[1-2]`."""
    key: str
    """All that decides the value of the expression: equal keys are the same evaluation."""
    shown: str
    """The expression as a person reads it."""
    relation: Relation
    value: object = None
    """The literal it is compared with, as Python or as text; None with `true` and `false`."""
    expected: str = ""
    """The literal or the exception, as written."""
    is_repeated: bool = False
    """The same test has evaluated the expression before: it may be meant to change."""

    @property
    def place(self) -> str:
        """`path:line`."""
        return f"{self.path}:{self.line}"

    @property
    def words(self) -> str:
        """The expectation in words: `total([1, 2]) == 3`."""
        if self.relation in {"==", "!="}:
            return f"{self.shown} {self.relation} {self.expected}"
        if self.relation == "raises":
            return f"{self.shown} raises {self.expected}"
        return f"{self.shown} is {self.relation}"


def exclude_each_other(one: Expectation, other: Expectation) -> bool:
    """Whether no value meets both. False if an object with an equality of its own could."""
    relations = {one.relation, other.relation}
    is_repeated = one.is_repeated or other.is_repeated
    if relations == {"true", "false"} or (len(relations) > 1 and "raises" in relations):
        return not is_repeated
    if relations == {"==", "!="}:
        return type(one.value) is type(other.value) and one.value == other.value and not is_repeated
    if relations != {"=="} or not _are_different(one.value, other.value):
        return False
    return not (is_repeated and _may_be_states(one.value, other.value))


def literal(node: ast.expr) -> tuple[object] | None:
    """The value of a literal, in a tuple; None if the expression is more than that."""
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _are_different(one: object, other: object) -> bool:
    if one is None or other is None:
        return one is not other
    if isinstance(one, int | float | complex) and isinstance(other, int | float | complex):
        return one != other and not _are_near(one, other)
    if type(one) is not type(other):
        return False
    if isinstance(one, str) and isinstance(other, str) and _VERSION.fullmatch(one) and _VERSION.fullmatch(other):
        return _version(one) != _version(other)
    return one != other


def _are_near(one: complex, other: complex) -> bool:
    if isinstance(one, int) and isinstance(other, int):
        return False
    try:
        return abs(one - other) <= _NEAR * max(1.0, abs(one), abs(other)) or not math.isfinite(abs(one - other))
    except OverflowError:
        return True


def _version(text: str) -> list[int]:
    numbers = [int(part) for part in text.removeprefix("v").split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers


def _may_be_states(one: object, other: object) -> bool:
    """Whether the two values look like states that a thing goes through: on and off, some and none, more and more."""
    if isinstance(one, bool) or isinstance(other, bool) or bool(one) != bool(other):
        return True
    if isinstance(one, str | list | tuple) and isinstance(other, str | list | tuple):
        return one[: len(other)] == other or other[: len(one)] == one
    if isinstance(one, set | frozenset) and isinstance(other, set | frozenset):
        return one <= other or other <= one
    return isinstance(one, dict) and isinstance(other, dict)
