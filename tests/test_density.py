"""One condition a line: no conditional expression stands within another."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from support.source_trees import product_nodes

ROOT = Path(__file__).parent.parent / "kotef"


def nested(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """Lines of conditional expressions that hold another one."""
    for node in nodes:
        parts = (node.test, node.body, node.orelse) if isinstance(node, ast.IfExp) else ()
        if any(isinstance(inner, ast.IfExp) for part in parts for inner in ast.walk(part)):
            yield node.lineno  # type: ignore[attr-defined]


def test_nested_conditionals_are_found() -> None:
    assert list(
        nested(
            ast.walk(ast.parse('a = 1 if b else 2\nc = 1 if b else 2 if d else 3\ne = f"{1 if b else 2}" if d else ""'))
        )
    ) == [2, 3]


def test_no_conditional_expression_stands_within_another() -> None:
    found = [f"{path.relative_to(ROOT)}:{line}" for path, nodes in product_nodes().items() for line in nested(nodes)]
    assert not found, "use an `if` statement, or a table"


SHORT, DENSE = 20, 12
"""Lines, and conditions, loops and comprehensions in them, from which on a function is hard to read at once."""
MOST_DENSE = 183
"""Short functions that are as dense as that. Lower it after you have unfolded some; never raise it."""

BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert, ast.match_case)


def complexity(function: ast.AST) -> int:
    """One, and one more for each way that the code can take; a comprehension is a loop with conditions."""
    ways = 1
    for node in ast.walk(function):
        match node:
            case ast.BoolOp():
                ways += len(node.values) - 1
            case ast.comprehension():
                ways += 1 + len(node.ifs)
            case _:
                ways += isinstance(node, BRANCHES)
    return ways


def dense(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names of functions that do too much in too few lines."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            is_short = (node.end_lineno or 0) - node.lineno < SHORT
            if is_short and complexity(node) >= DENSE:
                yield node.name


def test_dense_functions_are_found() -> None:
    condition = " or ".join(f"a == {number}" for number in range(DENSE))
    assert list(
        dense(ast.walk(ast.parse(f"def f(a):\n    return {condition}\ndef g(a):\n    return [b for b in a if b]")))
    ) == ["f"]


def test_short_functions_do_not_become_denser() -> None:
    found = [f"{path.relative_to(ROOT)}: {name}" for path, nodes in product_nodes().items() for name in dense(nodes)]
    assert len(found) <= MOST_DENSE, "\n".join(
        ["unfold one of these: named steps, one condition a line:", *sorted(found)]
    )
