"""Expectations of all assertions in a Python module, whatever surrounds them."""

import ast
from collections.abc import Iterator

from kotef.integrity.probes.expectations.expectation import Expectation, Relation, literal
from kotef.integrity.probes.expectations.python_statements import EQUAL, NOT_EQUAL
from kotef.integrity.probes.source_text import parsed
from kotef.source import SourceText


def plain_expectations(path: str, content: bytes) -> list[Expectation]:
    """Each comparison of a call with a literal; the key is the call as it is written."""
    source = SourceText.of_python(content)
    tree = parsed(source.text) if source else None
    return [found for node in tree.body for found in _inside(path, node, "")] if tree else []


def function_at(content: bytes, line: int) -> str | None:
    """The test function around a line, classes first, as an id has it; None if the line is in no function."""
    source = SourceText.of_python(content)
    tree = parsed(source.text) if source else None
    above: list[str] = []
    scope: ast.AST | None = tree
    while isinstance(scope, ast.Module | ast.ClassDef):
        scope = next((node for node in scope.body if _start(node) <= line <= (node.end_lineno or 0)), None)
        if isinstance(scope, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            above.append(scope.name)
    return "::".join(above) if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef) else None


def _start(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def _inside(path: str, node: ast.stmt, test: str) -> Iterator[Expectation]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        name = f"{test}::{node.name}" if test else node.name
        for statement in node.body:
            yield from _inside(path, statement, name)
        return
    for inner in ast.walk(node):
        match inner:
            case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right])):
                yield from _compared(path, inner.lineno, test, (left, right), "==")
            case ast.Assert(test=ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right])):
                yield from _compared(path, inner.lineno, test, (left, right), "!=")
            case ast.Call(func=ast.Attribute(attr=name), args=[left, right, *_]) if name in EQUAL:
                yield from _compared(path, inner.lineno, test, (left, right), "==")
            case ast.Call(func=ast.Attribute(attr=name), args=[left, right, *_]) if name in NOT_EQUAL:
                yield from _compared(path, inner.lineno, test, (left, right), "!=")
            case ast.Assert(test=ast.Call() as call):
                yield Expectation(path, inner.lineno, test, ast.unparse(call), ast.unparse(call), "true")
            case ast.Assert(test=ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call)):
                yield Expectation(path, inner.lineno, test, ast.unparse(call), ast.unparse(call), "false")
            case _:
                pass


def _compared(
    path: str, line: int, test: str, sides: tuple[ast.expr, ast.expr], relation: Relation
) -> Iterator[Expectation]:
    for subject, expected in (sides, sides[::-1]):
        value = literal(expected)
        if value is not None and any(isinstance(node, ast.Call) for node in ast.walk(subject)):
            shown = ast.unparse(subject)
            yield Expectation(path, line, test, shown, shown, relation, value[0], ast.unparse(expected))
