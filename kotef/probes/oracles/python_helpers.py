"""Functions that compare for a test: what a call of one gives them to compare, and where an imported one stands."""

import ast
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from kotef.probes.oracles.python_tests import FunctionNode
from kotef.probes.source_text import SourceText, parsed

Find = Callable[[str], FunctionNode | None]
"""From the name that a test calls to the function, in this module or in another file."""


def compared_arguments(call: ast.Call, helper: FunctionNode) -> Iterator[ast.expr]:
    """Arguments that the helper asserts to be equal to something, in every call and before it changes them."""
    given = helper.args
    if helper.decorator_list or given.vararg or given.kwarg or any(isinstance(arg, ast.Starred) for arg in call.args):
        return
    names = [each.arg for each in (*given.posonlyargs, *given.args)]
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    bound = dict(zip(names, call.args, strict=False)) | {name: value for name, value in named.items() if name}
    for name in _compared(helper):
        if name in bound:
            yield bound[name]


def _compared(helper: FunctionNode) -> Iterator[str]:
    """Parameters that stand alone on one side of an equality which the body asserts, and are read nowhere else."""
    nodes = [node for node in ast.walk(helper) if isinstance(node, ast.Name)]
    for statement in helper.body:
        for side in _sides(statement):
            uses = [node for node in nodes if isinstance(side, ast.Name) and node.id == side.id]
            if isinstance(side, ast.Name) and len(uses) == 1:
                yield side.id


def _sides(statement: ast.stmt) -> tuple[ast.expr, ...]:
    match statement:
        case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
            return (left, right)
        case ast.If(test=ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]), body=[ast.Raise()]):
            return (left, right)
        case _:
            return ()


def imported_function(
    tree: ast.Module, path: str, name: str, read: Callable[[str], bytes | None]
) -> FunctionNode | None:
    """The function that `from module import name` means, if the module is a file of the workspace near the test."""
    for node in tree.body:
        aliases = node.names if isinstance(node, ast.ImportFrom) else ()
        alias = next((each for each in aliases if (each.asname or each.name) == name), None)
        if isinstance(node, ast.ImportFrom) and alias is not None:
            content = next((found for place in _places(node, path) if (found := read(place))), None)
            return _function(content, alias.name) if content else None
    return None


def _function(content: bytes, name: str) -> FunctionNode | None:
    """The one function of this name in a module."""
    source = SourceText.of_python(content)
    module = parsed(source.text) if source else None
    found = [
        each for each in (module.body if module else ()) if isinstance(each, ast.FunctionDef) and each.name == name
    ]
    return found[0] if len(found) == 1 else None


def _places(node: ast.ImportFrom, path: str) -> Iterator[str]:
    """Files that the module may be, nearest to the test first."""
    inside = "/".join((node.module or "").split("."))
    folders = list(PurePosixPath(path).parents)
    starts = folders[node.level - 1 : node.level] if node.level else folders
    for folder in starts:
        yield (folder / f"{inside}.py").as_posix()
