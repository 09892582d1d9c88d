"""Operators for missing statements."""

import ast
from collections.abc import Iterator

from kotef.repair.operators.conditions import candidates
from kotef.repair.operators.site import SIMPLE, EditProposal, Site, block_of, body_indent, in_loop
from kotef.repair.scope import is_docstring, is_exception
from kotef.repair.source import FunctionNode

_VALUES = ("None", "0", "1", "[]", "True", "False", '""', "-1", "{}", "[[]]")


def base_case(site: Site) -> Iterator[EditProposal]:
    """`if c: return v` before a function's first statement."""
    node, scope = site.node, site.scope
    if not isinstance(site.parent, FunctionNode) or not isinstance(node, ast.stmt):
        return
    body = [statement for statement in site.parent.body if not is_docstring(statement)]
    if not body or body[0] is not node:
        return
    parameters = [argument.arg for argument in site.parent.args.args if argument.arg not in {"self", "cls"}]
    returned = [site.text(part.value) for part in scope.nodes if isinstance(part, ast.Return) and part.value]
    values = list(dict.fromkeys((*_seen_constants(returned), *_VALUES)))
    for test, extra in candidates(scope, site.parent.args):
        if not any(name in test for name in parameters):
            continue
        for place, value in enumerate((*parameters, *values)):
            yield from site.before([f"if {test}:", f"    return {value}"], extra=extra + 0.06 * place)
        if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in scope.nodes):
            yield from site.before([f"if {test}:", "    return"], extra=extra)
        for name in sorted(scope.around.test_names):
            if is_exception(name):
                yield from site.before([f"if {test}:", f"    raise {name}"], extra=extra + 0.2)


def guard(site: Site) -> Iterator[EditProposal]:
    """`if c: continue`, `break` or `return x` before a statement."""
    node, scope = site.node, site.scope
    if not isinstance(node, ast.stmt) or is_docstring(node):
        return
    actions = ["continue", "break"] if in_loop(site) else []
    actions += [
        "return",
        *(f"return {name}" for name in scope.variables[:6]),
        "return None",
        "return False",
        "return True",
    ]
    actions += ["return 0", "return []"]
    for test, extra in candidates(scope, node):
        for place, action in enumerate(actions):
            yield from site.before([f"if {test}:", f"    {action}"], extra=extra + 0.08 * place)


def clamp(site: Site) -> Iterator[EditProposal]:
    """`if x < 0: x = 0` and its like before a statement: `if c: x = v`."""
    node, scope = site.node, site.scope
    if not isinstance(node, ast.stmt) or is_docstring(node):
        return
    for test, extra in candidates(scope, node):
        name = test.removeprefix("not ").split(" ")[0]
        if name in scope.variables:
            for place, value in enumerate(("0", "[]", "{}", "1", '""')):
                if " " in test or test.startswith("not "):
                    yield from site.before([f"if {test}:", f"    {name} = {value}"], extra=extra + 0.1 * place)


def update(site: Site) -> Iterator[EditProposal]:
    """A missing update after a statement: `n += 1`, `x = y`, `xs.append(x)`, `seen.add(x)`, `break`."""
    if isinstance(site.node, ast.stmt) and not is_docstring(site.node) and not _leaves(site.node):
        for line, extra in _updates(site):
            yield from site.after([line], extra=extra)


def early_update(site: Site) -> Iterator[EditProposal]:
    """The same at the start of a block."""
    block = block_of(site)
    if isinstance(site.node, ast.stmt) and block and block[0] is site.node and not is_docstring(site.node):
        for line, extra in _updates(site):
            yield from site.before([line], extra=extra)


def final_return(site: Site) -> Iterator[EditProposal]:
    """`return x` after the last statement of a function or of a block."""
    node, block, scope = site.node, block_of(site), site.scope
    if not isinstance(node, ast.stmt) or not block or block[-1] is not node or _leaves(node):
        return
    top = 0.0 if isinstance(site.parent, FunctionNode) else 0.5
    for place, value in enumerate((*scope.variables, *scope.own_attributes[:4], *_VALUES)):
        yield from site.after([f"return {value}"], extra=top + 0.05 * place)


def otherwise(site: Site) -> Iterator[EditProposal]:
    """`else:` with one statement, for an `if` that has none."""
    node, source = site.node, site.scope.source
    if not isinstance(node, ast.If) or node.orelse or not source.begins_line(node):
        return
    own, inner = source.indent(node), body_indent(site, node.body)
    if inner is None or site.text(node).startswith("elif"):
        return
    step = inner.removeprefix(own)
    statements = [text for text, _ in _copies(site)] + [line for line, _ in _updates(site)]
    for place, text in enumerate(dict.fromkeys(statements)):
        yield from site.after(["else:", f"{step}{text}"], extra=0.3 + 0.03 * place)


def copy(site: Site) -> Iterator[EditProposal]:
    """A simple statement of the function again, after this one or before a block's first."""
    node, block = site.node, block_of(site)
    if not isinstance(node, ast.stmt) or is_docstring(node):
        return
    for text, extra in _copies(site):
        if text != site.text(node):
            if not _leaves(node):
                yield from site.after([text], extra=extra)
            if block and block[0] is node:
                yield from site.before([text], extra=extra)


def last_group(site: Site) -> Iterator[EditProposal]:
    """After a loop that gathers: `if x: yield x`, `if x: xs.append(x)`, as the loop does it for all but the last."""
    node = site.node
    if not isinstance(node, ast.For | ast.While):
        return
    inside = [part for part in ast.walk(node) if isinstance(part, ast.Expr) and not is_docstring(part)]
    for place, part in enumerate(inside):
        text = site.text(part)
        if "\n" in text:
            continue
        names = [name.id for name in ast.walk(part.value) if isinstance(name, ast.Name)]
        for name in dict.fromkeys(reversed(names)):
            if name in site.scope.variables:
                yield from site.after([f"if {name}:", f"    {text}"], extra=0.1 * place)

    for line, extra in _updates(site):
        yield from site.after([line], extra=extra + 0.5)


def block_end(site: Site) -> Iterator[EditProposal]:
    """What `update` and `copy` put after a block, put at the end of the block instead."""
    node, source = site.node, site.scope.source
    if isinstance(node, ast.For | ast.While | ast.If) and source.begins_line(node):
        inner = body_indent(site, node.body)
        last = node.body[-1]
        if inner is not None and isinstance(last, ast.If | ast.For | ast.While) and not getattr(node, "orelse", None):
            for line, extra in (*_updates(site), *_copies(site)):
                yield from site.after([line], indent=inner, extra=extra)


def mutable_default(site: Site) -> Iterator[EditProposal]:
    """`def f(x, acc=[])`: a fresh one for each call instead."""
    node = site.node
    if not isinstance(site.parent, FunctionNode) or not isinstance(node, ast.stmt):
        return
    body = [statement for statement in site.parent.body if not is_docstring(statement)]
    given = site.parent.args
    for argument, default in zip(given.args[len(given.args) - len(given.defaults) :], given.defaults, strict=True):
        if body[0] is node and isinstance(default, ast.List | ast.Dict | ast.Set | ast.Call):
            fresh = {ast.List: f"list({argument.arg})", ast.Dict: f"dict({argument.arg})"}.get(type(default))
            if fresh:
                yield from site.before([f"{argument.arg} = {fresh}"])


def _updates(site: Site) -> Iterator[tuple[str, float]]:
    """Statements made from the names and types of the scope, likeliest first."""
    scope = site.scope
    names = [*scope.variables, *scope.own_attributes]
    used = {node.id for node in ast.walk(site.parent) if isinstance(node, ast.Name)}
    if in_loop(site):
        yield "break", 0.3
        yield "continue", 0.6
    for reset in scope.initial_values:
        yield reset, 0.3
    for name in names:
        kinds = scope.types.get(name, frozenset())
        near = 0.0 if name in used or name.startswith("self.") else 0.3
        if not kinds or kinds & {"int", "float"}:
            yield f"{name} += 1", near + (0.0 if kinds else 0.5)
            yield f"{name} -= 1", near + (0.2 if kinds else 0.6)
        for other in names:
            others = scope.types.get(other, frozenset())
            if other == name:
                continue
            if scope.alike(kinds, others) and not name.startswith("self."):
                yield f"{name} = {other}", near + (0.2 if kinds & others else 0.6)
            if kinds & {"int", "float", "str", "list"} and kinds & others:
                yield f"{name} += {other}", near + 0.4
                yield f"{name} -= {other}", near + 0.7
            if kinds & {"list", "deque"} or (not kinds and name.startswith("self.")):
                yield f"{name}.append({other})", near + (0.2 if other in used else 0.5)
            if kinds & {"set"} or (not kinds and name.startswith("self.")):
                yield f"{name}.add({other})", near + (0.1 if other in used else 0.4)
        if not kinds or not kinds <= {"int", "float", "str", "list", "dict", "set", "tuple", "bool"}:
            for attribute in scope.around.attributes.get(name, ()):
                yield f"{name} = {name}.{attribute}", near + 0.3
        if kinds & {"list", "str"}:
            yield f"{name} = {name}[1:]", near + 0.7
        if kinds & {"list"}:
            yield f"{name} = []", near + 0.5
            yield f"{name}.sort()", near + 0.6
            yield f"{name}.pop()", near + 0.6
            yield f"{name}.reverse()", near + 0.8
        if kinds & {"int"}:
            yield f"{name} = 0", near + 0.6
            yield f"{name} //= 2", near + 0.9
        if kinds & {"str"}:
            yield f'{name} = ""', near + 0.6


def _copies(site: Site) -> Iterator[tuple[str, float]]:
    """Simple one-line statements of the function, near ones first."""
    line = getattr(site.node, "lineno", 0)
    simple = [node for node in site.scope.nodes if isinstance(node, SIMPLE) and not is_docstring(node)]
    texts = {
        site.text(node): abs(node.lineno - line) for node in sorted(simple, key=lambda node: -abs(node.lineno - line))
    }
    for place, text in enumerate(sorted(texts, key=lambda text: texts[text])):
        if "\n" not in text and not (text in {"break", "continue"} and not in_loop(site)):
            yield text, 0.05 * place


def _seen_constants(returned: list[str]) -> Iterator[str]:
    """What the function returns elsewhere, if it is short; an empty one of its kind."""
    for text in returned:
        if len(text) <= 12:
            yield text
        if text.startswith("["):
            yield "[]"


def _leaves(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return | ast.Break | ast.Continue | ast.Raise)
