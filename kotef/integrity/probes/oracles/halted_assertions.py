"""Assertions on known lines of a test file, and the file with a failure in their place."""

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from kotef.integrity.probes.oracles.halted_assertion import Decider, HaltedAssertion, asks_for_equality
from kotef.integrity.probes.oracles.halted_calls import halted_call
from kotef.integrity.probes.oracles.python_wrappers import failure
from kotef.integrity.probes.oracles.tokens import dialect_of
from kotef.integrity.probes.source_text import line_breaks, parsed
from kotef.source import SourceText, TextEdit

_METHOD: Final = re.compile(r"self\.assert(?!Raises|Warns|Logs|NoLogs)\w+")
_EXPECTS_FAILURE: Final = re.compile(r"\b(?:given|xfail|expectedFailure|expected_failure)\b")
"""Decorators below which a failing assertion is not a failing test."""

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_ROUNDS: Final = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
_BRANCHES: Final = (ast.If, ast.Try, ast.TryStar, ast.Match, ast.IfExp, ast.BoolOp)
_LEAVES: Final = (ast.Return, ast.Break, ast.Continue)


class _Assertion(NamedTuple):
    """A statement or call that fails its test."""

    whole: ast.stmt | ast.expr
    replaced: ast.expr
    """What a failure can stand for."""
    above: tuple[ast.AST, ...]


def halted_assertion(path: str, content: bytes, lines: Collection[int]) -> HaltedAssertion | None:
    """The last assertion that begins or continues on one of the lines; None if there is none that can be replaced."""
    if path.endswith((".py", ".pyi")):
        return _halted_in_python(content, lines)
    dialect = dialect_of(path)
    return halted_call(dialect, content, lines) if dialect else None


def _halted_in_python(content: bytes, lines: Collection[int]) -> HaltedAssertion | None:
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
        line=whole.lineno,
        text=source.line(whole.lineno).strip(),
        decider=_decider(whole, last.above),
        asks_for_equality=asks_for_equality(ast.unparse(whole)),
        failing=failing,
        ending=ending,
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


def _decider(whole: ast.stmt | ast.expr, above: Sequence[ast.AST]) -> Decider:
    """What decides whether the assertion inside of these nodes is reached."""
    functions = [node for node in above if isinstance(node, _FUNCTIONS)]
    if not functions or any(isinstance(node, _BRANCHES) for node in above):
        return "branch"
    if len(functions) == 1 and not any(isinstance(node, _ROUNDS) for node in above):
        return "nothing"
    return "branch" if _may_leave(functions[0], whole.lineno) else "rounds"


def _may_leave(function: ast.AST, line: int) -> bool:
    """Whether a function can be left, or a round skipped, above a line."""
    return any(isinstance(node, _LEAVES) and node.lineno < line for node in ast.walk(function))
