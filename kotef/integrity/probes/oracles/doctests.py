"""Wrong answers for doctests, in docstrings and in text files."""

import ast
import doctest
import random
import re
from collections.abc import Iterator, Sequence
from posixpath import basename
from typing import Final

from kotef.integrity.probes.oracles.near_values import other_character
from kotef.integrity.probes.oracles.python_tests import FunctionNode
from kotef.integrity.probes.oracles.wrong_answer import OracleEdit, WrongAnswer, wrong_answer
from kotef.integrity.probes.source_text import parsed
from kotef.source import SourceText, TextEdit

TEXT_FILES: Final = (".md", ".rst", ".txt")
_PLACES: Final = re.compile(r"[A-Za-z]|(?<![\w.])\d")
"""Letters, and first digits of numbers: a comparison of numbers may allow for the last one."""
_OPENING: Final = re.compile(r"[a-zA-Z]*(\"\"\"|'''|\"|')")


def doctest_answers(path: str, content: bytes, names: Sequence[str], chance: random.Random) -> Iterator[WrongAnswer]:
    """The wanted output of each example of one docstring, or of one text file."""
    is_text = path.endswith(TEXT_FILES)
    source = SourceText.of_bytes(content) if is_text else SourceText.of_python(content)
    if source is None or not names or ">>>" not in source.text:
        return
    span = _whole(source, path, names[-1]) if is_text else _docstring(source, path, names[-1])
    if span is None:
        return
    for oracle in _oracles(source, span, chance):
        answer = wrong_answer(path, source, oracle)
        if answer is not None:
            yield answer


def _whole(source: SourceText, path: str, name: str) -> tuple[int, int] | None:
    return (0, len(source.text)) if basename(path) == name.rpartition("/")[2] else None


def _docstring(source: SourceText, path: str, name: str) -> tuple[int, int] | None:
    """Where the text of the docstring stands that belongs to the dotted name, without its quotes."""
    tree = parsed(source.text)
    if tree is None:
        return None
    module = basename(path).removesuffix(".py")
    found = [(qualified, node) for qualified, node in _documented(tree, "") if _is_named(name, qualified, module)]
    if not found:
        return None
    _, node = max(found, key=lambda pair: len(pair[0]))
    statement = node.body[0]
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return None
    start, end = source.span(statement.value)
    opening = _OPENING.match(source.text, start)
    return (opening.end(), end - len(opening[1])) if opening else None


_Documented = ast.Module | ast.ClassDef | FunctionNode


def _documented(node: _Documented, name: str) -> Iterator[tuple[str, _Documented]]:
    if ast.get_docstring(node, clean=False):
        yield name, node
    if isinstance(node, FunctionNode):
        return
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _documented(child, f"{name}.{child.name}".lstrip("."))


def _is_named(name: str, qualified: str, module: str) -> bool:
    if not qualified:
        return name.rpartition(".")[2] == module
    return name == qualified or name.endswith(f".{qualified}")


def _oracles(source: SourceText, span: tuple[int, int], chance: random.Random) -> Iterator[OracleEdit]:
    text = source.text[span[0] : span[1]]
    starts = [span[0], *(span[0] + found.end() for found in re.finditer(r"\r\n|\r|\n", text)), span[1]]
    try:
        examples = doctest.DocTestParser().get_examples(re.sub(r"\r\n?", "\n", text))
    except ValueError:
        return

    for example in examples:
        first = example.lineno + example.source.count("\n")
        is_plain = example.want.strip() and example.exc_msg is None and not example.options.get(doctest.SKIP)
        if not is_plain or first + 1 >= len(starts):
            continue
        last = min(first + example.want.count("\n"), len(starts) - 1)
        places = _changeable(source.text[starts[first] : starts[last]])
        if places:
            at = starts[first] + chance.choice(places)
            edit = TextEdit(at, at + 1, other_character(source.text[at], chance))
            yield OracleEdit("literal", (edit,), _halt(source, starts[example.lineno], example))


def _changeable(wanted: str) -> list[int]:
    """Where an expected output can be changed: in front of what may stand for anything."""
    if "<BLANKLINE>" in wanted or "\\" in wanted:
        return []
    return [found.start() for found in _PLACES.finditer(wanted.partition("...")[0])]


def _halt(source: SourceText, start: int, example: doctest.Example) -> tuple[TextEdit, ...]:
    """A failure in the place of an example of one line."""
    at = source.text.find(">>> ", start) + len(">>> ")
    length = len(example.source) - 1
    if source.text[at : at + length] + "\n" != example.source or "\n" in example.source[:-1]:
        return ()
    return (TextEdit(at, at + length, "raise AssertionError"),)
