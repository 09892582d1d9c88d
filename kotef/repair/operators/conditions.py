"""Operators for wrong, missing or superfluous conditions."""

import ast
from collections.abc import Iterator

from kotef.repair.operators.site import EditProposal, Site
from kotef.repair.scope import SIZED, FunctionScope


def boolean(site: Site) -> Iterator[EditProposal]:
    """`and` ↔ `or`."""
    node = site.node
    if isinstance(node, ast.BoolOp):
        new = "or" if isinstance(node.op, ast.And) else "and"
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield from site.between(left, right, new)


def dropped(site: Site) -> Iterator[EditProposal]:
    """`a and b` → `a` or `b`."""
    node = site.node
    if isinstance(node, ast.BoolOp):
        word = " and " if isinstance(node.op, ast.And) else " or "
        for place in range(len(node.values)):
            kept = [site.text(value) for number, value in enumerate(node.values) if number != place]
            yield from site.put(word.join(kept))


def negated(site: Site) -> Iterator[EditProposal]:
    """`not x` ↔ `x`, for conditions, returned truths, and wherever else a truth was seen."""
    node = site.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from site.put(site.text(node.operand))
        return

    is_returned = isinstance(site.parent, ast.Return) and isinstance(node, ast.BoolOp | ast.Name | ast.Call)
    # `<` has an opposite of its own, `a < b < c` has none
    has_opposite = isinstance(node, ast.Constant) or (isinstance(node, ast.Compare) and len(node.ops) == 1)
    may_be_true = site.is_read and isinstance(node, ast.Name | ast.Attribute | ast.Call)
    if (_is_condition(site) or is_returned) and not has_opposite:
        old = site.text(node)
        yield from site.put(f"not ({old})" if isinstance(node, ast.BoolOp) else f"not {old}")
    elif may_be_true and "bool" in site.scope.kinds(node):
        yield from site.put(f"not {site.text(node)}", extra=0.3)


def extended(site: Site) -> Iterator[EditProposal]:
    """`c` → `c and d`, `c or d`, with conditions made from the scope."""
    is_result = isinstance(site.parent, ast.Return)
    is_returned_condition = is_result and isinstance(site.node, ast.Compare | ast.BoolOp)
    if not _is_condition(site) and not is_returned_condition:
        return

    node, old = site.node, site.text(site.node)
    assert isinstance(node, ast.expr)
    other_word = _joined_by(node)  # what binds otherwise needs parentheses
    may_guard = ("[" in old or "." in old) and not is_result
    for test, extra in candidates(site.scope, site.node):
        if test == old:
            continue
        for word in ("and", "or"):
            grouped = f"({old})" if other_word not in {word, ""} else old
            yield from site.put(f"{grouped} {word} {test}", extra=extra)
            if may_guard:
                yield from site.put(f"{test} {word} {grouped}", extra=extra + 0.1)


def _joined_by(node: ast.expr) -> str:
    """`and` or `or` of an expression of several conditions; empty for any other."""
    if not isinstance(node, ast.BoolOp):
        return ""
    return "or" if isinstance(node.op, ast.Or) else "and"


def replaced(site: Site) -> Iterator[EditProposal]:
    """A condition → another one made from the scope."""
    if _is_condition(site):
        constant = isinstance(site.node, ast.Constant)
        for test, extra in candidates(site.scope, site.node):
            yield from site.put(test, extra=extra + (-0.8 if constant else 0.3))


def constant(site: Site) -> Iterator[EditProposal]:
    """A condition that holds always or never; ranks last."""
    if _is_condition(site) and isinstance(site.parent, ast.If) and not isinstance(site.node, ast.Constant):
        yield from site.put("True", anti="a condition made constant")
        yield from site.put("False", anti="a condition made constant")


def added(site: Site) -> Iterator[EditProposal]:
    """A simple statement comes to be under an `if`."""
    node, source = site.node, site.scope.source
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.Break | ast.Continue):
        return
    if "\n" in site.text(node) or not source.begins_line(node):
        return
    indent = source.indent(node)
    for test, extra in candidates(site.scope, node):
        yield from site.statement(f"if {test}:\n{indent}    {site.text(node)}", extra=extra)


def filtered(site: Site) -> Iterator[EditProposal]:
    """`[e for x in xs]` → `[e for x in xs if …]`, and an `if` dropped."""
    node = site.node
    if not isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        return
    last = node.generators[-1]
    if last.ifs:
        return
    targets = [part.id for part in ast.walk(last.target) if isinstance(part, ast.Name)]
    for place, name in enumerate(targets):
        for number, test in enumerate((name, f"{name} > 0", f"{name} is not None", f"not {name}", f"{name} % 2 == 0")):
            yield from site.put(f"{site.text(last.iter)} if {test}", last.iter, extra=0.1 * place + 0.1 * number)


def candidates(scope: FunctionScope, at: ast.AST) -> Iterator[tuple[str, float]]:
    """Conditions that could be meant here, likeliest first, with how much each costs."""
    own = scope.source.segment(at) if isinstance(at, ast.expr) else ""
    for place, test in enumerate(test for test in scope.conditions if test != own):
        yield test, 0.3 + 0.05 * place
    used = [
        node.id if isinstance(node, ast.Name) else node.arg
        for node in ast.walk(at)
        if isinstance(node, ast.Name | ast.arg)
    ]
    names = sorted(scope.variables, key=lambda name: name not in used)
    for place, name in enumerate(names):
        extra = (0.0 if name in used else 0.3) + 0.03 * place
        yield from _about(name, scope.types.get(name, frozenset()), extra)
    for attribute in scope.own_attributes:
        yield attribute, 0.8
        yield f"not {attribute}", 0.8
        yield f"{attribute} is None", 0.9
    for first in names:
        for second in names:
            kinds, others = (scope.types.get(name, frozenset()) for name in (first, second))
            if first != second and scope.alike(kinds, others) and not kinds & {"list", "dict", "function"}:
                for sign in ("<", "==", "<=", "!="):
                    yield f"{first} {sign} {second}", 0.9
            if first != second and (not others or others & SIZED) and not kinds & {"list", "dict"}:
                yield f"{first} in {second}", 0.9
                yield f"{first} not in {second}", 0.8


def _about(name: str, kinds: frozenset[str], extra: float) -> Iterator[tuple[str, float]]:
    """Conditions about one variable, as its types allow."""
    if not kinds or kinds & SIZED or "NoneType" in kinds or "bool" in kinds:
        yield name, 0.3 + extra
        yield f"not {name}", 0.2 + extra
    if not kinds or "NoneType" in kinds or not kinds <= (SIZED | {"int", "float", "bool"}):
        yield f"{name} is None", 0.2 + extra
        yield f"{name} is not None", 0.2 + extra
    if not kinds or kinds & {"int", "float"}:
        for place, test in enumerate(
            (" == 0", " > 0", " < 0", " <= 0", " == 1", " > 1", " <= 1", " < 2", " != 0", " >= 0")
        ):
            yield f"{name}{test}", 0.3 + 0.05 * place + extra
    if kinds & {"list", "tuple", "str"}:
        yield f"len({name}) == 1", 0.5 + extra
        yield f"len({name}) <= 1", 0.5 + extra
        yield f"len({name}) < 2", 0.6 + extra


def _is_condition(site: Site) -> bool:
    parent = site.parent
    tested = isinstance(parent, ast.If | ast.While | ast.IfExp) and parent.test is site.node
    filters = isinstance(parent, ast.comprehension) and site.node in parent.ifs
    return (tested or filters) and isinstance(site.node, ast.expr)
