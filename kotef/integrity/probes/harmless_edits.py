"""Harmless edits: a test file with different text and the same results."""

import ast
import random
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from kotef.integrity.probes.oracles.near_values import near_python, random_word
from kotef.integrity.probes.oracles.python import same_answers
from kotef.integrity.probes.oracles.python_tests import FunctionNode, python_test
from kotef.integrity.probes.oracles.same_values import same_python
from kotef.integrity.probes.oracles.selection import names_below
from kotef.integrity.probes.oracles.token_literals import changed_literal, same_literal
from kotef.integrity.probes.oracles.token_oracles import same_edits
from kotef.integrity.probes.oracles.tokens import TokenText, dialect_of
from kotef.integrity.probes.source_text import looks_at_itself, parsed, parsed_once
from kotef.source import SourceText, TextEdit

_SHELL: Final = (".sh", ".bash", ".bats")
_SHELL_LINE: Final = re.compile(rb"#!.*\b(?:ba|da|z|k)?sh\b")


def harmless_edit(
    path: str, content: bytes, tests: Sequence[str], chance: random.Random, *, is_wrong: bool = False
) -> bytes | None:
    """The file with a comment at its end, and what the tests expect written otherwise; None if not safe.

    In Python a true assertion is added to each of the tests. `tests` are ids of tests in the file; `is_wrong` says that
    an answer in it was made wrong.
    """
    is_python = path.endswith((".py", ".pyi"))
    source = SourceText.of_python(content) if is_python else SourceText.of_bytes(content)
    if source is None:
        return None
    edit = _HarmlessEdit(path, source, tests, chance, is_wrong=is_wrong)
    if is_python:
        return edit.of_python()
    return edit.of_tokens() if dialect_of(path) else edit.of_script(is_shell=bool(_SHELL_LINE.match(content)))


@dataclass
class _HarmlessEdit:
    """The edit of one file.

    The comment names values near the expected ones, or, where an answer is wrong, the expected ones themselves: a
    product that looks in the file for what it is compared with must not distinguish a wrong answer from a harmless
    edit.
    """

    path: str
    source: SourceText
    tests: Sequence[str]
    chance: random.Random
    is_wrong: bool
    words: list[str] = field(default_factory=list)
    """Words of the comment."""

    def of_python(self) -> bytes | None:
        """The comment, what is expected written otherwise, and a true assertion in each of the tests."""
        tree = parsed(self.source.text)
        if tree is None or looks_at_itself(self.source.text):
            return None
        edits = list(self._in_python(tree))
        changed = self.source.edited([*edits, self._comment("#")])
        return changed.encoded() if parsed_once(changed.text) is not None else None

    def of_tokens(self) -> bytes | None:
        """The comment, and what is expected written otherwise."""
        dialect = dialect_of(self.path)
        tokens = TokenText.of(dialect, self.source.text) if dialect else None
        if tokens is None or self.source.text.rstrip().endswith(("\\", "?>")):
            return None
        names = (names_below(self.path, test) for test in self.tests)
        found = (same_edits(self.source, tokens, each, self.chance, near=self._same_literal) for each in names)
        edits = {edit.start: edit for each in found for edit in each}
        return self.source.edited([*edits.values(), self._comment("//")]).encoded()

    def of_script(self, *, is_shell: bool) -> bytes | None:
        """The comment."""
        is_script = is_shell or self.path.endswith(_SHELL)
        is_whole = not self.source.text.rstrip().endswith("\\") and "<<" not in self.source.text
        return self.source.edited([self._comment("#")]).encoded() if is_script and is_whole else None

    def _in_python(self, tree: ast.Module) -> Iterator[TextEdit]:
        names = (names_below(self.path, test) for test in self.tests)
        functions = {test.function.lineno: test for each in names if (test := python_test(tree, each))}
        edits: dict[int, TextEdit] = {}
        for test in functions.values():
            found = same_answers(self.path, self.source, tree, test, self.chance, near=self._same_python)
            edits |= {edit.start: edit for edit in found}
        yield from edits.values()
        for test in functions.values():
            yield from self._true_assertion(test.function)

    def _true_assertion(self, function: FunctionNode) -> Iterator[TextEdit]:
        """Behind the last statement of a test."""
        source, first, last = self.source, function.body[0], function.body[-1]
        front = source.text[source.offset(first.lineno, 0) : source.span(first)[0]]
        end_line = last.end_lineno or last.lineno
        number = self.chance.randint(2, 97)
        if not front.strip() and front:
            at = source.line_starts[end_line - 1] + len(source.line(end_line))
            yield TextEdit(at, at, f"{source.newline}{front}assert {number} == {number}")

    def _same_python(
        self, node: ast.expr, segment: str, alike: Collection[object], chance: random.Random
    ) -> str | None:
        same = same_python(node, segment, alike, chance)
        self._name(same, segment if self.is_wrong else near_python(node, segment, alike, chance))
        return same

    def _same_literal(self, tokens: TokenText, at: int, chance: random.Random) -> str | None:
        same = same_literal(tokens, at, chance)
        self._name(same, tokens.text(at) if self.is_wrong else changed_literal(tokens, at, chance))
        return same

    def _name(self, same: str | None, word: str | None) -> None:
        if same and word and "\n" not in word:
            self.words.append(word)

    def _comment(self, mark: str) -> TextEdit:
        """A last line."""
        text = self.source.text
        front = "" if not text or text.endswith(("\n", "\r")) else self.source.newline
        line = " ".join((mark, random_word(self.chance), *self.words))
        return TextEdit(len(text), len(text), f"{front}{line}{self.source.newline}")
