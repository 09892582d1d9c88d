"""Operators for wrong calls and wrong arguments."""

import ast
from collections.abc import Iterator
from typing import Final

from kotef.repair.operators.site import EditProposal, Site
from kotef.repair.source import FunctionNode

_FAMILIES: Final = tuple(
    tuple(row.split())
    for row in (
        "min max",
        "any all",
        "sorted reversed list",
        "int float round",
        "int str",
        "list set tuple",
        "sum max min len",
        "floor ceil trunc",
        "append extend add",
        "append appendleft",
        "pop popleft",
        "add discard remove",
        "add update",
        "lower upper",
        "rstrip lstrip strip",
        "startswith endswith",
        "find rfind index",
        "keys values items",
        "isdigit isalpha isalnum isnumeric isspace",
        "islower isupper",
        "split splitlines rsplit",
        "union intersection difference symmetric_difference",
        "issubset issuperset",
        "title capitalize",
        "insert append",
        "pop get",
        "ljust rjust center",
        "partition rpartition",
        "removeprefix removesuffix",
        "combinations permutations product combinations_with_replacement",
        "bisect_left bisect_right",
        "heappush heappop",
        "days seconds total_seconds",
    )
)
SIBLINGS: Final[dict[str, tuple[str, ...]]] = {
    name: tuple(dict.fromkeys(other for family in _FAMILIES if name in family for other in family if other != name))
    for family in _FAMILIES
    for name in family
}
"""Name → functions or methods that are mixed up with it."""
_WRAPS: Final = (
    ("len", "sized", 0.3), ("abs", "number", 0.0), ("int", "number str", 0.1), ("str", "number", 0.2),
    ("list", "sized", 0.4), ("sorted", "sized", 0.2), ("set", "sized", 0.5), ("tuple", "list", 0.6),
    ("float", "number str", 0.5), ("reversed", "list", 0.7), ("sum", "list", 0.6), ("max", "list", 0.7),
    ("min", "list", 0.7), ("round", "number", 0.6), ("bool", "any", 0.8), ("any", "list", 0.8), ("all", "list", 0.8),
)  # fmt: skip
"""Function, what it is applied to, how unlikely it is to be missing."""
_CHAINS: Final = (
    ("lower()", "str", 0.0), ("strip()", "str", 0.0), ("copy()", "list dict set", 0.2), ("upper()", "str", 0.2),
    ("items()", "dict", 0.0), ("values()", "dict", 0.1), ("keys()", "dict", 0.4), ("split()", "str", 0.3),
)  # fmt: skip
_KINDS: Final = {
    "number": {"int", "float"}, "str": {"str"}, "list": {"list", "tuple", "range", "set", "generator"},
    "sized": {"list", "tuple", "str", "dict", "set", "range"}, "dict": {"dict", "defaultdict", "Counter"},
    "set": {"set"}, "any": set[str](),
}  # fmt: skip


def sibling(site: Site) -> Iterator[EditProposal]:
    """`min` ↔ `max`, `append` ↔ `extend`, and other functions of the module or methods of the class."""
    node, around = site.node, site.scope.around
    if isinstance(node, ast.Name) and around.is_called(node):
        for place, name in enumerate(SIBLINGS.get(node.id, ())):
            yield from site.put(name, extra=0.1 * place)
        count = _arity(site)
        for name, other in around.callables.items():
            if name != node.id and node.id in around.callables and _takes(other, count):
                yield from site.put(name, extra=0.5)
        for name, inner in site.scope.inner.items():
            if name != node.id and _takes(inner, count):
                yield from site.put(name, extra=0.5)
    elif isinstance(node, ast.Attribute) and around.is_called(node):
        receiver = site.text(node.value)
        for place, name in enumerate(SIBLINGS.get(node.attr, ())):
            yield from site.put(f"{receiver}.{name}", extra=0.1 * place)
        if receiver == "self":
            for name, method in around.methods_of(site.scope.unit).items():
                if name != node.attr and _takes(method, _arity(site) + 1):
                    yield from site.put(f"self.{name}", extra=0.4)


def argument_swap(site: Site) -> Iterator[EditProposal]:
    """`f(a, b)` → `f(b, a)`, any two positional arguments."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
    for first in range(len(node.args)):
        for second in range(first + 1, len(node.args)):
            texts = [site.text(argument) for argument in node.args]
            if texts[first] != texts[second] and not any(isinstance(part, ast.Starred) for part in node.args):
                texts[first], texts[second] = texts[second], texts[first]
                yield from _with_arguments(site, node, texts, extra=0.3 * (second - first - 1))


def arguments(site: Site) -> Iterator[EditProposal]:
    """An argument dropped, or a variable passed on as one more."""
    node, scope = site.node, site.scope
    if not isinstance(node, ast.Call):
        return
    texts = [site.text(argument) for argument in node.args]
    for place in range(len(texts)):
        if len(texts) > 1:
            yield from _with_arguments(site, node, texts[:place] + texts[place + 1 :], extra=0.4)
    for keyword in node.keywords:
        yield from _without_keyword(site, node, keyword)
    called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    target = (
        scope.around.callables.get(called) or scope.inner.get(called) or scope.around.methods_of(scope.unit).get(called)
    )
    if isinstance(target, FunctionNode) and not any(isinstance(part, ast.Starred) for part in node.args):
        offset = 1 if isinstance(node.func, ast.Attribute) else 0
        parameters = target.args.args[offset + len(texts) :]
        for parameter in parameters[:1]:
            for name in sorted(scope.variables, key=lambda name: name != parameter.arg):
                yield from _with_arguments(site, node, [*texts, name], extra=0.0 if name == parameter.arg else 0.6)


def known_shapes(site: Site) -> Iterator[EditProposal]:
    """`range(n)` → `range(1, n)`; `sorted(x)` → `sorted(x, reverse=True)`; `d[k]` → `d.get(k, 0)`; and the like."""
    node = site.node
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[stop]):
            end = site.text(stop)
            for place, new in enumerate(
                (f"1, {end} + 1", f"1, {end}", f"{end} - 1, -1, -1", f"0, {end}, 2", f"2, {end} + 1")
            ):
                yield from _with_arguments(site, node, [new], extra=0.15 * place)
        case ast.Call(func=ast.Name(id="range"), args=[start, stop]):
            begin, end = site.text(start), site.text(stop)
            shapes = (
                [end],
                [begin, f"{end} + 1"],
                [f"{begin} + 1", end],
                [f"{begin} + 1", f"{end} + 1"],
                [begin, end, "-1"],
            )
            for place, parts in enumerate(shapes):
                yield from _with_arguments(site, node, parts, extra=0.15 * place)
            yield from _with_arguments(site, node, [end, begin, "-1"], extra=0.8)
            yield from _with_arguments(site, node, [begin, end, begin], extra=0.8)
        case ast.Call(func=ast.Name(id="enumerate"), args=[things]):
            yield from _with_arguments(site, node, [site.text(things), "1"])
        case ast.Call(func=ast.Name(id="enumerate"), args=[things, _]):
            yield from _with_arguments(site, node, [site.text(things)])
        case ast.Call(func=ast.Name(id="sorted") | ast.Attribute(attr="sort")):
            yield from _reversed(site, node)
        case ast.Call(func=ast.Name(id="round"), args=[value]):
            yield from _with_arguments(site, node, [site.text(value), "2"], extra=0.3)
            yield from _with_arguments(site, node, [site.text(value), "1"], extra=0.6)
        case ast.Call(func=ast.Attribute(attr="split"), args=[ast.Constant(value=" ")]):
            yield from _with_arguments(site, node, [])
            yield from _with_arguments(site, node, ['" "', "1"], extra=0.2)
        case ast.Call(func=ast.Attribute(attr="split" | "rsplit"), args=[separator]):
            yield from _with_arguments(site, node, [site.text(separator), "1"])
        case ast.Call(func=ast.Attribute(attr="replace"), args=[old, new]):
            yield from _with_arguments(site, node, [site.text(old), site.text(new), "1"], extra=0.3)
        case ast.Call(func=ast.Attribute(attr="pop"), args=[]):
            yield from _with_arguments(site, node, ["0"])
        case ast.Call(func=ast.Attribute(attr="pop"), args=[ast.Constant(value=0)]):
            yield from _with_arguments(site, node, [])
        case ast.Call(func=ast.Attribute(attr="get"), args=[key]):
            for place, default in enumerate(("0", "[]", '""', "False")):
                yield from _with_arguments(site, node, [site.text(key), default], extra=0.15 * place)
        case ast.Subscript(ctx=ast.Load()) if site.scope.may_be(node.value, _KINDS["dict"]) and not isinstance(
            node.slice, ast.Slice
        ):
            known = 0.0 if site.scope.kinds(node.value) else 1.0
            for place, default in enumerate(("", ", 0", ", []", ', ""')):
                yield from site.put(
                    f"{site.text(node.value)}.get({site.text(node.slice)}{default})", extra=known + 0.15 * place
                )


def wrap(site: Site) -> Iterator[EditProposal]:
    """`x` → `len(x)`, `abs(x)`, `sorted(x)`, `x.lower()`, `not x`, `-x`, … where the type allows it."""
    node, scope = site.node, site.scope
    if not site.is_read or scope.around.is_called(node) or isinstance(node, ast.Lambda | ast.Constant):
        return
    parent = site.parent
    if isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Subscript) and parent.value is node):
        return
    kinds, text = scope.kinds(node), site.text(node)
    plain = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    doubt = (0.0 if kinds else 0.6) + (0.0 if plain else 0.3)
    for name, wanted, extra in _WRAPS:
        accepted = set[str]().union(*(_KINDS[kind] for kind in wanted.split()))
        if (not accepted or not kinds or kinds & accepted) and not (kinds and kinds == {name}):
            yield from site.put(f"{name}({text})", extra=extra + doubt)
    for method, wanted, extra in _CHAINS:
        accepted = set[str]().union(*(_KINDS[kind] for kind in wanted.split()))
        if plain and (not kinds or kinds & accepted):
            yield from site.put(f"{text}.{method}", extra=extra + doubt + (0.0 if kinds else 0.3))
    if scope.numeric(node):
        yield from site.put(f"-{text}" if plain else f"-({text})", extra=doubt + 0.1)
        yield from site.put(f"max(0, {text})", extra=doubt + 0.5)
        yield from site.put(f"max(1, {text})", extra=doubt + 1.2)
        yield from site.put(f"min(1, {text})", extra=doubt + 1.4)


def wrap_with_variable(site: Site) -> Iterator[EditProposal]:
    """`best = e` → `best = max(best, e)`, and `e` → `max(e, x)` for the numbers of the scope."""
    node, scope = site.node, site.scope
    if not site.is_read or scope.around.is_called(node) or not scope.numeric(node) or isinstance(node, ast.Constant):
        return
    text, parent = site.text(node), site.parent
    if isinstance(parent, ast.Assign) and parent.value is node:
        for target in parent.targets:
            for name in ("max", "min"):
                yield from site.put(f"{name}({site.text(target)}, {text})")
    if isinstance(parent, ast.Return | ast.Call | ast.Assign | ast.BinOp):
        for variable in scope.variables:
            if variable != text and scope.types.get(variable, frozenset({"int"})) & {"int", "float"}:
                yield from site.put(f"min({text}, {variable})", extra=0.9)
                yield from site.put(f"max({text}, {variable})", extra=0.9)


def unwrap(site: Site) -> Iterator[EditProposal]:
    """`f(x)` → `x`, `x.f()` → `x`; a call that vanishes is suspicious even when it helps."""
    node = site.node
    if not isinstance(node, ast.Call) or not site.is_read:
        return
    if len(node.args) >= 1 and not isinstance(node.args[0], ast.Starred):
        for argument in node.args[:3]:
            yield from site.put(site.text(argument), extra=0.1 if len(node.args) == 1 else 0.5, anti=_removed(node))
    if isinstance(node.func, ast.Attribute):
        yield from site.put(site.text(node.func.value), extra=0.3, anti=_removed(node))


def _removed(node: ast.Call) -> str:
    """Taking off a conversion is common; taking off a call of the program's own is an anti-pattern."""
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    plain = {name for name, _, _ in _WRAPS} | {"enumerate", "lower", "upper", "strip", "copy", "split"}
    return "" if name in plain else "a call removed"


def _with_arguments(site: Site, node: ast.Call, texts: list[str], *, extra: float = 0.0) -> Iterator[EditProposal]:
    keywords = [site.text(keyword) for keyword in node.keywords]
    yield from site.put(f"{site.text(node.func)}({', '.join([*texts, *keywords])})", extra=extra)


def _without_keyword(site: Site, node: ast.Call, keyword: ast.keyword) -> Iterator[EditProposal]:
    kept = [site.text(part) for part in (*node.args, *node.keywords) if part is not keyword]
    yield from site.put(f"{site.text(node.func)}({', '.join(kept)})", extra=0.4)


def _reversed(site: Site, node: ast.Call) -> Iterator[EditProposal]:
    turned = next((keyword for keyword in node.keywords if keyword.arg == "reverse"), None)
    if turned is not None:
        yield from _without_keyword(site, node, turned)
        return
    parts = [site.text(part) for part in (*node.args, *node.keywords)]
    yield from site.put(f"{site.text(node.func)}({', '.join([*parts, 'reverse=True'])})")
    if not node.keywords:
        for place, key in enumerate(("len", "abs", "str.lower", "lambda item: item[1]", "lambda item: item[0]")):
            yield from site.put(f"{site.text(node.func)}({', '.join([*parts, f'key={key}'])})", extra=0.5 + 0.1 * place)


def _arity(site: Site) -> int:
    parent = site.parent
    return len(parent.args) if isinstance(parent, ast.Call) else 0


def _takes(node: ast.AST, count: int) -> bool:
    if not isinstance(node, FunctionNode):
        return False
    most = len(node.args.args) + len(node.args.posonlyargs)
    return most - len(node.args.defaults) <= count <= most or node.args.vararg is not None
