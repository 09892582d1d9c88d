"""Positions of an identifier, and the edits that rename it."""

import ast
import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from kotef.fixers.source import PythonText
from kotef.source import SourceEdit

Node = TypeVar("Node", bound=ast.AST)
Identifier = (
    ast.Name | ast.Attribute | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.arg | ast.keyword | ast.alias
)


def identifiers(source: PythonText, name: str) -> list[Identifier]:
    """Every node that spells `name`; names in `global` and `nonlocal` are not among them."""
    return [node for node in source.nodes if isinstance(node, Identifier) and name in _spelt_by(node)]


def _spelt_by(node: Identifier) -> tuple[str | None, ...]:
    match node:
        case ast.Name():
            return (node.id,)
        case ast.Attribute():
            return (node.attr,)
        case ast.arg() | ast.keyword():
            return (node.arg,)
        case ast.alias():
            return node.name, node.asname
        case _:
            return (node.name,)


def at_line(nodes: Iterable[Node], line: int) -> list[Node]:
    """The nodes that are on a line, those that start on it first."""
    found = [node for node in nodes if _first(node) <= line <= (getattr(node, "end_lineno", None) or 0)]
    return sorted(found, key=lambda node: _first(node) != line)


def _first(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def respell(source: PythonText, nodes: Sequence[Identifier], old: str, new: str) -> tuple[SourceEdit, ...]:
    """The edits that spell `new` for `old` in all the nodes; none at all when one is not to be found in the text."""
    edits = []
    for node in nodes:
        start = _start(source, node, old)
        if start is None:
            return ()
        edits.append(SourceEdit(source.path, start, start + len(old), new))
    return tuple(dict.fromkeys(edits))


def _start(source: PythonText, node: Identifier, name: str) -> int | None:
    start, end = source.span(node)
    match node:
        case ast.Attribute():
            start = end - len(name)
        case ast.alias() if node.asname == name:
            start = end - len(name)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            head = re.compile(r"(?:async\s+)?(?:def|class)\s+").match(source.text, start)
            start = head.end() if head else start
    if source.text[start : start + len(name)] == name:
        return start
    return _in_f_string(source, node, name)


def _in_f_string(source: PythonText, node: Identifier, name: str) -> int | None:
    """Before Python 3.12 the positions inside f-strings are wrong; one occurrence in the string is the one meant."""
    strings = [
        other
        for other in source.nodes
        if isinstance(other, ast.JoinedStr) and any(child is node for child in ast.walk(other))
    ]
    if not strings:
        return None
    start, end = source.span(strings[0])
    found = list(re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", source.text[start:end]))
    return start + found[0].start() if len(found) == 1 else None


def counted(edits: Sequence[SourceEdit]) -> str:
    """How many places change, in words."""
    return "1 site" if len(edits) == 1 else f"{len(edits)} sites"
