"""Repair of almost correct JSON without changing any of its words."""

import re
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>//[^\n]*|\#[^\n]*|/\*.*?\*/)
  | (?P<mark>[{}\[\]:,])
  | (?P<double>"(?:[^"\\]|\\.)*")
  | (?P<single>'(?:[^'\\]|\\.)*')
  | (?P<number>-?\d[\d.eE+-]*)
  | (?P<word>[A-Za-z_$][\w$-]*)
    """,
    re.VERBOSE | re.DOTALL,
)
_GAP: Final = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
"""What may be between two tokens."""
_INSIDE: Final = re.compile(r"""\\(?P<escaped>.)|(?P<raw>[\x00-\x1f"])""", re.DOTALL)
_ESCAPES: Final = frozenset('"\\/bfnrtu')
_LITERALS: Final = {"True": "true", "False": "false", "None": "null"}
_JSON_WORDS: Final = frozenset({"true", "false", "null"})
_CLOSING: Final = frozenset("}]")
_OPENING: Final = frozenset("{[:,")
_NAMED: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"'}


class Mended(NamedTuple):
    """A text in the grammar of JSON, if it was meant as such: whoever repairs it still has to parse it."""

    text: str
    changes: tuple[str, ...]
    """What was done, sorted; empty when nothing had to be."""


def mend(text: str) -> Mended | None:
    """The same tokens as JSON writes them; None if there is no single reading of them.

    Repaired are trailing commas, single quotes, keys without quotes, the literals of Python, control characters and
    quotes in strings, and comments. Nothing is ever added between two tokens or behind the last: a string or bracket
    that is open stays open, and the text no JSON. Linear in the length of the text.
    """
    tokens: list[str] = []
    changes: set[str] = set()
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            return None
        position = found.end()
        token = _token(found, text, changes)
        if token is None:
            return None
        if token in _CLOSING and tokens[-1:] == [","] and tokens[-2:-1] and tokens[-2] not in _OPENING:
            tokens.pop()
            changes.add("trailing comma")
        if token:
            tokens.append(token)
    return Mended(" ".join(tokens), tuple(sorted(changes)))


def _token(found: re.Match[str], text: str, changes: set[str]) -> str | None:
    """One token in JSON's spelling; empty for what is between tokens, None for what has no spelling in it."""
    match found.lastgroup:
        case "space":
            return ""
        case "comment":
            changes.add("comment")
            return ""
        case "double":
            return _string(found[0][1:-1], changes)
        case "single":
            changes.add("single quotes")
            return _string(found[0][1:-1], changes)
        case "word":
            return _word(found[0], changes, is_key=_is_colon_next(text, found.end()))
        case _:
            return found[0]


def _string(inside: str, changes: set[str]) -> str | None:
    """A string of JSON with these characters; None if an escape is none that JSON and Python agree on."""
    for escape in _INSIDE.finditer(inside):
        if (escaped := escape["escaped"]) is not None and escaped not in _ESCAPES and escaped != "'":
            return None

    def spelled(found: re.Match[str]) -> str:
        if found["escaped"] is not None:
            if found["escaped"] != "'":
                return found[0]
            changes.add("escaped single quote")
            return "'"
        if found["raw"] != '"':
            changes.add("control character in a string")
        return _NAMED.get(found["raw"], f"\\u{ord(found['raw']):04x}")

    return f'"{_INSIDE.sub(spelled, inside)}"'


def _word(word: str, changes: set[str], *, is_key: bool) -> str | None:
    if is_key:
        changes.add("key without quotes")
        return f'"{word}"'
    if word in _JSON_WORDS:
        return word
    if word not in _LITERALS:
        return None
    changes.add("literal of Python")
    return _LITERALS[word]


def _is_colon_next(text: str, position: int) -> bool:
    gap = _GAP.match(text, position)
    return gap is not None and text[gap.end() : gap.end() + 1] == ":"
