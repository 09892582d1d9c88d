"""One condition a line: no conditional expression stands within another."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent / "kotef"


def nested(tree: ast.AST) -> Iterator[int]:
    """Lines of conditional expressions that hold another one."""
    for node in ast.walk(tree):
        parts = (node.test, node.body, node.orelse) if isinstance(node, ast.IfExp) else ()
        if any(isinstance(inner, ast.IfExp) for part in parts for inner in ast.walk(part)):
            yield node.lineno  # type: ignore[attr-defined]


def test_nested_conditionals_are_found() -> None:
    assert list(
        nested(ast.parse('a = 1 if b else 2\nc = 1 if b else 2 if d else 3\ne = f"{1 if b else 2}" if d else ""'))
    ) == [2, 3]


def test_no_conditional_expression_stands_within_another() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in ROOT.rglob("*.py")
        for line in nested(ast.parse(path.read_text()))
    ]
    assert not found, "use an `if` statement, or a table"
