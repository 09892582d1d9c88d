"""Harmless edits: a test file that reads otherwise, with the same results."""

import ast
import random
import re
from collections.abc import Iterator, Sequence
from typing import Final

from kotef.probes.oracles.near_values import random_word
from kotef.probes.oracles.python import same_answers
from kotef.probes.oracles.python_tests import FunctionNode, python_test
from kotef.probes.oracles.selection import names_below
from kotef.probes.oracles.token_oracles import same_edits
from kotef.probes.oracles.tokens import TokenText, dialect_of
from kotef.probes.source_text import SourceText, TextEdit, looks_at_itself, parsed

_SHELL: Final = (".sh", ".bash", ".bats")
_SHELL_LINE: Final = re.compile(rb"#!.*\b(?:ba|da|z|k)?sh\b")


def harmless_edit(path: str, content: bytes, tests: Sequence[str], chance: random.Random) -> bytes | None:
    """The file with a comment at its end, and what the tests expect written otherwise; None where not safe.

    In Python a true assertion is added to each of the tests. `tests` are ids of tests in the file.
    """
    word = random_word(chance)
    if path.endswith((".py", ".pyi")):
        source = SourceText.of_python(content)
        return _python(path, source, tests, chance, word) if source else None
    source = SourceText.of_bytes(content)
    if source is None:
        return None
    edits: list[TextEdit] = []
    if dialect := dialect_of(path):
        mark = "//"
        tokens = TokenText.of(dialect, source.text)
        is_whole = tokens is not None and not source.text.rstrip().endswith(("\\", "?>"))
        found = (same_edits(source, tokens, names_below(path, test), chance) for test in tests) if tokens else ()
        edits = list({edit.start: edit for each in found for edit in each}.values())
    else:
        mark = "#"
        is_script = path.endswith(_SHELL) or bool(_SHELL_LINE.match(content))
        is_whole = is_script and not source.text.rstrip().endswith("\\") and "<<" not in source.text
    return source.edited([*edits, _last_line(source, f"{mark} {word}")]).content() if is_whole else None


def _python(path: str, source: SourceText, tests: Sequence[str], chance: random.Random, word: str) -> bytes | None:
    tree = parsed(source.text)
    if tree is None or looks_at_itself(source.text):
        return None
    edits = [_last_line(source, f"# {word}"), *_in_tests(path, source, tree, tests, chance)]
    changed = source.edited(edits)
    return changed.content() if parsed(changed.text) is not None else None


def _in_tests(
    path: str, source: SourceText, tree: ast.Module, tests: Sequence[str], chance: random.Random
) -> Iterator[TextEdit]:
    """What is expected, written otherwise, and an assertion behind the last statement of each test."""
    found = [test for each in tests if (test := python_test(tree, names_below(path, each)))]
    functions = {test.function.lineno: test for test in found}
    edits = [edit for test in functions.values() for edit in same_answers(path, source, tree, test, chance)]
    yield from {edit.start: edit for edit in edits}.values()
    for test in functions.values():
        yield from _true_assertion(source, test.function, chance)


def _true_assertion(source: SourceText, function: FunctionNode, chance: random.Random) -> Iterator[TextEdit]:
    first, last = function.body[0], function.body[-1]
    front = source.text[source.position(first.lineno, 0) : source.span(first)[0]]
    end_line = last.end_lineno or last.lineno
    number = chance.randint(2, 97)
    if not front.strip() and front:
        at = source.line_starts[end_line - 1] + len(source.line(end_line))
        yield TextEdit(at, at, f"{source.line_end}{front}assert {number} == {number}")


def _last_line(source: SourceText, line: str) -> TextEdit:
    front = "" if not source.text or source.text.endswith(("\n", "\r")) else source.line_end
    return TextEdit(len(source.text), len(source.text), f"{front}{line}{source.line_end}")
