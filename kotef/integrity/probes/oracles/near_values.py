"""Near values: wrong but plausible replacements for a literal of a test."""

import ast
import random
import re
from collections.abc import Callable, Collection, Iterable
from decimal import Decimal, InvalidOperation
from typing import Final

from kotef.integrity.probes.source_text import parsed_once

_LETTERS: Final = "cdgkmpqtvwyz"
"""Letters that begin no prefix of a literal, no suffix of a number and no escape in any of the languages."""
_ESCAPE: Final = re.compile(
    r"\\(?:x[0-9a-fA-F]{1,2}|u\{[^}]*\}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{1,3}|.)", re.DOTALL
)
_MAX_TRIALS: Final = 24
_SMALL: Final = 10
_LARGEST_TOLERANCE: Final = 1e12
_LARGEST_PLAIN: Final = Decimal(10) ** 15


def near_integer(value: int, others: Iterable[int], chance: random.Random, *, growing: bool = True) -> int:
    """Another number of about the same size, of the same sign; without `growing` of no more digits or bits."""
    size = abs(value)
    digits = str(size)

    if growing:
        found = {size - 1, size + 1, size + 2}
    elif size < _SMALL:
        found = set(range(_SMALL))
    else:
        found = {size - 1, size - 2}
    swapped = {int(digits[:at] + digits[at + 1] + digits[at] + digits[at + 2 :]) for at in range(len(digits) - 1)}
    alike = {abs(other) for other in others if len(str(abs(other))) == len(digits)}
    found |= {number for number in swapped | alike if growing or number < size}

    chosen = chance.choice(sorted(number for number in found if number > 0 and number != size))
    return -chosen if value < 0 else chosen


def near_decimal(text: str, chance: random.Random) -> str | None:
    """A decimal literal with its leading digit changed: `3.14` becomes `5.14`, suffixes stay."""
    digit = re.search(r"[1-9]", re.split(r"[eE]", text)[0])
    if digit is None:
        zero = re.match(r"0", text)
        return f"{chance.randint(1, 9)}{text[1:]}" if zero else None
    return text[: digit.start()] + _other_digit(digit[0], chance) + text[digit.end() :]


def shifted_number(text: str, tolerance: float, chance: random.Random) -> str | None:
    """A number literal moved by far more than the tolerance, absolute and up to a half relative; None for no number."""
    try:
        value = Decimal(text.replace("_", ""))
    except InvalidOperation:
        return None
    if not value.is_finite() or not tolerance < _LARGEST_TOLERANCE:
        return None
    shifted = value + (chance.randint(3, 9) + int(3 * tolerance)) * (1 + abs(value))
    rendered = f"{shifted:f}" if abs(value) < _LARGEST_PLAIN else f"{shifted:e}"
    is_float = any(sign in text.lower() for sign in ".e")
    return rendered if "." in rendered or not is_float else f"{rendered}.0"


def near_text(literal: str, chance: random.Random, is_wrong: Callable[[str], bool] = lambda _: True) -> str | None:
    """A literal of text in which one letter or digit is another, or, where it has none, one letter more.

    `literal` is as it is in the source, quotes included; `is_wrong` says whether a candidate can be used.
    """
    opening = re.search(r"['\"`]", literal)
    if opening is None:
        return None
    escaped = {at for found in _ESCAPE.finditer(literal) for at in range(*found.span())}
    places = [found.start() for found in re.finditer(r"[A-Za-z0-9]", literal)]
    places = [at for at in places if at >= opening.end() and at not in escaped]
    chance.shuffle(places)
    for at in places[:_MAX_TRIALS]:
        candidate = literal[:at] + other_character(literal[at], chance) + literal[at + 1 :]
        if is_wrong(candidate):
            return candidate
    quotes = re.search(r"(\"\"\"|'''|[\"'`])#*$", literal)
    if quotes is None:
        return None
    longer = literal[: quotes.start()] + chance.choice(_LETTERS) + literal[quotes.start() :]
    return longer if is_wrong(longer) else None


def other_character(character: str, chance: random.Random) -> str:
    """Another letter or digit of the same kind; never the same letter in the other case."""
    if character.isdigit():
        return _other_digit(character, chance)
    letter = chance.choice([letter for letter in _LETTERS if letter != character.lower()])
    return letter.upper() if character.isupper() else letter


def near_python(node: ast.expr, segment: str, alike: Collection[object], chance: random.Random) -> str | None:
    """The text of another constant of the same type; None if there is none that is surely not equal."""
    value = constant(node)
    match value:
        case bool():
            return str(not value)
        case int():
            integers = [other for other in alike if type(other) is int]
            return str(near_integer(value, integers, chance))
        case float():
            text = near_decimal(segment, chance)
            return text if text and float(text.replace("_", "")) != value else None
        case str() | bytes():
            return near_text(segment, chance, lambda text: _is_other(text, value))
        case _:
            return None


def alike_python(node: ast.expr) -> list[str]:
    """Texts of constants that share with this one what a careless comparison looks at: size, letters, ends, sign."""
    match constant(node):
        case bool():
            return []
        case int() as value:
            zeros = len(str(value)) - len(str(value).rstrip("0")) if value else 0
            step = 10**zeros
            return [str(other) for other in (value - step, value + step, value + 2 * step, -value) if other != value]
        case str() as value if len(value) > 1:
            middle = len(value) // 2
            swapped = value[: middle - 1] + value[middle - 1 : middle + 1][::-1] + value[middle + 1 :]
            shorter = value[:middle] + value[middle + 1 :]
            return [repr(other) for other in (swapped, shorter) if other.lower() != value.lower()]
        case _:
            return []


def constant(node: ast.expr) -> object:
    """The value of a constant, a signed number included; None if it is something else."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | bytes() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)) if not isinstance(
            value, bool
        ):
            return -value
        case _:
            return None


def random_word(chance: random.Random) -> str:
    """A short word that stands nowhere else, as far as chance goes."""
    return "".join(chance.choice(_LETTERS) for _ in range(6))


def _other_digit(digit: str, chance: random.Random) -> str:
    """Two or more away, for some comparisons allow for one; never 0."""
    return chance.choice([other for other in "123456789" if abs(int(other) - int(digit)) > 1])


def _is_other(text: str, value: str | bytes) -> bool:
    """Whether a changed literal is one constant of the same type that differs in more than letter case."""
    tree = parsed_once(f"({text})")
    match tree and tree.body:
        case [ast.Expr(value=ast.Constant(value=str() | bytes() as other))]:
            return type(other) is type(value) and other.lower() != value.lower()
        case _:
            return False
