"""Operators for wrong slices and indices."""

import ast
import re
from collections.abc import Iterator

from kotef.repair.operators.site import EditProposal, Site


def bounds(site: Site) -> Iterator[EditProposal]:
    """`a[i:j]` with a bound dropped, moved by one, swapped for a variable, or the other end cut off."""
    node = site.node
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
        return
    value = site.text(node.value)
    low, high, step = (
        site.text(part) if part else "" for part in (node.slice.lower, node.slice.upper, node.slice.step)
    )
    tail = f":{step}" if step else ""
    shapes: list[tuple[str, str, float]] = []
    shapes += [("", high, 0.2)] if low else [("1", high, 0.2)]
    shapes += [(low, "", 0.2)] if high else [(low, "-1", 0.2)]
    low_counts, high_counts = (_counts(site, part) for part in (node.slice.lower, node.slice.upper))
    shapes += [(f"{low} + 1", high, 0.0), (f"{low} - 1", high, 0.3)] if low_counts else []
    shapes += [(low, f"{high} + 1", 0.0), (low, f"{high} - 1", 0.1)] if high_counts else []
    shapes += [(high, low, 0.4)] if low or high else []
    shapes += [(_negative(high), _negative(low), 0.4)] if bool(low) != bool(high) else []
    for new_low, new_high, extra in shapes:
        yield from site.put(f"{value}[{new_low}:{new_high}{tail}]", extra=extra)
    for place, new_step in enumerate(("-1", "2", "")):
        yield from site.put(f"{value}[{low}:{high}{':' + new_step if new_step else ''}]", extra=0.5 + 0.1 * place)
    yield from site.put(value, extra=0.4)
    for place, name in enumerate(_counters(site)):
        if not low:
            yield from site.put(f"{value}[{name}:{high}{tail}]", extra=0.4 + 0.05 * place)
        if not high:
            yield from site.put(f"{value}[{low}:{name}{tail}]", extra=0.4 + 0.05 * place)


def _counts(site: Site, bound: ast.expr | None) -> bool:
    """Whether a bound is a number that an edit may move: there, not written out, and not a truth."""
    return bound is not None and not site.text(bound).isdigit() and not site.scope.truth(bound)


def _negative(bound: str) -> str:
    """The same distance from the other end; empty for no bound."""
    if not bound:
        return ""
    if re.fullmatch(r"-\s*[\w.]+", bound):
        return bound[1:].strip()
    return f"-{bound}" if re.fullmatch(r"[\w.]+", bound) else f"-({bound})"


def index(site: Site) -> Iterator[EditProposal]:
    """`a[i]` → `a[i + 1]`, `a[i - 1]`, `a[-1]`, `a[0]`, `a[-i]`, `a`, `a[j]`."""
    node, scope = site.node, site.scope
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice) or isinstance(node.ctx, ast.Del):
        return
    value, old = site.text(node.value), site.text(node.slice)
    if isinstance(node.slice, ast.Tuple):
        yield from _pairs(site, node, value)
        return
    if not scope.numeric(node.slice):
        return

    for place, new in enumerate(("-1", "0", "1")):
        yield from site.put(f"{value}[{new}]", extra=0.1 * place)
    if not isinstance(node.slice, ast.Constant):
        grouped = old if isinstance(node.slice, ast.Name) else f"({old})"
        yield from site.put(f"{value}[-{grouped}]", extra=0.4)
    if isinstance(node.ctx, ast.Load):
        yield from site.put(value, extra=0.5)

    if isinstance(node.value, ast.Subscript) and not isinstance(node.value.slice, ast.Slice):
        base, outer = site.text(node.value.value), site.text(node.value.slice)
        yield from site.put(f"{base}[{old}][{outer}]", extra=0.1)


def missing_part(site: Site) -> Iterator[EditProposal]:
    """`a` → `a[1:]`, `a[:-1]`, `a[::-1]`, `a[:]`, `a[0]`, `a[-1]`, `a[i]`, `a[i:]`."""
    node, scope = site.node, site.scope
    if not isinstance(node, ast.Name | ast.Attribute) or not site.is_read or scope.around.is_called(node):
        return
    if isinstance(site.parent, ast.Attribute | ast.Subscript) or not scope.sequence(node):
        return
    text, doubt = site.text(node), 0.0 if scope.kinds(node) else 0.6
    for place, part in enumerate(("[1:]", "[:-1]", "[::-1]", "[0]", "[-1]", "[:]")):
        yield from site.put(f"{text}{part}", extra=doubt + 0.1 * place)
    for place, name in enumerate(_counters(site)):
        for shape, extra in ((f"[{name}:]", 0.2), (f"[:{name}]", 0.2), (f"[{name}]", 0.3), (f"[{name} + 1:]", 0.5)):
            yield from site.put(f"{text}{shape}", extra=doubt + extra + 0.05 * place)


def _pairs(site: Site, node: ast.Subscript, value: str) -> Iterator[EditProposal]:
    assert isinstance(node.slice, ast.Tuple)
    parts = [site.text(part) for part in node.slice.elts]
    for place, part in enumerate(parts):
        for new in (f"{part} - 1", f"{part} + 1", part.removesuffix(" - 1"), part.removesuffix(" + 1")):
            if new != part:
                yield from site.put(f"{value}[{', '.join([*parts[:place], new, *parts[place + 1 :]])}]")
    if len(parts) == 2:
        yield from site.put(f"{value}[{parts[1]}, {parts[0]}]", extra=0.2)


def _counters(site: Site) -> list[str]:
    """Variables that were integers, or whose type is unknown."""
    types = site.scope.types
    text = site.text(site.node)
    return [name for name in site.scope.variables if name != text and types.get(name, frozenset({"int"})) & {"int"}]
