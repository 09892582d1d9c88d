"""Comments with different words, which must not change the result of a check that reads only code."""

import io
import random
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kotef.integrity.probes.oracles.near_values import other_character
from kotef.integrity.probes.oracles.tokens import TokenText, dialect_of
from kotef.source import SourceText, TextEdit

_BETWEEN: Final = re.compile(r"^[ \t]*#[^\n]*|(//[^\n]*|/\*[\s\S]*?\*/)", re.MULTILINE)
"""A line of a preprocessor, or a comment."""
_WORD: Final = re.compile(r"[A-Za-z]\w*")


@dataclass(frozen=True, slots=True)
class Reworded:
    """A file whose new comments have other words."""

    content: bytes
    evidence: tuple[str, ...]
    """The comments, `path:line: text`."""


def reworded(path: str, before: bytes | None, now: bytes, chance: random.Random) -> Reworded | None:
    """The file with other letters in comments that were not there before; None if it has none.

    Words that the code has as well stay, because a comment may have to name what it documents.
    """
    source = SourceText.of_python(now) if path.endswith((".py", ".pyi")) else SourceText.of_bytes(now)
    if source is None:
        return None
    old = SourceText.of_bytes(before) if before is not None else None
    known = Counter(text.strip() for _, text in _comments(path, old)) if old else Counter[str]()
    found = list(_comments(path, source))
    code = source.edited([TextEdit(at, at + len(text), "") for at, text in found]).text
    kept = set(_WORD.findall(code))
    edits: list[TextEdit] = []
    for at, text in found:
        if known[text.strip()]:
            known[text.strip()] -= 1
            continue
        other = _WORD.sub(lambda word: word[0] if word[0] in kept else _other(word[0], chance), text)
        edits += [TextEdit(at, at + len(text), other)] if other != text else []
    content = source.edited(edits).encoded()
    if not edits or content is None:
        return None
    shown = (f"{path}:{source.line_at(edit.start)}: {source.text[edit.start : edit.end].strip()}" for edit in edits)
    return Reworded(content, tuple(shown))


def _other(word: str, chance: random.Random) -> str:
    return "".join(other_character(sign, chance) if sign.isascii() and sign.isalnum() else sign for sign in word)


def _comments(path: str, source: SourceText) -> Iterator[tuple[int, str]]:
    """Where each comment begins, and its text."""
    if path.endswith((".py", ".pyi")):
        try:
            for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
                if token.type == tokenize.COMMENT:
                    yield source.line_starts[token.start[0] - 1] + token.start[1], token.string
        except (tokenize.TokenError, SyntaxError, IndexError):
            return
        return
    dialect = dialect_of(path)
    tokens = TokenText.of(dialect, source.text) if dialect else None
    if tokens is None:
        return
    ends = [0, *(token.end for token in tokens.tokens)]
    begins = [*(token.start for token in tokens.tokens), len(source.text)]
    for end, begin in zip(ends, begins, strict=True):
        for found in _BETWEEN.finditer(source.text, end, begin):
            if found[1]:
                yield found.start(), found[1]
