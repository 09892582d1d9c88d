"""Operators for wrong names and attributes."""

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from kotef.repair.operators.site import SIMPLE, EditProposal, Site, block_of
from kotef.source import SourceEdit


def variable(site: Site) -> Iterator[EditProposal]:
    """A name that is read → another variable of the scope whose types fit."""
    node, scope = site.node, site.scope
    if not isinstance(node, ast.Name) or not site.is_read or not _is_variable(node, site):
        return

    kinds = scope.types.get(node.id, frozenset())
    used = {other.id for other in scope.nodes if isinstance(other, ast.Name) and other.lineno < node.lineno}
    for name in scope.variables:
        other = scope.types.get(name, frozenset())
        if name == node.id or not scope.alike(kinds, other):
            continue
        unseen = 0.0 if name in used or name in scope.parameters else 0.5
        unlike = 0.0 if kinds & other else 0.4
        yield from site.put(name, extra=unseen + unlike)

    for name in (*scope.own_attributes, *scope.globals):
        yield from site.put(name, extra=0.8)


def _is_variable(node: ast.Name, site: Site) -> bool:
    """Whether a name may be another variable; a function that is called may where a variable holds it."""
    if node.id in {"self", "cls"}:
        return False
    if site.scope.around.is_called(node):
        return node.id in site.scope.variables
    return node.id not in site.scope.around.callables and not isinstance(site.parent, ast.Starred)


def variable_throughout(site: Site) -> Iterator[EditProposal]:
    """All uses of one name in two statements after each other → another variable: the same slip made twice."""
    node, scope, source = site.node, site.scope, site.scope.source
    block = block_of(site)
    after = block[block.index(node) + 1 :][:1] if isinstance(node, ast.stmt) and block else []
    if not after or not isinstance(node, SIMPLE) or not isinstance(after[0], SIMPLE):
        return
    uses = [
        part
        for both in (node, *after)
        for part in ast.walk(both)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    ]
    for name in dict.fromkeys(part.id for part in uses if part.id in scope.variables):
        places = [source.span(part) for part in uses if part.id == name]
        if len(places) < 2:
            continue
        for other in scope.variables:
            if other != name and scope.alike(scope.types.get(name, frozenset()), scope.types.get(other, frozenset())):
                start, end = places[0][0], places[-1][1]
                pieces = [source.text[low:high] for (_, low), (high, _) in pairwise(places)]
                text = other + "".join(piece + other for piece in pieces)
                yield EditProposal(SourceEdit(source.path, start, end, text.replace("\r\n", "\n")))


def stored_name(site: Site) -> Iterator[EditProposal]:
    """The target of an assignment → another variable."""
    node, scope = site.node, site.scope
    if (
        not isinstance(node, ast.Name)
        or not isinstance(node.ctx, ast.Store)
        or isinstance(site.parent, ast.comprehension)
    ):
        return
    kinds = scope.types.get(node.id, frozenset())
    for name in scope.variables:
        if name != node.id and scope.alike(kinds, scope.types.get(name, frozenset())):
            yield from site.put(name)
    for name in scope.own_attributes:
        yield from site.put(name, extra=0.3)


def attribute(site: Site) -> Iterator[EditProposal]:
    """`a.x` → `a.y`, for what the file reads or writes on such a receiver."""
    node, around = site.node, site.scope.around
    if not isinstance(node, ast.Attribute) or around.is_called(node):
        return
    receiver = site.text(node.value)
    same = around.attributes.get(receiver, Counter[str]())
    methods = around.methods_of(site.scope.unit)
    properties = {name for name, method in methods.items() if _is_property(method)}
    known = {*same, *properties} if receiver == "self" else set(same)
    names = {*around.all_attributes, *known} - (methods.keys() - properties) - {node.attr}
    for name in sorted(names, key=lambda name: (name not in known, -around.all_attributes[name], name)):
        yield from site.put(f"{receiver}.{name}", extra=0.0 if name in known else 0.5)


def _is_property(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it is read without a call: `property`, `functools.cached_property`, or a setter of one."""
    texts = [ast.unparse(decorator) for decorator in method.decorator_list]
    return any(text.endswith(("property", ".setter")) for text in texts)


def missing_attribute(site: Site) -> Iterator[EditProposal]:
    """`x` → `x.y`, for the attributes the file reads on that name; `count` → `self.count`."""
    node, scope = site.node, site.scope
    if not isinstance(node, ast.Name | ast.Attribute) or not site.is_read or isinstance(site.parent, ast.Attribute):
        return
    if scope.around.is_called(node):
        return
    text = site.text(node)
    if f"self.{text}" in scope.own_attributes:
        yield from site.put(f"self.{text}")
    kinds = scope.kinds(node)
    if kinds and kinds <= {"int", "float", "str", "list", "dict", "set", "tuple", "bool"}:
        return
    seen = scope.around.attributes.get(text, Counter[str]())
    for name in (*seen, *(name for name in scope.around.all_attributes if name not in seen)):
        yield from site.put(f"{text}.{name}", extra=0.2 if name in seen else 0.7)


def dropped_attribute(site: Site) -> Iterator[EditProposal]:
    """`x.y` → `x`."""
    if isinstance(site.node, ast.Attribute) and site.is_read and not site.scope.around.is_called(site.node):
        yield from site.put(site.text(site.node.value))


def swapped_targets(site: Site) -> Iterator[EditProposal]:
    """`a, b = …` → `b, a = …`; also the targets of a loop."""
    node = site.node
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store) and len(node.elts) == 2:
        first, second = (site.text(part) for part in node.elts)
        edit = f"{second}, {first}"
        yield from site.put(f"({edit})" if site.text(node).startswith("(") else edit)


def exception(site: Site) -> Iterator[EditProposal]:
    """The exception raised or caught → one that the tests name, or a relative."""
    node = site.node
    if isinstance(node, ast.Name) and node.id.endswith(("Error", "Exception", "Iteration")):
        wanted = [name for name in sorted(site.scope.around.test_names) if name.endswith(("Error", "Exception"))]
        known = ["ValueError", "TypeError", "KeyError", "IndexError", "ZeroDivisionError", "StopIteration", "Exception"]
        for place, name in enumerate(dict.fromkeys([*wanted, *known])):
            yield from site.put(name, extra=0.05 * place if name in wanted else 0.6)
