"""Operators for misplaced, wrong or superfluous statements."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from kotef.repair.operators.site import SIMPLE, EditProposal, Site, ancestors, block_of, in_loop
from kotef.source import SourceEdit

_BLOCKS = (ast.For, ast.While, ast.If, ast.With)


def jump(site: Site) -> Iterator[EditProposal]:
    """`break` ↔ `continue` ↔ `return`, or none of them."""
    node = site.node
    if isinstance(node, ast.Break | ast.Continue):
        yield from site.statement("continue" if isinstance(node, ast.Break) else "break")
        yield from site.statement("pass", extra=0.3)
        yield from site.statement("return", extra=0.8)
    elif isinstance(node, ast.Return) and in_loop(site):
        yield from site.statement("continue", extra=0.6)
        yield from site.statement("break", extra=0.6)


def result(site: Site) -> Iterator[EditProposal]:
    """`return e` → `return x` for the variables and truths of the scope; `f(x)` → `return f(x)`."""
    node, scope = site.node, site.scope
    if isinstance(node, ast.Return):
        old = site.text(node.value) if node.value else ""
        for place, name in enumerate((*scope.variables, *scope.own_attributes)):
            if name != old:
                yield from site.statement(f"return {name}", extra=0.1 + 0.03 * place)
        for place, value in enumerate(("True", "False", "None", "0", "1", "-1", "[]", '""', "{}")):
            if value != old:
                yield from site.statement(f"return {value}", extra=0.4 + 0.05 * place)
        for place, name in enumerate(scope.variables):
            kinds = scope.types.get(name, frozenset())
            if scope.returns_truth and (not kinds or kinds & {"int", "float"}):
                for test in ("== 0", "> 0", "== 1"):
                    yield from site.statement(f"return {name} {test}", extra=0.6 + 0.03 * place)
            if scope.returns_truth and (not kinds or kinds & {"list", "str", "dict", "set"}):
                yield from site.statement(f"return not {name}", extra=0.6 + 0.03 * place)
            yield from site.statement(f"return [{name}]", extra=0.7 + 0.03 * place)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from site.statement(f"return {site.text(node.value)}", extra=0.2)
        for place, name in enumerate(scope.variables):
            yield from site.statement(f"{name} = {site.text(node.value)}", extra=0.4 + 0.05 * place)


def generator(site: Site) -> Iterator[EditProposal]:
    """`yield e` ↔ `yield from e`; `yield` ↔ `return`."""
    node = site.node
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield | ast.YieldFrom) and node.value.value:
        value = site.text(node.value.value)
        yield from site.statement(f"yield {value}" if isinstance(node.value, ast.YieldFrom) else f"yield from {value}")
    elif isinstance(node, ast.Return) and node.value and any(isinstance(part, ast.Yield) for part in site.scope.nodes):
        yield from site.statement(f"yield {site.text(node.value)}")


def swap_neighbours(site: Site) -> Iterator[EditProposal]:
    """Two statements after each other, the other way round."""
    block, source = block_of(site), site.scope.source
    for first, second in pairwise(block):
        if first is site.node and source.begins_line(first) and source.begins_line(second):
            start, end = source.span(first)[0], source.span(second)[1]
            between = source.text[source.span(first)[1] : source.span(second)[0]]
            text = f"{site.text(second)}{between}{site.text(first)}".replace("\r\n", "\n")
            yield EditProposal(SourceEdit(source.path, start, end, text))


def move_out(site: Site) -> Iterator[EditProposal]:
    """The last statements of a block come to be after it: a `return` inside the loop."""
    node, source = site.node, site.scope.source
    block = block_of(site)
    if not block or not source.begins_line(node) or len(block) < 2:
        return
    rest = block[block.index(node) :]  # type: ignore[arg-type]  # a statement, because it is in the block
    for depth, outer in enumerate(ancestors(site, _BLOCKS)):
        holders = [getattr(outer, name, []) for name in ("body", "orelse")]
        last = next((holder[-1] for holder in reversed(holders) if holder), None)
        if last is None or last.end_lineno != rest[-1].end_lineno or depth > 1:
            return
        yield from _indented(site, rest, source.indent(site.node), source.indent(outer), extra=0.4 * depth)


def move_in(site: Site) -> Iterator[EditProposal]:
    """A statement after a block comes to be at the block's end."""
    node, source = site.node, site.scope.source
    block = block_of(site)
    if not isinstance(node, SIMPLE) or not source.begins_line(node):
        return
    for before, this in pairwise(block):
        if this is node and isinstance(before, _BLOCKS):
            targets = [before.body[0]]
            inner = before.body[-1]
            targets += [inner.body[0]] if isinstance(inner, _BLOCKS) else []
            targets += [before.orelse[0]] if isinstance(before, ast.If) and before.orelse else []
            for depth, target in enumerate(targets):
                if source.begins_line(target):
                    yield from _indented(site, [node], source.indent(node), source.indent(target), extra=0.3 * depth)


def move_up(site: Site) -> Iterator[EditProposal]:
    """A simple statement comes to be before the block it is in: an initial value set in the loop."""
    node, source = site.node, site.scope.source
    if (
        not isinstance(node, ast.Assign)
        or not source.begins_line(node)
        or not source.ends_line(node)
        or len(block_of(site)) < 2
    ):
        return
    for depth, outer in enumerate(ancestors(site, (ast.For, ast.While))):
        if isinstance(outer, ast.stmt) and source.begins_line(outer):
            start, end = source.line_start(outer.lineno), source.line_end(node)
            own = source.line_start(node.lineno)
            head = source.text[start:own].replace("\r\n", "\n")
            text = f"{source.indent(outer)}{site.text(node)}\n{head}"
            yield EditProposal(SourceEdit(source.path, start, end, text), 0.3 * depth)


def move_to_end(site: Site) -> Iterator[EditProposal]:
    """A simple statement comes to be last in its block, or first: an update made too early or too late."""
    node, source, block = site.node, site.scope.source, block_of(site)
    if not isinstance(node, SIMPLE) or len(block) < 3 or not source.begins_line(node) or not source.ends_line(node):
        return
    own = (source.line_start(node.lineno), source.line_end(node))
    line = source.text[own[0] : own[1]].replace("\r\n", "\n")
    if block[-1] is not node and source.begins_line(block[-1]) and block[-2] is not node:
        rest = source.text[own[1] : source.line_end(block[-1])].replace("\r\n", "\n")
        if rest.endswith("\n"):
            yield EditProposal(SourceEdit(source.path, own[0], source.line_end(block[-1]), rest + line))
    if block[0] is not node and block[1] is not node and source.begins_line(block[0]):
        start = source.line_start(block[0].lineno)
        rest = source.text[start : own[0]].replace("\r\n", "\n")
        yield EditProposal(SourceEdit(source.path, start, own[1], line + rest), 0.2)


def else_to_if(site: Site) -> Iterator[EditProposal]:
    """`elif` → `if`, and an `if` that follows another → `elif`."""
    node, source = site.node, site.scope.source
    if not isinstance(node, ast.If):
        return
    start = source.span(node)[0]
    if site.text(node).startswith("elif"):
        yield EditProposal(SourceEdit(source.path, start, start + 4, "if"))
    else:
        for before, this in pairwise(block_of(site)):
            if this is node and isinstance(before, ast.If) and not before.orelse:
                yield EditProposal(SourceEdit(source.path, start, start + 2, "elif"))


def loop_kind(site: Site) -> Iterator[EditProposal]:
    """`if` ↔ `while`."""
    node, source = site.node, site.scope.source
    start = source.span(node)[0] if isinstance(node, ast.If | ast.While) else 0
    if isinstance(node, ast.If) and not node.orelse and site.text(node).startswith("if"):
        yield EditProposal(SourceEdit(source.path, start, start + 2, "while"))
    elif isinstance(node, ast.While) and not node.orelse:
        yield EditProposal(SourceEdit(source.path, start, start + 5, "if"))


def delete(site: Site) -> Iterator[EditProposal]:
    """A statement less; ranks last."""
    node, source = site.node, site.scope.source
    if not isinstance(node, ast.stmt) or isinstance(
        node, ast.Pass | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ):
        return
    extra = 0.0 if isinstance(node, SIMPLE) else 0.6
    if (
        len(block_of(site)) > 1
        and source.begins_line(node)
        and source.ends_line(node)
        and not site.text(node).startswith("elif")
    ):
        edit = SourceEdit(source.path, source.line_start(node.lineno), source.line_end(node), "")
        yield EditProposal(edit, extra, "a statement deleted")
    elif not site.text(node).startswith("elif"):
        yield from site.statement("pass", extra=extra + 0.1, anti="a statement deleted")


def _indented(site: Site, rest: list[ast.stmt], old: str, new: str, *, extra: float) -> Iterator[EditProposal]:
    """The statements' lines with another indentation."""
    source = site.scope.source
    start, end = source.line_start(rest[0].lineno), source.line_end(rest[-1])
    lines = source.text[start:end].replace("\r\n", "\n").splitlines(keepends=True)
    if all(line.startswith(old) or not line.strip() for line in lines):
        text = "".join(new + line[len(old) :] if line.strip() else line for line in lines)
        yield EditProposal(SourceEdit(source.path, start, end, text), extra)
