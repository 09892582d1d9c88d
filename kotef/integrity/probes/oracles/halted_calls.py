"""Assertions on known lines of a test in a language with brackets, and the file with a failure in their place."""

import random
import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from kotef.integrity.probes.oracles.halted_assertion import Decider, HaltedAssertion, asks_for_equality
from kotef.integrity.probes.oracles.regions import callee
from kotef.integrity.probes.oracles.token_oracles import TokenOracles
from kotef.integrity.probes.oracles.tokens import Dialect, TokenText
from kotef.integrity.probes.oracles.wrong_answer import OracleEdit
from kotef.source import SourceText, TextEdit

_ENDINGS: Final[dict[Dialect, str]] = {
    "javascript": "process.kill(process.pid, 9)",
    "typescript": "(globalThis as any).process.kill((globalThis as any).process.pid, 9)",
    "rust": "::std::process::abort()",
    "c": "__builtin_trap()",
    "go": "kotefos.Exit(97)",
}
"""By language: what ends the process without anything that the product could catch."""
_PACKAGE: Final = re.compile(r"^package \w+", re.MULTILINE)
_IMPORT: Final = '; import kotefos "os"'

_BRANCHES: Final = frozenset(
    {"if", "else", "switch", "match", "case", "default", "select", "try", "catch", "?", "&&", "||"}
)
_ROUNDS: Final = frozenset({"for", "while", "loop", "do"})
_LEAVES: Final = ("return", "continue", "break", "goto")
_TEST: Final = re.compile(r"(?:\w+\.)?(?:test|it|specify)(?:\.\w+)?")
"""Calls of JavaScript that make a test."""
_FUNCTIONS: Final[dict[Dialect, frozenset[str]]] = {
    "javascript": frozenset({"function", "=>"}),
    "typescript": frozenset({"function", "=>"}),
    "go": frozenset({"func"}),
    "rust": frozenset({"fn", "|"}),
    "c": frozenset(),
}


class _HaltedPlace(NamedTuple):
    """One assertion: from where to where it stands, the edits that make it fail, and its first token."""

    start: int
    end: int
    failing: tuple[TextEdit, ...]
    first: int


def halted_call(dialect: Dialect, content: bytes, lines: Collection[int]) -> HaltedAssertion | None:
    """The last assertion that begins or continues on one of the lines; None if there is none that can be replaced."""
    source = SourceText.of_bytes(content)
    tokens = TokenText.of(dialect, source.text) if source and dialect in _ENDINGS else None
    if source is None or tokens is None:
        return None
    wanted = set(lines)
    found = [place for place in _places(source, tokens) if wanted.intersection(_lines_of(source, place))]
    if not found:
        return None
    last = max(found, key=lambda place: place.start)
    failing = source.edited(last.failing).encoded()
    ending = source.edited(_ending(source, dialect, last)).encoded()
    if failing is None or ending is None:
        return None
    line = source.line_at(last.start)
    text = source.text[last.start : last.end]
    return HaltedAssertion(
        line=line,
        text=source.line(line).strip(),
        decider=_decider(source, tokens, last.first),
        asks_for_equality=_is_difference(text) if text.startswith("if") else asks_for_equality(text),
        failing=failing,
        ending=ending,
    )


def _places(source: SourceText, tokens: TokenText) -> Iterator[_HaltedPlace]:
    """Every assertion of the file that a failure can stand for."""
    whole = TokenOracles(source, tokens, (0, len(tokens.tokens)), random.Random(0))  # noqa: S311 - values are not used
    starts = [token.start for token in tokens.tokens]
    for oracle in whole.all():
        if not oracle.halt:
            continue
        place = _of_condition(tokens, oracle, starts) if tokens.dialect == "go" else None
        if place is None and tokens.dialect == "go":
            continue
        start, end = oracle.halt[0].start, _end_of_chain(tokens, oracle.halt[-1].end)
        yield place or _HaltedPlace(start, end, oracle.halt, starts.index(start))


def _of_condition(tokens: TokenText, oracle: OracleEdit, starts: list[int]) -> _HaltedPlace | None:
    """`if got != want {` of Go with its block; None for a call."""
    if len(oracle.halt) != 2:  # noqa: PLR2004 - around the condition
        return None
    at = starts.index(oracle.halt[0].start)
    block = next(n for n in tokens.inside(at, len(tokens.tokens)) if tokens.is_sign(n, "{"))
    while not tokens.is_word(at, "if"):
        at -= 1
    return _HaltedPlace(starts[at], tokens.tokens[tokens.partner[block]].end, oracle.halt, at)


def _end_of_chain(tokens: TokenText, end: int) -> int:
    """Where `expect(…).not.toBe(…)` of JavaScript ends, from the end of its first call on."""
    at = next((at for at, token in enumerate(tokens.tokens) if token.start >= end), len(tokens.tokens))
    while tokens.dialect in {"javascript", "typescript"} and tokens.is_sign(at, ".") and tokens.is_word(at + 1):
        at += 2
        at = tokens.partner[at] + 1 if tokens.is_sign(at, "(") else at
        end = tokens.tokens[at - 1].end
    return end


def _ending(source: SourceText, dialect: Dialect, place: _HaltedPlace) -> list[TextEdit]:
    """The edits that end the process there."""
    ends = _ENDINGS[dialect]
    whole = source.text[place.start : place.end]
    breaks = "\n" * whole.count("\n")
    match dialect:
        case "go":
            package = _PACKAGE.search(source.text)
            at = package.end() if package else 0
            first, last = place.failing
            front = f"func() bool {{ {ends}; return true }}() || ("
            return [
                TextEdit(at, at, _IMPORT),
                TextEdit(first.start, first.end, front),
                TextEdit(last.start, last.end, ")"),
            ]
        case "javascript" | "typescript":
            return [TextEdit(place.start, place.end, f"({ends}){breaks}")]
        case "rust":
            return [TextEdit(place.start, place.end, f"{{ if 1 > 0 {{ {ends} }} {whole}; }}")]
        case _:
            return [TextEdit(place.start, place.end, f"{{ {ends}; {whole} }}")]


def _lines_of(source: SourceText, place: _HaltedPlace) -> range:
    return range(source.line_at(place.start), source.line_at(place.end - 1) + 1)


def _is_difference(text: str) -> bool:
    """Whether a condition of Go holds where something differs from what has to be there."""
    condition = text.partition("{\n")[0]
    return bool(re.search(r"!=|!\w[\w.]*\(", condition)) and not re.search(r"\bnil\b", condition)


def _decider(source: SourceText, tokens: TokenText, first: int) -> Decider:
    """What decides whether the assertion that begins with this token is reached."""
    functions = 0
    has_rounds = False
    at, outermost = first, first
    while at >= 0:
        opening = tokens.enclosing[at]
        front = _front(source, tokens, opening, at)
        words = {tokens.text(each) for each in front if not tokens.is_sign(each - 1, ".", "?.")}
        if _BRANCHES.intersection(words) or (tokens.dialect == "rust" and "=>" in words):
            return "branch"
        has_rounds |= bool(_ROUNDS.intersection(words))
        if _FUNCTIONS[tokens.dialect].intersection(words):
            functions += 1
            outermost = at
        at = opening
        if tokens.is_sign(at, "(") and _TEST.fullmatch(callee(tokens, at)):
            break
    if not has_rounds and functions <= 1:
        return "nothing"
    return "branch" if any(tokens.is_word(each, *_LEAVES) for each in range(outermost, first)) else "rounds"


def _front(source: SourceText, tokens: TokenText, opening: int, at: int) -> Iterator[int]:
    """The tokens of the statement or argument in front of this one, on the same level; rather more than fewer."""
    begun = opening + 1
    in_block = opening < 0 or tokens.is_sign(opening, "{")
    for each in tokens.inside(opening + 1, at):
        ends_line = "\n" in source.text[tokens.tokens[each].end : tokens.tokens[each + 1].start]
        if tokens.dialect == "go" and in_block:
            is_end = ends_line and (not tokens.is_sign(each) or tokens.is_sign(each, ")", "]", "}"))
        elif in_block:
            is_end = tokens.is_sign(each, ";") or (ends_line and tokens.is_sign(each, "}"))
        else:
            is_end = tokens.is_sign(each, ",", ";")
        begun = each + 1 if is_end else begun
    return tokens.inside(begun, at)
