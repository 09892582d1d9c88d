"""On which arguments do edits that pass the same tests differ?"""

import ast
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from kotef.coders.repair.model import Disagreement
from kotef.coders.repair.session import Session

_RECORDED: Final = 24
_GENERATED: Final = 60
_EACH: Final = 0.2
"""Seconds one call may take."""
_KEPT: Final = 3
_SEED: Final = 7


async def compare(
    session: Session,
    units: Sequence[list[dict[str, Any]]],
    function: tuple[str, int, str],
    calls: Sequence[str],
    *,
    wall: float,
) -> tuple[Disagreement, ...]:
    """Call a function under each candidate; the first few arguments on which two of them return different values.

    `units` is one list per candidate, `function` is path, first line and name, `calls` are arguments the tests gave.
    A call counts only where no candidate raises or hangs: outside what a function is for, errors prove nothing.
    """
    arguments = [*calls[:_RECORDED], *generated(calls[:_RECORDED])]
    path, line, name = function
    request = {"do": "probe", "path": path, "line": line, "name": name, "arguments": arguments, "each": _EACH}
    results: list[Mapping[int, str]] = []
    for candidate in units:
        answer = await session.ask({**request, "units": candidate, "cpu": wall, "wall": wall})
        results.append({word[1]: word[2] for word in answer.told if word[0] == "result"})
    found: list[Disagreement] = []
    for number, literal in enumerate(arguments):
        told = [result.get(number, "") for result in results]
        certain = all(text and not text.startswith(("raises ", "it does not end")) for text in told)
        if certain and len(set(told)) > 1:
            found.append(Disagreement(name, spelled(literal), tuple(told)))
    found.sort(key=lambda item: len(item.arguments))
    return tuple(found[:_KEPT])


def spelled(literal: str) -> str:
    """`{'a': 1}` as the arguments of a call: `a=1`."""
    tree = ast.parse(literal, mode="eval").body
    assert isinstance(tree, ast.Dict)
    pairs = zip(tree.keys, tree.values, strict=True)
    return ", ".join(f"{ast.literal_eval(key)}={ast.unparse(value)}" for key, value in pairs if key is not None)


def generated(calls: Sequence[str]) -> Iterator[str]:
    """Arguments like the recorded ones: values changed a little, and values of other calls put together.

    What all recorded values of a parameter have in common stays: sorted lists stay sorted, no negative numbers where
    there were none.
    """
    rows = [row for row in map(_value, calls) if row]
    chance = random.Random(_SEED)  # noqa: S311 - the same arguments each time
    seen = set(calls)
    for _ in range(_GENERATED if rows else 0):
        row = dict(chance.choice(rows))
        for name, old in list(row.items()):
            pool = [other[name] for other in rows if name in other]
            draw = chance.random()
            if draw < 0.35:
                row[name] = chance.choice(pool)
            elif draw < 0.85:
                row[name] = _like(pool, _varied(old, chance))
        literal = repr(row)
        if literal not in seen:
            seen.add(literal)
            yield literal


def _value(literal: str) -> dict[str, Any]:
    try:
        row = ast.literal_eval(literal)
    except ValueError:  # it holds an infinity or a frozenset
        return {}
    return row if isinstance(row, dict) else {}


def _varied(value: Any, chance: random.Random) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return chance.choice((value + 1, value - 1, value + 2, value * 2, value // 2, value + 5, 0, 1, -value))
        case float():
            return chance.choice((value + 1, value - 1, value * 2, value / 2, -value))
        case str():
            return _varied_text(value, chance)
        case list() | tuple():
            return type(value)(_varied_list(list(value), chance))
        case dict() if value:
            key = chance.choice(list(value))
            return {**value, key: _varied(value[key], chance)}
        case _:
            return value


def _varied_text(value: str, chance: random.Random) -> str:
    if not value:
        return value
    place = chance.randrange(len(value))
    return chance.choice(
        (value[1:], value[:-1], value[::-1], value + value[place], value[:place] + value[place + 1 :], value * 2)
    )


def _varied_list(value: list[Any], chance: random.Random) -> list[Any]:
    if not value:
        return value
    place = chance.randrange(len(value))
    changed = [*value[:place], _varied(value[place], chance), *value[place + 1 :]]
    repeated = [*value[:place], value[place], *value[place:]]
    shuffled = chance.sample(value, len(value))
    return chance.choice((changed, changed, repeated, value[1:], value[:-1], value[::-1], shuffled, value + value))


def _like(pool: list[Any], value: Any) -> Any:
    """The value, made to keep what all of the pool share."""
    if isinstance(value, list) and all(isinstance(other, list) for other in pool):
        numbers = [item for other in pool for item in other if isinstance(item, int | float)]
        if numbers and min(numbers) >= 0:
            value = [abs(item) if isinstance(item, int | float) else item for item in value]
        if all(_is_sorted(other) for other in pool) and any(len(other) > 2 for other in pool):
            try:
                value = sorted(value)
            except TypeError:  # of mixed kinds
                return pool[0]
        return value if value or not all(pool) else pool[0]
    if isinstance(value, int | float) and not isinstance(value, bool):
        numbers = [other for other in pool if isinstance(other, int | float)]
        if numbers and value < 0 <= min(numbers):
            return abs(value)
        if numbers and value == 0 and 0 not in numbers:
            return numbers[0]
    return value if value or not all(pool) else pool[0]


def _is_sorted(value: list[Any]) -> bool:
    try:
        return all(first <= second for first, second in pairwise(value))
    except TypeError:  # of mixed kinds
        return False
