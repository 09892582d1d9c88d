"""Enumerations of a product: another value of the type of an expected one, in languages with brackets."""

import random
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from kotef.integrity.probes.oracles.tokens import Dialect, TokenText, dialect_of
from kotef.source import SourceText

MOST_FILES: Final = 40
"""Files that are searched for the enumeration of one value, those of a similar name first."""
_QUALIFIERS: Final = ("::", ".")
_FAMILY: Final[dict[Dialect, frozenset[Dialect]]] = {
    "typescript": frozenset({"typescript", "javascript"}),
    "javascript": frozenset({"typescript", "javascript"}),
    "kotlin": frozenset({"java", "kotlin"}),
    "java": frozenset({"java", "kotlin"}),
}


@dataclass(frozen=True, slots=True)
class Enumeration:
    """One enumeration, or one group of Go constants."""

    name: str
    """Empty if it has none."""
    members: tuple[str, ...]
    """Those that are values as they stand: no variant with contents."""


@dataclass(frozen=True)
class EnumSource:
    """Where enumerations are looked up: files of the workspace."""

    read: Callable[[str], bytes | None]
    paths: Collection[str]

    def another(self, tokens: TokenText, start: int, end: int, chance: random.Random) -> str | None:
        """Another member for the value between two indices, such as `Status::Paid`; None if it is not a member."""
        last = end - 1
        if not tokens.is_word(last) or not _is_name(tokens, start, last):
            return None
        member = tokens.text(last)
        is_qualified = tokens.is_sign(last - 1, *_QUALIFIERS) and last - 1 > start and tokens.dialect != "go"
        name = tokens.text(last - 2) if is_qualified else ""
        for path in self._near(tokens.dialect, name or member):
            for each in _enumerations(path, self.read(path) or b""):
                others = [other for other in each.members if other != member]
                if member in each.members and others and (not name or each.name == name):
                    return chance.choice(others)
        return None

    def _near(self, dialect: Dialect, name: str) -> list[str]:
        """Files of the language, those that are named like the enumeration first."""
        family = _FAMILY.get(dialect, frozenset({dialect}))
        known = [path for path in self.paths if dialect_of(path) in family]
        wanted = name.lower()

        def distance(path: str) -> tuple[bool, int, str]:
            stem = path.rpartition("/")[2].partition(".")[0].replace("_", "").lower()
            return stem != wanted, path.count("/"), path

        return sorted(known, key=distance)[:MOST_FILES]


NO_ENUMS: Final = EnumSource(lambda _: None, ())


def _is_name(tokens: TokenText, start: int, last: int) -> bool:
    """Whether the tokens up to the last are a path to it: `shop::Status::`, `&Status.`."""
    first = start + 1 if tokens.is_sign(start, "&") else start
    return all(tokens.is_word(at) or tokens.is_sign(at, *_QUALIFIERS) for at in range(first, last))


@lru_cache(maxsize=256)
def _enumerations(path: str, content: bytes) -> tuple[Enumeration, ...]:
    """All enumerations of one file."""
    dialect = dialect_of(path)
    if dialect is None or (b"enum" not in content and dialect != "go"):
        return ()
    source = SourceText.of_bytes(content)
    tokens = TokenText.of(dialect, source.text) if source else None
    if source is None or tokens is None:
        return ()
    found = _constants(source.text, tokens) if dialect == "go" else _enums(tokens)
    return tuple(found)


def _enums(tokens: TokenText) -> Iterator[Enumeration]:
    for at in range(len(tokens.tokens)):
        if not tokens.is_word(at, "enum"):
            continue
        named = at + 2 if tokens.is_word(at + 1, "class", "struct") else at + 1
        opening = next((n for n in range(named, named + 8) if tokens.is_sign(n, "{", ";", "(")), None)
        if opening is None or not tokens.is_sign(opening, "{"):
            continue
        name = tokens.text(named) if tokens.is_word(named) else ""
        yield Enumeration(name, tuple(_members(tokens, opening)))


def _members(tokens: TokenText, opening: int) -> Iterator[str]:
    """Names at the beginning of an entry that are followed by no contents; in Java a constant may have arguments."""
    before = opening
    for at in tokens.inside(opening + 1, tokens.partner[opening]):
        is_first = before == opening or tokens.is_sign(before, ",", "]") or tokens.is_word(before, "case")
        ends = [",", "=", "}", ";", *("(" if tokens.dialect in {"java", "kotlin"} else "")]
        if tokens.is_word(at) and is_first and tokens.is_sign(at + 1, *ends):
            yield tokens.text(at)
        if tokens.is_sign(at, ";") and tokens.dialect in {"java", "kotlin"}:
            return
        before = tokens.partner[at] if tokens.is_sign(at, "(", "[", "{") else at


def _constants(text: str, tokens: TokenText) -> Iterator[Enumeration]:
    """Groups of Go constants that are counted with `iota` or have a type of their own."""
    for at in range(len(tokens.tokens)):
        if not tokens.is_word(at, "const") or not tokens.is_sign(at + 1, "("):
            continue
        closing = tokens.partner[at + 1]
        names: list[str] = []
        is_typed = False
        for n in tokens.inside(at + 2, closing):
            begins = n == at + 2 or "\n" in text[tokens.tokens[n - 1].end : tokens.tokens[n].start]
            if tokens.is_word(n) and begins and tokens.text(n) != "_":
                names.append(tokens.text(n))
                is_typed |= tokens.is_word(n + 1) and tokens.is_sign(n + 2, "=")
            is_typed |= tokens.is_word(n, "iota")
        if is_typed:
            yield Enumeration("", tuple(names))
