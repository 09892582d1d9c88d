"""Functions that the failing tests call in the failing statement, as opposed to those that only ran before it."""

import ast
from collections.abc import Iterable, Iterator, Mapping

from kotef.repair.source import FunctionNode, PythonSource, SwapUnit

Frame = tuple[str, int]
"""Path and line."""


def failing_units(frames: Iterable[Frame], sources: Mapping[str, PythonSource]) -> frozenset[SwapUnit]:
    """The functions of the tracebacks, as far as these sources hold them."""
    found = (_unit_at(sources.get(path), line) for path, line in set(frames))
    return frozenset(unit for unit in found if unit is not None)


def evaluated(frames: Iterable[Frame], sources: Mapping[str, PythonSource]) -> frozenset[SwapUnit]:
    """The functions of the tracebacks, what their failing lines call, and what that calls in turn; empty if unknown.

    A constructor, or a step that a test took before, is none of these: it is further from what went wrong.
    """
    by_name: dict[str, list[SwapUnit]] = {}
    for source in sources.values():
        for unit in source.units:
            by_name.setdefault(unit.node.name, []).append(unit)
    found: set[SwapUnit] = set()
    waiting: list[str] = []
    for path, line in set(frames):
        at = _unit_at(sources.get(path), line)
        if at is not None:
            found.add(at)
            waiting += _called(_evaluated_at(at.node, line))
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            for unit in by_name.get(name, ()):
                found.add(unit)
                waiting += _called([unit.node])
    return frozenset(found)


def _unit_at(source: PythonSource | None, line: int) -> SwapUnit | None:
    units = source.units if source is not None else ()
    return next((unit for unit in units if line in unit.lines), None)


def _evaluated_at(function: FunctionNode, line: int) -> list[ast.AST]:
    """The statement of a line, the conditions it is under, and where the names it reads come from."""
    around = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.stmt) and node is not function and node.lineno <= line <= (node.end_lineno or line)
    ]
    parts = [_evaluated_first(node) for node in around]

    given = [node for node in ast.walk(function) if isinstance(node, ast.Assign) and node.lineno < line]
    done = -1
    while done != len(parts):  # names of names
        done = len(parts)
        read = {node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)}
        parts += [node.value for node in given if node.value not in parts and read & set(_names(node.targets))]
    return parts


def _evaluated_first(node: ast.stmt) -> ast.AST:
    """The header of a statement with a body, else the statement."""
    if not hasattr(node, "body"):
        return node
    return getattr(node, "test", None) or getattr(node, "iter", None) or ast.Pass()


def _names(targets: Iterable[ast.expr]) -> Iterator[str]:
    for target in targets:
        yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _called(parts: Iterable[ast.AST]) -> list[str]:
    """Names of what is called, and of what is read of an object: it may be a property."""
    names = []
    for part in parts:
        for node in ast.walk(part):
            if isinstance(node, ast.Attribute):
                names.append(node.attr)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                names.append(node.func.id)
    return names
