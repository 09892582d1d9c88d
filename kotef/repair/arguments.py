"""Generation of argument values similar to recorded ones."""

import ast
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, permutations
from typing import Any, Final

_GENERATED: Final = 120
_SEED: Final = 7
_AROUND: Final = 80
"""Arguments made from the constants of the edits."""
_LONGEST: Final = 1000
"""Items of a text or list that is made as long as a constant."""
_FEW: Final = 8
"""Values of one parameter, and constants, that are combined."""


def generated(calls: Sequence[str]) -> Iterator[str]:
    """Arguments like the recorded ones: values changed a little, and values of other calls put together.

    What all recorded values have in common stays: sorted lists stay sorted, no negative numbers where there were none,
    one number not above another where it never was. An object is taken as it was seen: others may not be possible.
    """
    rows = [row for row in map(_value, calls) if row]
    ordered = _ordered(rows)
    chance = random.Random(_SEED)  # noqa: S311 - the same arguments each time
    seen = set(calls)
    for _ in range(_GENERATED if rows else 0):
        row = dict(chance.choice(rows))
        for name, old in list(row.items()):
            if name == "self":
                continue
            pool = [other[name] for other in rows if name in other]
            draw = chance.random()
            if draw < 0.35:
                row[name] = chance.choice(pool)
            elif draw < 0.85:
                row[name] = like(pool, varied(old, chance))
        literal = repr(row)
        if literal not in seen and all(row[low] <= row[high] for low, high in ordered):
            seen.add(literal)
            yield literal


def around(calls: Sequence[str], constants: Sequence[float]) -> Iterator[str]:
    """Arguments where edits that put in different constants may part: those numbers, and values as far apart as they.

    A call whose argument is 11 distinguishes `% 20` from `% 100` with 31, which no small change of what was seen would
    reach.
    """
    rows = [row for row in map(_value, calls) if row]
    ordered = _ordered(rows)
    names = dict.fromkeys(name for row in rows for name in row if name != "self")
    made = [text for name in names for text in _with_moved(name, rows, constants)]

    new = [text for text in dict.fromkeys(made) if text not in calls]
    kept = [text for text in new if _keeps_order(_value(text), ordered)]
    chance = random.Random(_SEED)  # noqa: S311 - the same arguments each time
    yield from chance.sample(kept, min(len(kept), _AROUND))


def _with_moved(name: str, rows: Sequence[dict[str, Any]], constants: Sequence[float]) -> Iterator[str]:
    """A call that was seen, with other values of one argument; a few of its values are moved."""
    holder = next(row for row in rows if name in row)
    pool = [row[name] for row in rows if name in row]
    by_text = {repr(value): value for value in pool}
    step = max(1, len(by_text) // _FEW)
    for text in list(by_text)[::step]:
        for moved in _moved(by_text[text], constants[:_FEW]):
            yield repr({**holder, name: like(pool, moved)})


def _keeps_order(row: Mapping[str, Any], ordered: Iterable[tuple[str, str]]) -> bool:
    return all(row[low] <= row[high] for low, high in ordered)


def _moved(value: Any, constants: Sequence[float]) -> Iterator[Any]:
    """A number moved by each constant or set beside it; a text or list made as long as it."""
    for constant in constants:
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield from (value + constant, value - constant, constant, constant + 1, constant - 1)
        elif isinstance(value, str | bytes | list | tuple) and value and 0 < constant <= _LONGEST:
            for length in {int(constant) - 1, int(constant), int(constant) + 1}:
                yield (value * (length // len(value) + 1))[:length]


def _ordered(rows: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Pairs of numeric parameters of which the first was never above the second, and not always equal to it."""
    if len(rows) < 2:
        return []
    numeric = [name for name in rows[0] if all(_is_number(row.get(name)) for row in rows)]
    return [
        (low, high)
        for low, high in permutations(numeric, 2)
        if all(row[low] <= row[high] for row in rows) and any(row[low] < row[high] for row in rows)
    ]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _value(literal: str) -> dict[str, Any]:
    try:
        row = ast.literal_eval(literal)
    except ValueError:  # it holds an infinity or a frozenset
        return {}
    return row if isinstance(row, dict) else {}


def varied(value: Any, chance: random.Random) -> Any:
    """The value changed a little; itself where nothing is known to change."""
    match value:
        case bool():
            return not value
        case int():
            near = (value + 1, value - 1, value + 2, value * 2, value // 2, value + 5, 0, 1, -value)
            return chance.choice((*near, *_round(value)))
        case float():
            return chance.choice((value + 1, value - 1, value * 2, value / 2, -value))
        case str() | bytes():
            return _varied_text(value, chance)
        case list() | tuple():
            return type(value)(_varied_list(list(value), chance))
        case dict() if value:
            key = chance.choice(list(value))
            return {**value, key: varied(value[key], chance)}
        case _:
            return value


def _round(value: int) -> tuple[int, ...]:
    """Round numbers up to about the size of the value: in decimal, and in bytes."""
    return tuple(number for number in (10, 100, 256, 1000, 65536) if number <= 2 * abs(value))


def _varied_text(value: Any, chance: random.Random) -> Any:
    """Variants of a text or bytes: a piece of it, other pieces, or the same with blanks around it."""
    blank: Any = " " if isinstance(value, str) else b" "
    if not value:
        return value
    place = chance.randrange(len(value))
    one = value[place : place + 1]
    first, last = value[:1], value[-1:]
    return chance.choice(
        (
            *(value[1:], value[:-1], value[::-1], value + one, value[:place] + value[place + 1 :], value * 2),
            *(last + value, value + first, last + value + first, blank + value, value + blank),
        )
    )


def _varied_list(value: list[Any], chance: random.Random) -> list[Any]:
    if not value:
        return value
    place = chance.randrange(len(value))
    changed = [*value[:place], varied(value[place], chance), *value[place + 1 :]]
    repeated = [*value[:place], value[place], *value[place:]]
    shuffled = chance.sample(value, len(value))
    return chance.choice((changed, changed, repeated, value[1:], value[:-1], value[::-1], shuffled, value + value))


def like(pool: list[Any], value: Any) -> Any:
    """The value, made to keep what all of the pool share."""
    if isinstance(value, tuple) and all(isinstance(other, tuple) for other in pool):
        return tuple(like([list(other) for other in pool], list(value)))
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
