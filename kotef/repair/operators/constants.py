"""Operators for wrong constants, and their replacements."""

import ast
from collections.abc import Iterator

from kotef.repair.operators.site import EditProposal, Site
from kotef.source import SourceEdit

_SEPARATORS = (", ", ",", ": ", ":", "; ", ";", " - ", "-", "_", ".", "/", " ")
_EMPTY = ("[]", "{}", '""', "0", "None", "set()", "()")


def number(site: Site) -> Iterator[EditProposal]:
    """A number → its neighbours, 0, 1, 2, ten times and a tenth, and the numbers of function, file and tests."""
    node = site.node
    if not isinstance(node, ast.Constant) or type(node.value) not in {int, float} or not _may_change(site):
        return
    value = node.value
    assert isinstance(value, int | float)
    near = [value + 1, value - 1] if isinstance(value, int) else [value * 10, value / 10]
    round_numbers = [0, 1, -1, 2] if isinstance(value, int) else [0.0, 1.0, 0.5, 2.0]
    scaled = [value * 10, value // 10 if isinstance(value, int) else value / 100, -value]
    scaled += [value * 2, value // 2 if isinstance(value, int) else value / 2]
    scaled += [value * 100, value // 100] if isinstance(value, int) and abs(value) >= 100 else []
    ranked = [(0.0, near), (0.3, round_numbers), (0.6, scaled)]
    seen: set[float] = {value}
    operand = isinstance(site.parent, ast.BinOp)
    for extra, values in ranked:
        for new in values:
            if new not in seen and not (operand and new < 0):
                seen.add(new)
                yield from site.put(repr(new), extra=extra)
    for extra, found in (
        (0.5, site.scope.literals),
        (0.8, site.scope.around.literals),
        (1.2, site.scope.around.test_literals),
    ):
        known = [new for new in found if isinstance(new, int | float) and not isinstance(new, bool) and new not in seen]
        for place, new in enumerate(sorted(known, key=lambda new: (abs(new - value), str(new)))[:40]):
            seen.add(new)
            yield from site.put(repr(new), extra=extra + 0.03 * place)


def text(site: Site) -> Iterator[EditProposal]:
    """A text → other texts of function, file and tests, other case, without or with blanks, empty."""
    node = site.node
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or not _may_change(site):
        return
    value = node.value
    own = [value.strip(), value + " ", value.lower(), value.upper(), value.capitalize(), "", " "]
    seen = {value}
    for place, new in enumerate(own):
        if new not in seen:
            seen.add(new)
            yield from site.put(_quoted(site, new), extra=0.4 + 0.1 * place)
    for extra, found in (
        (0.2, site.scope.literals),
        (0.6, site.scope.around.literals),
        (1.0, site.scope.around.test_literals),
    ):
        known = [new for new in found if isinstance(new, str) and new not in seen]
        for place, new in enumerate(sorted(known, key=lambda new: (_distance(new, value), new))[:40]):
            seen.add(new)
            yield from site.put(_quoted(site, new), extra=extra + 0.03 * place)


def formatted_text(site: Site) -> Iterator[EditProposal]:
    """A literal part of an f-string → without or with blanks, another separator, other case, nothing."""
    node, whole = site.node, site.parent
    if not isinstance(whole, ast.JoinedStr) or not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return
    place = site.scope.source.literal_span(whole, node)
    if place is None:
        return
    value = node.value
    blanks = [value.strip(), f"{value} ", f" {value}", value[:-1], value[1:]]
    separators = [*_SEPARATORS] if value.strip() in {each.strip() for each in _SEPARATORS} else []
    seen = {value}
    for rank, new in enumerate((*blanks, *separators, value.lower(), value.upper(), value.capitalize(), "")):
        if new not in seen:
            seen.add(new)
            yield EditProposal(SourceEdit(site.scope.source.path, *place, new), 0.1 * rank)


def truth(site: Site) -> Iterator[EditProposal]:
    """`True` ↔ `False`; `None` and the empty values among themselves."""
    node = site.node
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        is_condition = isinstance(site.parent, ast.If | ast.While)
        yield from site.put(str(not node.value), anti="a condition made constant" if is_condition else "")
    elif _is_empty(node) and site.is_read:
        assert isinstance(node, ast.expr)
        for place, new in enumerate(_EMPTY):
            yield from site.put(new, extra=0.4 + 0.1 * place)
        if isinstance(node, ast.List):
            yield from site.put("[[]]", extra=0.2)


def infinity(site: Site) -> Iterator[EditProposal]:
    """The start of a search for the smallest or largest: `0` → `float("-inf")`, and the other way round."""
    node = site.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float" and node.args:
        old = node.args[0]
        if isinstance(old, ast.Constant) and old.value in {"inf", "-inf"}:
            yield from site.put(repr("-inf" if old.value == "inf" else "inf"), old)
    elif isinstance(node, ast.Constant) and type(node.value) in {int, float} and isinstance(site.parent, ast.Assign):
        yield from site.put('float("-inf")')
        yield from site.put('float("inf")')


def initial_value(site: Site) -> Iterator[EditProposal]:
    """The first value of a variable → an argument, its first element, a list that holds it."""
    node = site.node
    if not isinstance(site.parent, ast.Assign) or site.parent.value is not node or not isinstance(node, ast.expr):
        return
    if not (_is_empty(node) or isinstance(node, ast.Constant | ast.List | ast.UnaryOp)):
        return
    for place, name in enumerate(site.scope.parameters):
        if name in {"self", "cls"}:
            continue
        kinds = site.scope.types.get(name, frozenset())
        extra = 0.05 * place
        yield from site.put(name, extra=extra)
        if not kinds or kinds & {"list", "tuple", "str"}:
            yield from site.put(f"{name}[0]", extra=extra)
            yield from site.put(f"len({name})", extra=extra + 0.3)
        yield from site.put(f"[{name}]", extra=extra + 0.4)
        if isinstance(node, ast.List) and not node.elts:
            yield from site.put(f"list({name})", extra=extra + 0.4)
            yield from site.put(f"[{name}[0]]", extra=extra + 0.4)
    if isinstance(node, ast.BinOp) or (isinstance(node, ast.List) and len(node.elts) == 1):
        yield from site.put("[]", extra=0.3)
    yield from site.put("[0]", extra=1.0)
    yield from site.put("[1]", extra=1.0)


def _may_change(site: Site) -> bool:
    parent = site.parent
    is_text = isinstance(parent, ast.Expr | ast.JoinedStr)
    return not is_text and not isinstance(parent, ast.MatchValue)


def _is_empty(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=None | "" | 0):
            return not isinstance(node.value, bool)
        case ast.List(elts=[]) | ast.Tuple(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(func=ast.Name(id="set" | "list" | "dict"), args=[]):
            return True
        case _:
            return False


def _quoted(site: Site, value: str) -> str:
    """With the quotes the old text has."""
    new = repr(value)
    if site.text(site.node).startswith('"') and '"' not in value and "\\" not in new and new.startswith("'"):
        return f'"{value}"'
    return new


def _distance(first: str, second: str) -> tuple[int, int]:
    same = sum(left == right for left, right in zip(first, second, strict=False))
    return (-same, abs(len(first) - len(second)))
