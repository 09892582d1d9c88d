"""Functions that compare for a test: what a call passes to them, and where an imported one is defined."""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from kotef.integrity.probes.oracles.python_tests import FunctionNode
from kotef.integrity.probes.source_text import parsed
from kotef.integrity.python_imports import module_files
from kotef.source import SourceText

Find = Callable[[str], FunctionNode | None]
"""From what a test calls, as `same` or `helpers.same`, to the function in another file."""
Read = Callable[[str], bytes | None]
Sides = Callable[[ast.stmt], tuple[ast.expr, ...]]


def asserted_arguments(call: ast.Call, helper: FunctionNode) -> Iterator[ast.expr]:
    """Arguments that the helper asserts to be equal to something, in every call and before it changes them."""
    yield from _bound(call, helper, _asserted)


def returned_arguments(call: ast.Call, helper: FunctionNode) -> Iterator[ast.expr]:
    """Arguments of which the helper returns whether they are equal to something."""
    if len([node for node in ast.walk(helper) if isinstance(node, ast.Return)]) == 1:
        yield from _bound(call, helper, _returned)


def _bound(call: ast.Call, helper: FunctionNode, sides: Sides) -> Iterator[ast.expr]:
    given = helper.args
    is_static = not helper.decorator_list or ast.unparse(helper.decorator_list[0]) == "staticmethod"
    is_plain = is_static and not given.vararg and not given.kwarg
    if not is_plain or any(isinstance(arg, ast.Starred) for arg in call.args):
        return

    names = [each.arg for each in (*given.posonlyargs, *given.args)]
    if names[:1] in (["self"], ["cls"]):
        names = names[1:]
    bound = dict(zip(names, call.args, strict=False))
    bound |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    for name in _compared(helper, sides):
        if name in bound:
            yield bound[name]


def _compared(helper: FunctionNode, sides: Sides) -> Iterator[str]:
    """Parameters that stand alone on one side of an equality, and are read nowhere else but in messages."""
    nodes = [node for statement in helper.body for node in _working(statement) if isinstance(node, ast.Name)]
    for statement in helper.body:
        for side in sides(statement):
            uses = [node for node in nodes if isinstance(side, ast.Name) and node.id == side.id]
            if isinstance(side, ast.Name) and len(uses) == 1:
                yield side.id


def _working(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes below this one, without those that only make a message of a failure."""
    match node:
        case ast.Assert(test=test):
            inner: Iterable[ast.AST] = (test,)
        case ast.Raise() | ast.keyword(arg="msg"):
            inner = ()
        case ast.Call(func=ast.Attribute(attr=name), args=args) if name.startswith("assert"):
            inner = (node.func, *args[:2], *node.keywords)
        case _:
            inner = ast.iter_child_nodes(node)
    yield node
    for each in inner:
        yield from _working(each)


def _asserted(statement: ast.stmt) -> tuple[ast.expr, ...]:
    """Both sides of an equality without which the statement fails."""
    match statement:
        case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
            return (left, right)
        case ast.If(test=ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]), body=[ast.Raise()]):
            return (left, right)
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="assertEqual"), args=[left, right, *_])):
            return (left, right)
        case _:
            return ()


def _returned(statement: ast.stmt) -> tuple[ast.expr, ...]:
    match statement:
        case ast.Return(value=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
            return (left, right)
        case _:
            return ()


@dataclass(frozen=True, slots=True)
class HelperModule:
    """A file of the workspace with a function that a test imports."""

    path: str
    source: SourceText
    tree: ast.Module
    function: FunctionNode


def imported_function(tree: ast.Module, path: str, name: str, read: Read) -> HelperModule | None:
    """The function that a name of the test means, if it is imported from a file of the workspace near the test.

    `name` is as it is called: `same`, `helpers.same`, or `self.same` of a class that is imported.
    """
    first, _, last = name.rpartition(".")
    if first == "self":
        bases = [ast.unparse(base) for node in tree.body if isinstance(node, ast.ClassDef) for base in node.bases]
        found = (imported_function(tree, path, f"{base}.{last}", read) for base in bases if base != "self")
        return next((each for each in found if each), None)

    places = (each for node in tree.body for each in _imported(node, path, first, last))
    for place, inside in places:
        content = read(place)
        found_there = _function(place, content, inside) if content else None
        if found_there is not None:
            return found_there
    return None


def _imported(node: ast.stmt, path: str, first: str, last: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Files that a name may come from, and what it is called there, classes around it first."""
    match node:
        case ast.Import(names=aliases):
            for alias in aliases:
                if first == (alias.asname or alias.name):
                    yield from ((place, (last,)) for place in module_files(alias.name, path))
        case ast.ImportFrom(names=aliases):
            for alias in aliases:
                yield from _imported_from(node, alias, path, (first, last))
        case _:
            pass


def _imported_from(
    node: ast.ImportFrom, alias: ast.alias, path: str, name: tuple[str, str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The same for one name of `from … import …`."""
    first, last = name
    known = alias.asname or alias.name
    module = "." * node.level + (node.module or "")
    if known == last and not first:
        yield from ((place, (alias.name,)) for place in module_files(module, path))
    elif known == first:
        inner = f"{module}.{alias.name}" if node.module else f"{module}{alias.name}"
        yield from ((place, (last,)) for place in module_files(inner, path))
        yield from ((place, (alias.name, last)) for place in module_files(module, path))


def _function(place: str, content: bytes, names: tuple[str, ...]) -> HelperModule | None:
    """The one function of this name in a module, or in a class of it."""
    source = SourceText.of_python(content)
    module = parsed(source.text) if source else None
    if source is None or module is None:
        return None
    body = module.body
    for name in names[:-1]:
        classes = [each for each in body if isinstance(each, ast.ClassDef) and each.name == name]
        body = classes[0].body if len(classes) == 1 else []
    found = [each for each in body if isinstance(each, ast.FunctionDef) and each.name == names[-1]]
    return HelperModule(place, source, module, found[0]) if len(found) == 1 else None
