"""Assertions on known lines of a Python test file, and the file with a failure in their place."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final, NamedTuple

from kotef.integrity.probes.oracles.python_wrappers import failure
from kotef.integrity.probes.source_text import line_breaks, parsed
from kotef.source import SourceText, TextEdit

_METHOD: Final = re.compile(r"self\.assert(?!Raises|Warns|Logs|NoLogs)\w+")
_EXPECTS_FAILURE: Final = re.compile(r"\b(?:given|xfail|expectedFailure|expected_failure)\b")
"""Decorators below which a failing assertion is not a failing test."""

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DECIDING: Final = (
    *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar, ast.Match),
    *(ast.IfExp, ast.BoolOp, ast.comprehension),
)


class HaltedAssertion(NamedTuple):
    """One assertion that must fail its test, or end its process, wherever it is reached."""

    line: int
    text: str
    """The first line of the assertion, stripped; for people."""
    is_unconditional: bool
    """Whether no branch, loop or inner function decides if it is reached."""
    failing: bytes
    """The whole file with a failure in its place; lines keep their numbers."""
    ending: bytes
    """The whole file with the end of the process in its place."""


class _Assertion(NamedTuple):
    """A statement or call that fails its test."""

    whole: ast.stmt | ast.expr
    replaced: ast.expr
    """What a failure can stand for."""
    above: tuple[ast.AST, ...]


def halted_assertion(content: bytes, lines: Collection[int]) -> HaltedAssertion | None:
    """The last assertion that begins or continues on one of the lines; None if there is none that can be replaced."""
    source = SourceText.of_python(content)
    tree = parsed(source.text) if source else None
    if source is None or tree is None:
        return None
    wanted = set(lines)
    found = [each for each in _assertions(tree, (tree,)) if wanted.intersection(_lines_of(each.whole))]
    if not found:
        return None
    last = max(found, key=lambda each: each.whole.lineno)
    start, end = source.span(last.replaced)
    breaks = line_breaks(source.text[start:end])
    texts = (failure(breaks), f"__import__('os')._exit({breaks}97)")
    failing, ending = (source.edited([TextEdit(start, end, text)]).encoded() for text in texts)
    if failing is None or ending is None:
        return None
    whole = last.whole
    return HaltedAssertion(
        whole.lineno, source.line(whole.lineno).strip(), _is_unconditional(last.above), failing, ending
    )


def _assertions(node: ast.AST, above: tuple[ast.AST, ...]) -> Iterator[_Assertion]:
    """What can be replaced by a failure, with the nodes around it; nothing below what expects its tests to fail."""
    decorators = getattr(node, "decorator_list", ())
    if any(_EXPECTS_FAILURE.search(ast.unparse(each)) for each in decorators):
        return
    match node:
        case ast.Assert(test=test) if not isinstance(test, ast.Constant):
            yield _Assertion(node, test, above)
        case ast.Call(func=function) if _METHOD.fullmatch(ast.unparse(function)):
            yield _Assertion(node, node, above)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _assertions(child, (*above, node))


def _lines_of(node: ast.stmt | ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _is_unconditional(above: Iterable[ast.AST]) -> bool:
    """Whether these nodes run what is inside of them once: one function, and no branch or loop."""
    functions = 0
    for node in above:
        if isinstance(node, _DECIDING):
            return False
        functions += isinstance(node, _FUNCTIONS)
    return functions == 1
