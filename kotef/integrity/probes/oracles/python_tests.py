"""Location of one test's code in a Python module: its function, and the helpers it calls."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

_UNSAFE: Final = re.compile(r"\b(?:given|xfail|expectedFailure|expected_failure)\b")
"""Decorators below which a failing assertion is not a failing test, or a passing run proves little."""
_CATCHING: Final = re.compile(
    r"(?:^|\.)(?:raises|assertRaises\w*|suppress|assertLogs|assertWarns\w*|warns|deprecated_call)$"
)
_CATCHES_ASSERTIONS: Final = re.compile(r"\b(?:AssertionError|Exception|BaseException|failureException)\b")


@dataclass(frozen=True, slots=True)
class PythonTest:
    """The code of one test."""

    function: FunctionNode
    helpers: tuple[FunctionNode, ...]
    """Functions of the same module or class that it calls as statements."""
    parameters: str
    """What its id has in brackets; empty without."""


def python_test(tree: ast.Module, names: Sequence[str]) -> PythonTest | None:
    """The test of this name, classes around it first; None if it is not surely found, or cannot be probed."""
    if not names:
        return None
    *above, last = [name.partition("[")[0] for name in names]
    scope: ast.Module | ast.ClassDef = tree
    path: list[ast.ClassDef] = []
    for name in (part for whole in above for part in whole.split(".")):
        inner = _last_definition(scope.body, name)
        if not isinstance(inner, ast.ClassDef):
            return None
        scope = inner
        path.append(inner)
    function = _last_definition(scope.body, last)
    if function is None and isinstance(scope, ast.ClassDef):
        function = _inherited(tree, scope, last)
    if not isinstance(function, FunctionNode):
        return None
    decorators = [*function.decorator_list, *(item for node in path for item in node.decorator_list)]
    if any(_UNSAFE.search(ast.unparse(item)) for item in decorators):
        return None
    parameters = names[-1].partition("[")[2].removesuffix("]")
    return PythonTest(function, tuple(_helpers(tree, path[-1] if path else None, function)), parameters)


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run when the body runs, outermost first; without those whose failure something may catch."""
    for statement in body:
        yield statement
        match statement:
            case ast.If() | ast.For() | ast.AsyncFor() | ast.While():
                yield from statements(statement.body)
                yield from statements(statement.orelse)
            case ast.With() | ast.AsyncWith() if not any(is_catching(item) for item in statement.items):
                yield from statements(statement.body)
            case ast.Try():
                yield from statements([] if _swallows(statement) else statement.body)
                yield from statements([*statement.orelse, *statement.finalbody])
            case ast.Match():
                for case in statement.cases:
                    yield from statements(case.body)
            case _:
                pass


def called_statements(body: Sequence[ast.stmt]) -> Iterator[ast.Call]:
    """Calls that are statements of their own, where nothing catches a failure."""
    for statement in statements(body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            yield statement.value


def is_catching(item: ast.withitem) -> bool:
    """Whether a `with` item expects, or passes over, an exception of its body."""
    call = item.context_expr
    return isinstance(call, ast.Call) and bool(_CATCHING.search(ast.unparse(call.func)))


@lru_cache(maxsize=4)
def bound_names(tree: ast.Module) -> frozenset[str]:
    """Every name that the module binds anywhere, imports and parameters included."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                found |= {alias.asname or alias.name.partition(".")[0] for alias in aliases}
            case _:
                pass
    return frozenset(found)


def _last_definition(body: Sequence[ast.stmt], name: str) -> FunctionNode | ast.ClassDef | None:
    """What the name stands for in the end; None if it depends on a condition, or is something else."""
    found: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, FunctionNode | ast.ClassDef) and statement.name == name:
            found.append(statement)
        elif isinstance(statement, ast.If | ast.Try):
            inner = [*statement.body, *statement.orelse]
            found += [node for node in inner if isinstance(node, FunctionNode | ast.ClassDef) and node.name == name]
    last = found[-1] if len(found) == 1 else None
    return last if isinstance(last, FunctionNode | ast.ClassDef) else None


def _inherited(tree: ast.Module, scope: ast.ClassDef, name: str) -> FunctionNode | None:
    """The method of a base class in the same module."""
    for base in scope.bases:
        above = _last_definition(tree.body, base.id) if isinstance(base, ast.Name) else None
        if isinstance(above, ast.ClassDef) and above is not scope:
            found = _last_definition(above.body, name)
            if isinstance(found, FunctionNode):
                return found
    return None


def _helpers(tree: ast.Module, scope: ast.ClassDef | None, function: FunctionNode) -> Iterator[FunctionNode]:
    """Plain functions that the test calls as statements: a failure inside of them is its own."""
    seen = {function.name}
    for statement in statements(function.body):
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
                found = _last_definition(tree.body, name)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name))) if scope:
                found = _last_definition(scope.body, name)
            case _:
                continue
        if isinstance(found, ast.FunctionDef) and not found.decorator_list and name not in seen:
            seen.add(name)
            yield found


def _swallows(statement: ast.Try) -> bool:
    return any(
        handler.type is None or _CATCHES_ASSERTIONS.search(ast.unparse(handler.type)) for handler in statement.handlers
    )
