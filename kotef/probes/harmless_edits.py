"""Harmless edits: a test file with something more in it that changes no result."""

import ast
import random
import re
from collections.abc import Iterator, Sequence
from typing import Final

from kotef.probes.oracles.near_values import random_word
from kotef.probes.oracles.python_tests import python_test
from kotef.probes.oracles.selection import names_below
from kotef.probes.oracles.tokens import TokenText, dialect_of
from kotef.probes.source_text import SourceText, TextEdit, parsed

_SHELL: Final = (".sh", ".bash", ".bats")
_SHELL_LINE: Final = re.compile(rb"#!.*\b(?:ba|da|z|k)?sh\b")


def harmless_edit(path: str, content: bytes, tests: Sequence[str], chance: random.Random) -> bytes | None:
    """The file with a comment at its end, and in Python a true assertion in each of the tests; None where not safe.

    `tests` are ids of tests in the file.
    """
    word = random_word(chance)
    if path.endswith((".py", ".pyi")):
        source = SourceText.of_python(content)
        return _python(path, source, tests, chance, word) if source else None
    source = SourceText.of_bytes(content)
    if source is None:
        return None
    if dialect := dialect_of(path):
        mark = "//"
        is_whole = TokenText.of(dialect, source.text) is not None and not source.text.rstrip().endswith(("\\", "?>"))
    else:
        mark = "#"
        is_script = path.endswith(_SHELL) or bool(_SHELL_LINE.match(content))
        is_whole = is_script and not source.text.rstrip().endswith("\\") and "<<" not in source.text
    return source.edited([_last_line(source, f"{mark} {word}")]).content() if is_whole else None


def _python(path: str, source: SourceText, tests: Sequence[str], chance: random.Random, word: str) -> bytes | None:
    tree = parsed(source.text)
    if tree is None:
        return None
    edits = [_last_line(source, f"# {word}"), *_true_assertions(path, source, tree, tests, chance)]
    changed = source.edited(edits)
    return changed.content() if parsed(changed.text) is not None else None


def _true_assertions(
    path: str, source: SourceText, tree: ast.Module, tests: Sequence[str], chance: random.Random
) -> Iterator[TextEdit]:
    """Behind the last statement of each test."""
    found = (python_test(tree, names_below(path, test)) for test in tests)
    functions = {test.function.lineno: test.function for test in found if test}
    for function in functions.values():
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
