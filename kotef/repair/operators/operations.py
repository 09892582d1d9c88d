"""Operators for wrong arithmetic, signs, steps and comparisons."""

import ast
from collections.abc import Iterator
from itertools import combinations, islice
from typing import Final

from kotef.repair.operators.site import EditProposal, Site

_MOST_LEAVES: Final = 5
"""Operands of a sum or product of which pairs are exchanged."""
_COMPARE: Final[dict[type[ast.cmpop], tuple[str, ...]]] = {
    ast.Lt: ("<=", ">", ">=", "!=", "=="),
    ast.LtE: ("<", ">=", ">", "==", "!="),
    ast.Gt: (">=", "<", "<=", "!=", "=="),
    ast.GtE: (">", "<=", "<", "==", "!="),
    ast.Eq: ("!=", "<=", ">=", "in", "is", "<", ">"),
    ast.NotEq: ("==", "<", ">", "not in", "is not"),
    ast.In: ("not in", "=="),
    ast.NotIn: ("in", "!="),
    ast.Is: ("is not", "=="),
    ast.IsNot: ("is", "!="),
}
_SIGN: Final[dict[type[ast.operator], str]] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_CLOSE: Final[dict[str, tuple[str, ...]]] = {
    "+": ("-", "*", "|", "//"), "-": ("+", "*", "%", "/"), "*": ("+", "//", "/", "**", "-"), "/": ("//", "*", "%", "-"),
    "//": ("/", "%", "*", "-", ">>"), "%": ("//", "/", "*", "-"), "**": ("*", "^", "+"), "&": ("|", "^", "-"),
    "|": ("&", "^", "+"), "^": ("&", "|", "**"), "<<": (">>", "*"), ">>": ("<<", "//"),
}  # fmt: skip
"""Sign → what it is mixed up with, likeliest first."""


def compare(site: Site) -> Iterator[EditProposal]:
    """`<` ↔ `<=`, `==` ↔ `!=`, `in` ↔ `not in`, …"""
    if isinstance(site.node, ast.Compare):
        sides = [site.node.left, *site.node.comparators]
        for left, right, old in zip(sides, sides[1:], site.node.ops, strict=False):
            for place, new in enumerate(_COMPARE[type(old)]):
                yield from site.between(left, right, new, extra=0.25 * place)


def chain(site: Site) -> Iterator[EditProposal]:
    """`a < b` → `0 < a < b`: the other end of a range."""
    node = site.node
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Lt | ast.LtE):
        for place, low in enumerate(("0 <=", "0 <", "1 <=", "1 <")):
            yield from site.put(f"{low} {site.text(node)}", extra=0.1 * place)


def arithmetic(site: Site) -> Iterator[EditProposal]:
    """`+` ↔ `-`, `/` ↔ `//`, `&` ↔ `|`, …"""
    if isinstance(site.node, ast.BinOp) and type(site.node.op) in _SIGN:
        for place, new in enumerate(_CLOSE[_SIGN[type(site.node.op)]]):
            yield from site.between(site.node.left, site.node.right, new, extra=0.3 * place)


def assignment_sign(site: Site) -> Iterator[EditProposal]:
    """`+=` ↔ `-=` ↔ `=`, and `x = y` → `x += y` for a name that has a value."""
    node = site.node
    if isinstance(node, ast.AugAssign):
        signs = [f"{sign}=" for sign in _CLOSE.get(_SIGN.get(type(node.op), ""), ())]
        for place, new in enumerate([*signs, "="]):
            yield from site.between(node.target, node.value, new, extra=0.25 * place)
    elif (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name | ast.Subscript | ast.Attribute)
    ):
        for place, new in enumerate(("+=", "-=", "*=", "|=")):
            yield from site.between(node.targets[0], node.value, new, extra=0.4 + 0.3 * place)


def off_by_one(site: Site) -> Iterator[EditProposal]:
    """`e` → `e + 1`, `e - 1`, and back, where a number stands."""
    node, scope = site.node, site.scope
    if not site.is_read or not scope.numeric(node) or isinstance(node, ast.Constant | ast.Compare | ast.BoolOp):
        return
    if isinstance(
        node, ast.List | ast.Dict | ast.Set | ast.Tuple | ast.JoinedStr | ast.Lambda | ast.IfExp
    ) or scope.around.is_called(node):
        return
    if isinstance(site.parent, ast.Attribute) or (isinstance(site.parent, ast.Subscript) and site.parent.value is node):
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and isinstance(node.right, ast.Constant):
        yield from site.put(site.text(node.left), extra=0.0)
        if node.right.value == 1:
            yield from site.put(f"{site.text(node.left)} {'-' if isinstance(node.op, ast.Add) else '+'} 1", extra=0.4)
            return
    counts = isinstance(site.parent, ast.Call | ast.Compare | ast.Slice | ast.Subscript | ast.Return)
    known = bool(scope.kinds(node) & {"int"})
    extra = (0.0 if counts else 0.5) + (0.0 if known else 0.4) + (0.5 if isinstance(site.parent, ast.BinOp) else 0.0)
    text = site.text(node)
    grouped = f"({text})" if isinstance(node, ast.IfExp | ast.BoolOp) else text
    yield from site.put(f"{grouped} + 1", extra=extra)
    yield from site.put(f"{grouped} - 1", extra=extra)


def operand_swap(site: Site) -> Iterator[EditProposal]:
    """`a - b` → `b - a`, `a + b * c` → `b + a * c`, `a < b` is `compare`'s; the branches of `x if c else y`."""
    node = site.node
    if isinstance(node, ast.BinOp) and not (isinstance(node.op, ast.Mult | ast.BitAnd | ast.BitOr | ast.BitXor)):
        left, right = site.text(node.left), site.text(node.right)
        both = site.scope.kinds(node.left) | site.scope.kinds(node.right)
        commutes = isinstance(node.op, ast.Add) and (both and both <= {"int", "float"})
        if not commutes:
            sign = _SIGN.get(type(node.op), "@")
            inner = (
                right
                if isinstance(node.right, ast.Name | ast.Constant | ast.Call | ast.Subscript | ast.Attribute)
                else f"({right})"
            )
            simple = isinstance(node.left, ast.Name | ast.Constant | ast.Call | ast.Subscript | ast.Attribute)
            yield from site.put(f"{inner} {sign} {left if simple else f'({left})'}")
        yield from _leaves_swapped(site)
    elif isinstance(node, ast.IfExp):
        yield from site.put(f"{site.text(node.orelse)} if {site.text(node.test)} else {site.text(node.body)}")
    elif isinstance(node, ast.Tuple) and site.is_read and len(node.elts) == 2:
        first, second = (site.text(part) for part in node.elts)
        whole = f"{second}, {first}"
        yield from site.put(f"({whole})" if site.text(node).startswith("(") else whole, extra=0.3)


def _leaves_swapped(site: Site) -> Iterator[EditProposal]:
    """Two operands of a kind that stand apart in a sum or product change places."""
    node, source = site.node, site.scope.source
    if isinstance(site.parent, ast.BinOp) or not isinstance(node, ast.BinOp):
        return
    leaves = list(islice(_leaves(node), _MOST_LEAVES + 1))
    if len(leaves) > _MOST_LEAVES:
        return
    begin, end = source.span(node)
    for (first, above), (second, other) in combinations(leaves, 2):
        if above is other or type(first) is not type(second) or isinstance(first, ast.Constant):
            continue
        if site.text(first) == site.text(second):
            continue
        (low, low_end), (high, high_end) = source.span(first), source.span(second)
        pieces = [begin, low, high, high_end, low_end, high, low, low_end, high_end, end]
        text = "".join(source.text[at:to] for at, to in zip(pieces[::2], pieces[1::2], strict=True))
        yield from site.put(text, extra=0.2)


def _leaves(node: ast.BinOp) -> Iterator[tuple[ast.expr, ast.BinOp]]:
    """The operands that are not operations themselves, each with the operation it is of, from left to right."""
    waiting: list[tuple[ast.expr, ast.BinOp]] = [(node.right, node), (node.left, node)]
    while waiting:
        part, above = waiting.pop()
        if isinstance(part, ast.BinOp):
            waiting += [(part.right, part), (part.left, part)]
        else:
            yield part, above


def drop_operand(site: Site) -> Iterator[EditProposal]:
    """`a + b` → `a` or `b`; `-x` → `x`."""
    node = site.node
    if isinstance(node, ast.BinOp):
        yield from site.put(site.text(node.left), extra=0.2)
        yield from site.put(site.text(node.right), extra=0.2)
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        yield from site.put(site.text(node.operand))


def regroup(site: Site) -> Iterator[EditProposal]:
    """`a + b * c` → `(a + b) * c` and the reverse: parentheses that are missing or stand wrong."""
    node = site.node
    if not isinstance(node, ast.BinOp) or type(node.op) not in _SIGN:
        return
    outer = _SIGN[type(node.op)]
    if isinstance(node.right, ast.BinOp) and type(node.right.op) in _SIGN:
        first, middle, last = (site.text(part) for part in (node.left, node.right.left, node.right.right))
        yield from site.put(f"({first} {outer} {middle}) {_SIGN[type(node.right.op)]} {last}")
    if isinstance(node.left, ast.BinOp) and type(node.left.op) in _SIGN:
        first, middle, last = (site.text(part) for part in (node.left.left, node.left.right, node.right))
        yield from site.put(f"{first} {_SIGN[type(node.left.op)]} ({middle} {outer} {last})")


def extend_operation(site: Site) -> Iterator[EditProposal]:
    """`e` → `e + x`, `e - x`, `e * x`, `e % x`, `e ** 2` for the numbers, texts and lists of the scope."""
    node, scope = site.node, site.scope
    if not site.is_read or scope.around.is_called(node) or isinstance(node, ast.Compare | ast.BoolOp | ast.Lambda):
        return
    parent = site.parent
    if isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Subscript) and parent.value is node):
        return
    if scope.truth(node):
        return
    kinds, text = scope.kinds(node), site.text(node)
    inside = 0.0 if isinstance(parent, ast.Return | ast.Assign | ast.AugAssign | ast.Call | ast.Compare) else 0.6
    if scope.numeric(node) and not isinstance(node, ast.Constant):
        yield from site.put(f"{text} ** 2", extra=inside + 0.8)
        yield from site.put(f"{text} * 2", extra=inside + 0.8)
        yield from site.put(f"{text} // 2", extra=inside + 1.0)
    names = [*scope.variables, *scope.own_attributes, *scope.globals[:4]]
    for name in names:
        known = scope.types.get(name, frozenset())
        if name == text or known == {"bool"} or not scope.alike(kinds, known):
            continue
        signs = ("+",) if kinds and not kinds & {"int", "float"} else ("+", "-", "*", "%", "//")
        for place, sign in enumerate(signs):
            yield from site.put(f"{text} {sign} {name}", extra=inside + 0.3 * place)
            if sign in {"+", "-"} and not (kinds and kinds <= {"int", "float"} and sign == "+"):
                yield from site.put(f"{name} {sign} {text}", extra=inside + 0.2 + 0.3 * place)
