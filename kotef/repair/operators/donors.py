"""Operators that copy an expression from nearby code."""

import ast
from collections.abc import Iterator

from kotef.repair.operators.site import EditProposal, Site

_MOST = 60
"""Donors tried at one place."""


def donor(site: Site) -> Iterator[EditProposal]:
    """An expression → another expression of the function, or a small change of it."""
    node, scope = site.node, site.scope
    if not site.is_read or scope.around.is_called(node) or isinstance(node, ast.Lambda | ast.JoinedStr):
        return
    old, kinds = site.text(node), scope.kinds(node)
    size = 0.0 if isinstance(node, ast.Name | ast.Constant) else 0.2
    for place, (text, other) in enumerate(scope.expressions[:_MOST]):
        if text != old and scope.alike(kinds, scope.kinds(other)) and old not in {"self", "cls"}:
            yield from site.put(text, extra=size + 0.02 * place)


def combination(site: Site) -> Iterator[EditProposal]:
    """A returned or assigned `e` → `e + d`, `d + e`, for a donor d."""
    node, scope = site.node, site.scope
    if not site.is_read or not isinstance(
        site.parent, ast.Return | ast.Assign | ast.AugAssign | ast.Call | ast.Compare
    ):
        return
    if scope.around.is_called(node) or isinstance(node, ast.Lambda | ast.Compare | ast.BoolOp):
        return
    old, kinds = site.text(node), scope.kinds(node)
    for place, (text, other) in enumerate(scope.expressions[:_MOST]):
        if text != old and scope.alike(kinds, scope.kinds(other)):
            yield from site.put(f"{old} + {text}", extra=0.03 * place)
            yield from site.put(f"{text} + {old}", extra=0.2 + 0.03 * place)
            if not kinds or kinds & {"int", "float"}:
                yield from site.put(f"{old} - {text}", extra=0.2 + 0.03 * place)


def conditional(site: Site) -> Iterator[EditProposal]:
    """`e` → `e if c else v`."""
    node, scope = site.node, site.scope
    if not isinstance(site.parent, ast.Return | ast.Assign) or not site.is_read:
        return
    names = [
        name for name in scope.variables if name in {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    ]
    for place, name in enumerate(names):
        for number, value in enumerate(("None", "0", "[]", '""', "False")):
            yield from site.put(f"{site.text(node)} if {name} else {value}", extra=0.1 * place + 0.1 * number)
