"""Literals among tokens: which one decides what a value is equal to, and its replacements."""

import random
import re
from collections.abc import Iterator
from typing import Final

from kotef.integrity.probes.oracles.near_values import near_decimal, near_integer, near_text, shifted_number
from kotef.integrity.probes.oracles.tokens import Dialect, TokenText

_SCRIPT_WRAPPERS: Final = frozenset({"stringify", "String", "Number", "BigInt", "from", "Set"})
_WRAPPERS: Final[dict[Dialect, frozenset[str]]] = {
    "javascript": _SCRIPT_WRAPPERS,
    "typescript": _SCRIPT_WRAPPERS,
    "rust": frozenset({"Some", "Ok", "Err", "from"}),
    "java": frozenset({"asList", "of"}),
    "kotlin": frozenset({"listOf", "setOf"}),
    "php": frozenset({"array"}),
}
"""Calls that hold their arguments as they are; in JavaScript the first one."""
_CONVERSIONS: Final = frozenset({"to_string", "to_owned", "into", "to_vec"})
_CHARACTERS: Final = frozenset({"go", "rust", "java", "kotlin", "c"})
"""Where single quotes hold one character."""
_CODES: Final[dict[Dialect, str]] = {"c": "\\{:03o}", "java": "\\u{:04x}", "kotlin": "\\u{:04x}"}
"""How a letter is written by its code; elsewhere by two digits of base 16."""
_INTEGER: Final = re.compile(r"(0|[1-9][\d_]*)([A-Za-z]\w*)?")
_FLOAT: Final = re.compile(r"((?:\d[\d_]*)?\.?\d[\d_]*\.?(?:[eE][+-]?\d+)?)(_?[A-Za-z]\w*)?")
_HEX: Final = re.compile(r"(0x[\da-fA-F]+)()")


def literals_in(tokens: TokenText, start: int, end: int) -> Iterator[int]:
    """Indices of literals that are in this value as they are, not as an argument or a key of it."""
    while tokens.is_sign(start, "&"):
        start += 1
    for at in range(start, end):
        if _is_literal(tokens, at) and _is_whole(tokens, at, start, end):
            yield at


def changed_literal(tokens: TokenText, at: int, chance: random.Random) -> str | None:
    """Another literal of the same type."""
    token = tokens.tokens[at]
    dialect = tokens.dialect
    if token.kind == "word":
        return {"true": "false", "false": "true"}.get(token.text)
    if token.kind == "number":
        return _changed_number(token.text, chance)
    if _is_interpolated(dialect, token.text):
        return None
    changed = near_text(token.text, chance)
    is_character = token.text.lstrip("bLuU").startswith("'") and dialect in _CHARACTERS
    return None if changed and is_character and len(changed) != len(token.text) else changed


def same_literal(tokens: TokenText, at: int, chance: random.Random) -> str | None:
    """The same literal, written otherwise: a number in base 16, a letter by its code."""
    token, dialect = tokens.tokens[at], tokens.dialect
    if token.kind == "number":
        found = _INTEGER.fullmatch(token.text)
        return f"0x{int(found[1].replace('_', '')):x}" if found and not found[2] else None
    quotes = ('"', "'") if dialect in {"javascript", "typescript"} else ('"',)
    if token.kind != "text" or not token.text.startswith(quotes) or "\\" in token.text:
        return None
    places = [found.start() for found in re.finditer("[A-Za-z]", token.text)]
    if _is_interpolated(dialect, token.text) or not places:
        return None
    place = chance.choice(places)
    code = _CODES.get(dialect, "\\x{:02x}").format(ord(token.text[place]))
    return token.text[:place] + code + token.text[place + 1 :]


def moved_number(tokens: TokenText, at: int, tolerance: float, chance: random.Random) -> str | None:
    """A number moved by far more than the tolerance; its suffix stays."""
    found = _FLOAT.fullmatch(tokens.text(at)) if tokens.tokens[at].kind == "number" else None
    shifted = shifted_number(found[1], tolerance, chance) if found else None
    return f"{shifted}{found[2] or ''}" if found and shifted else None


def number_of(tokens: TokenText, start: int, end: int) -> float | None:
    """A number that the source states; None if it is computed."""
    found = _FLOAT.fullmatch(tokens.text(start)) if end - start == 1 else None
    return float(found[1].replace("_", "")) if found else None


def _changed_number(text: str, chance: random.Random) -> str | None:
    if found := _HEX.fullmatch(text):
        digit = chance.choice([digit for digit in "123456789" if digit != text[-1]])
        return f"{found[1][:-1]}{digit}"
    if found := _INTEGER.fullmatch(text):
        value = int(found[1].replace("_", ""))
        return f"{near_integer(value, (), chance, growing=False)}{found[2] or ''}"
    found = _FLOAT.fullmatch(text)
    near = near_decimal(found[1], chance) if found else None
    return f"{near}{found[2] or ''}" if found and near else None


def _is_literal(tokens: TokenText, at: int) -> bool:
    token = tokens.tokens[at]
    return token.kind in {"number", "text"} or (token.kind == "word" and token.text in {"true", "false"})


def _is_interpolated(dialect: Dialect, text: str) -> bool:
    match dialect:
        case "javascript" | "typescript":
            return text.startswith("`") and "${" in text
        case "kotlin":
            return "$" in text
        case "php":
            return text.startswith('"') and bool(re.search(r"[${]", text))
        case _:
            return False


def _is_whole(tokens: TokenText, at: int, start: int, end: int) -> bool:
    """Whether the literal is the value, or an element of it through brackets that only hold what is in them."""
    before, after = at - 1, at + 1
    if tokens.is_sign(before, "-") and tokens.tokens[at].kind == "number":
        before -= 1
    if tokens.is_sign(after, ".") and tokens.text(after + 1) in _CONVERSIONS and tokens.is_sign(after + 2, "("):
        after = tokens.partner[after + 2] + 1
    while True:
        if before < start:
            return after >= end
        around = tokens.enclosing[at]
        if after >= end or around < start:
            return False
        closing = tokens.partner[around]
        if not (after == closing or tokens.is_sign(after, ",")):
            return False
        is_field = tokens.is_sign(around, "{") and tokens.is_sign(before, ":") and _is_key(tokens, before - 1, around)
        if not (before == around or tokens.is_sign(before, ",") or is_field):
            return False
        is_first = before == around
        if tokens.is_sign(around, "(") and tokens.dialect in {"javascript", "typescript"} and not is_first:
            return False
        begun = _holder_start(tokens, around)
        if begun is None:
            return False
        at, before, after = around, begun - 1, closing + 1
        if tokens.is_sign(before, "&") and before >= start:
            before -= 1


def _is_key(tokens: TokenText, at: int, around: int) -> bool:
    return tokens.is_sign(at - 1, ",") or at - 1 == around


def _holder_start(tokens: TokenText, opening: int) -> int | None:
    """Where the expression begins that this bracket belongs to; None if it does more than hold values."""
    dialect = tokens.dialect
    if tokens.is_sign(opening, "("):
        if not tokens.is_word(opening - 1, *_WRAPPERS.get(dialect, ("",))):
            return None
        at = opening - 1
        while tokens.is_sign(at - 1, ".", "::"):
            at -= 2
        return at - 1 if tokens.is_word(at - 1, "new") else at
    if tokens.is_sign(opening, "["):
        return opening - 2 if tokens.is_sign(opening - 1, "!") and tokens.is_word(opening - 2, "vec") else opening
    if dialect == "go":
        return _go_type_start(tokens, opening)
    return opening if dialect in {"javascript", "typescript"} else None


def _go_type_start(tokens: TokenText, opening: int) -> int | None:
    """Start of a slice `[]T{…}`; maps and structures are left alone, because their keys look like values."""
    at = opening - 1
    if not tokens.is_word(at):
        return opening if tokens.is_sign(at, ",", "{") else None
    while tokens.is_sign(at - 1, ".") or (tokens.is_word(at - 1) and tokens.is_sign(at, ".")):
        at -= 1
    if not tokens.is_sign(at - 1, "]"):
        return None
    begun = tokens.partner[at - 1]
    while tokens.is_sign(begun - 1, "]"):
        begun = tokens.partner[begun - 1]
    return None if tokens.is_word(begun - 1, "map") else begun
