"""Edits that make what a test in a language with brackets expects another value."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kotef.integrity.probes.oracles.enum_members import NO_ENUMS, EnumSource
from kotef.integrity.probes.oracles.near_values import random_word
from kotef.integrity.probes.oracles.regions import Region
from kotef.integrity.probes.oracles.token_literals import changed_literal, literals_in
from kotef.integrity.probes.oracles.tokens import TokenText
from kotef.integrity.probes.oracles.wrong_answer import OracleEdit, OracleKind
from kotef.source import SourceText, TextEdit

Near = Callable[[TokenText, int, random.Random], str | None]
"""From a token that is a literal to another text, or None."""
_UNEQUAL: Final = (
    '((v) => typeof v === "number" ? (Number.isFinite(v) ? v + {step} * (1 + Math.abs(v)) : {step})'
    ' : typeof v === "bigint" ? v + {step}n'
    ' : typeof v === "string" ? v + "{letter}" : typeof v === "boolean" ? !v : Array.isArray(v) ? [...v, {step}]'
    ' : v === null || v === undefined ? {step} : Symbol("{letter}"))('
)


@dataclass
class TokenEdits:
    """What of one region can be expected, and what it is exchanged for."""

    source: SourceText
    tokens: TokenText
    region: Region
    chance: random.Random
    near: Near = changed_literal
    """What a literal is exchanged for; something else than a near value makes no answer wrong."""
    enums: EnumSource = NO_ENUMS

    def _literal_of(self, values: list[Region]) -> OracleEdit | None:
        """One literal of the side that is one; of a single token first."""
        for start, end in sorted(values, key=lambda value: value[1] - value[0]):
            found = list(literals_in(self.tokens, start, end))
            self.chance.shuffle(found)
            for at in found:
                if text := self.near(self.tokens, at, self.chance):
                    return self._replaced("literal", at, text)
        return None

    def _built_of(self, values: list[Region]) -> OracleEdit | None:
        """All literals in an object that is made for the comparison: `Money{900}`, `Money::new(900)`."""
        tokens = self.tokens
        for start, end in values:
            opening = tokens.partner[end - 1] if tokens.is_sign(end - 1, ")", "}") else start
            if not start < opening < end or not self._is_made(start, opening):
                continue
            found = [at for at in range(opening, end) if tokens.tokens[at].kind in {"number", "text"}]
            texts = [(at, self.near(tokens, at, self.chance)) for at in found]
            edits = [self._replaced("literal", at, text).edits[0] for at, text in texts if text]
            if edits:
                return OracleEdit("literal", tuple(edits))
        return None

    def _member_of(self, values: list[Region]) -> OracleEdit | None:
        """A member of an enumeration: another one of it."""
        for start, end in values:
            if text := self.enums.another(self.tokens, start, end, self.chance):
                return self._replaced("wrapped", end - 1, text)
        return None

    def _is_made(self, start: int, opening: int) -> bool:
        """Whether what is in front of the bracket is a type."""
        head = self._text(start, opening)
        match self.tokens.dialect:
            case "go":
                return self.tokens.is_sign(opening, "{") and re.fullmatch(r"&?[\w.]+", head) is not None
            case "rust":
                return re.fullmatch(r"&?(?:\w+::)*[A-Z]\w*(?:::\w+)?", head) is not None
            case "java" | "javascript" | "typescript" | "php":
                return re.fullmatch(r"new\s+[\w.]+", head) is not None
            case _:
                return False

    def _definition_of(self, values: list[Region], use: Region) -> OracleEdit | None:
        """The literal that a name was given, where only this assertion reads it."""
        for start, end in values:
            literal = self._given_to(start, use) if end - start == 1 else None
            if literal is not None:
                text = self.near(self.tokens, literal, self.chance)
                return self._replaced("literal", literal, text) if text else None
        return None

    def _given_to(self, at: int, use: Region) -> int | None:
        """The literal that a name is set to, if the region names it there and in `use` only."""
        tokens = self.tokens
        if not tokens.is_word(at):
            return None
        name = tokens.text(at)
        places = [each for each in range(*self.region) if tokens.is_word(each, name)]
        outside = [each for each in places if not tokens.is_sign(each - 1, ".") and not use[0] <= each <= use[1]]
        if len(outside) != 1 or not tokens.is_sign(outside[0] + 1, "=", ":="):
            return None

        literal = outside[0] + 2
        ends_there = tokens.is_sign(literal + 1, ";") or self._is_last_of_line(literal)
        return literal if ends_there and list(literals_in(tokens, literal, literal + 1)) else None

    def _is_last_of_line(self, at: int) -> bool:
        if at + 1 >= len(self.tokens.tokens):
            return True
        between = self.source.text[self.tokens.tokens[at].end : self.tokens.tokens[at + 1].start]
        return "\n" in between

    def _wrapped(self, value: Region) -> OracleEdit:
        front = _UNEQUAL.format(step=self.chance.randint(3, 9), letter=random_word(self.chance)[0])
        return self._around("wrapped", value, (front, ")"))

    def _replaced(self, kind: OracleKind, at: int, text: str) -> OracleEdit:
        token = self.tokens.tokens[at]
        return OracleEdit(kind, (TextEdit(token.start, token.end, text),))

    def _around(self, kind: OracleKind, value: Region, ends: tuple[str, str]) -> OracleEdit:
        start, end = self._span(value)
        return OracleEdit(kind, (TextEdit(start, start, ends[0]), TextEdit(end, end, ends[1])))

    def _span(self, value: Region) -> tuple[int, int]:
        return self.tokens.tokens[value[0]].start, self.tokens.tokens[value[1] - 1].end

    def _text(self, start: int, end: int) -> str:
        first, last = self._span((start, end))
        return self.source.text[first:last]
