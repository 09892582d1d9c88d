"""Fixer for a forgotten `self`."""

import ast
import re
from collections.abc import Iterator

from kotef.fixers.complaints import Complaint
from kotef.fixers.identifiers import at_line, counted
from kotef.fixers.misspellings import unbound_names
from kotef.fixers.source import PythonText
from kotef.fixers.symbol_index import Project, decorators, first_parameter
from kotef.fixers.types import FixProposal
from kotef.source import Function, Scopes, SourceEdit

_TAKES = re.compile(
    r"(?:(?P<owner>\w+)\.)?(?P<method>\w+)\(\) takes (?P<takes>\d+) positional arguments? but (?P<given>\d+) w"
)
_LOCAL = re.compile(r"(?:cannot access local variable|local variable) '(\w+)' (?:where it is not|referenced before)")
_STATIC = frozenset({"staticmethod", "classmethod"})


def parameter_missing(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """A TypeError that counts one argument too many: the instance, which the method's `def` does not take."""
    match = _TAKES.match(complaint.message)
    if match is None or int(match["given"]) != int(match["takes"]) + 1:
        return
    found = [
        (source, around, node)
        for source in project.with_word(match["method"])
        for node in source.nodes
        if isinstance(node, Function) and node.name == match["method"]
        if isinstance(around := project.scopes(source).scope_of(node), ast.ClassDef)
        if match["owner"] in {None, around.name}
    ]
    if len(found) == 1:
        source, around, node = found[0]
        if len(node.args.args) == int(match["takes"]) and not _has_own_self(node, around, project):
            yield from _with_self(project, source, node)


def name_unbound(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """A NameError inside a method: for `self` itself, or for something that the class has."""
    found = unbound_names(complaint, project)
    if found is None:
        return
    source, nodes = found
    scopes = project.scopes(source)
    method = scopes.method_of(nodes[0])
    if method is None:
        return
    if nodes[0].id == "self":
        if first_parameter(method[1]) not in {"self", "cls", "mcs"}:
            yield from _with_self(project, source, method[1])
        return
    if nodes[0].id in project.attributes(method[0].name):
        yield from _through_self(source, scopes, [node for node in nodes if _same_class(scopes, node, method[0])])


def local_unbound(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """An UnboundLocalError in a method: `count += 1` where the class keeps `self.count`."""
    match = _LOCAL.match(complaint.message)
    place = project.raised(complaint)
    if match is None or place is None:
        return
    source, line = place
    scopes = project.scopes(source)
    used = [node for node in source.nodes if isinstance(node, ast.Name) and node.id == match[1]]
    raised = at_line(used, line)
    method = scopes.method_of(raised[0]) if raised else None
    if method is None or match[1] not in project.attributes(method[0].name):
        return
    inside = [node for node in used if scopes.scope_of(node) is method[1]]
    stores = [node for node in inside if isinstance(node.ctx, ast.Store)]
    if stores and all(isinstance(scopes.parents[node], ast.AugAssign) for node in stores):
        yield from _through_self(source, scopes, inside)


def _same_class(scopes: Scopes, node: ast.AST, owner: ast.ClassDef) -> bool:
    method = scopes.method_of(node)
    return method is not None and method[0] is owner


def _has_own_self(node: Function, around: ast.ClassDef, project: Project) -> bool:
    """Whether the first parameter is the instance under another name: the body asks it for what the class has."""
    me = first_parameter(node)
    attributes = project.attributes(around.name)
    return me in {"self", "cls"} or any(
        isinstance(child, ast.Attribute)
        and isinstance(child.value, ast.Name)
        and child.value.id == me
        and child.attr in attributes
        for child in ast.walk(node)
    )


def _with_self(project: Project, source: PythonText, node: Function) -> Iterator[FixProposal]:
    """`self` as the first parameter of a plain method."""
    if not project.editable(source.path) or decorators(node) & _STATIC:
        return
    start, _ = source.span(node)
    head = re.compile(r"(?:async\s+)?def\s+\w+\s*\(\s*").match(source.masked, start)
    if head is None:  # type parameters are between
        return
    alone = not (node.args.posonlyargs or node.args.args or node.args.vararg or node.args.kwonlyargs or node.args.kwarg)
    edit = SourceEdit(source.path, head.end(), head.end(), "self" if alone else "self, ")
    yield FixProposal((edit,), f"{source.path}:{node.lineno}: the method {node.name}() does not take self")


def _through_self(source: PythonText, scopes: Scopes, nodes: list[ast.Name]) -> Iterator[FixProposal]:
    """`name` as `self.name`, whatever the method calls its instance."""
    edits = []
    for node in nodes:
        method = scopes.method_of(node)
        me = first_parameter(method[1]) if method and "staticmethod" not in decorators(method[1]) else None
        start, end = source.span(node)
        if me is None or source.text[start:end] != node.id:
            return
        edits.append(SourceEdit(source.path, start, start, f"{me}."))
    if edits:
        what = f"{nodes[0].id!r} is an attribute of the class and is reached through the instance"
        yield FixProposal(tuple(edits), f"{source.path}:{nodes[0].lineno}: {what} ({counted(edits)})")
