"""Does a comparison answer the same whatever it is compared with?"""

import ast
from collections.abc import Iterator, Mapping
from typing import Final

from kotef.checks.naming import folded

COMPARISONS: Final = frozenset({"__eq__", "__ne__"})
_HONEST: Final = frozenset({"NotImplemented", "NotImplementedError"})

Function = ast.FunctionDef | ast.Lambda


def functions_by_name(tree: ast.Module) -> Mapping[str, Function]:
    """Every function of the module that has a name, at any depth; of namesakes the last."""
    found: dict[str, Function] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            found |= {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
    return found


def comparisons(node: ast.AST) -> Iterator[tuple[str, ast.expr | ast.FunctionDef]]:
    """What a class, a dictionary of members, an assignment or `setattr` makes `__eq__` and `__ne__`."""
    match node:
        case ast.ClassDef(body=body):
            for statement in body:
                if isinstance(statement, ast.FunctionDef) and statement.name in COMPARISONS:
                    yield f"{node.name}.{statement.name}", statement
                elif isinstance(statement, ast.Assign):
                    for target in statement.targets:
                        if isinstance(target, ast.Name) and target.id in COMPARISONS:
                            yield f"{node.name}.{target.id}", statement.value
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if (name := folded(key)) in COMPARISONS:
                    yield str(name), value
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                if isinstance(target, ast.Attribute) and target.attr in COMPARISONS:
                    yield ast.unparse(target), value
        case ast.Call(func=ast.Name(id="setattr"), args=[_, name, value]) if folded(name) in COMPARISONS:
            yield str(folded(name)), value
        case _:
            pass


def says_nothing(made: ast.expr | ast.FunctionDef, known: Mapping[str, Function]) -> bool:
    """Whether a comparison returns something without ever asking anything of its second argument that may be untrue."""
    function = known.get(made.id) if isinstance(made, ast.Name) else made
    if not isinstance(function, ast.FunctionDef | ast.Lambda):
        return False
    arguments = function.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if len(names) < 2:  # noqa: PLR2004 - self and the other
        names = ["", arguments.vararg.arg if arguments.vararg else ""]
    body: list[ast.stmt] = function.body if isinstance(function, ast.FunctionDef) else [ast.Return(function.body)]
    used = {name for statement in body for name in _used(statement)}
    returned = any(isinstance(node, ast.Return) and node.value for part in body for node in ast.walk(part))
    return returned and names[1] not in used and not _HONEST & used


def _used(node: ast.AST) -> Iterator[str]:
    """The names read in the node, but for those in a question whose answer is known."""
    if isinstance(node, ast.expr) and _is_certain(node):
        return
    if isinstance(node, ast.Name):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _used(child)


def _is_certain(node: ast.expr) -> bool:
    """Whether an expression is the same for every value: compared with itself, or an instance of `object`."""
    match node:
        case ast.Compare(left=left, comparators=others):
            return all(ast.dump(left) == ast.dump(other) for other in others)
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id="object")]):
            return True
        case ast.Call(func=ast.Name(id="issubclass"), args=[_, ast.Name(id="object")]):
            return True
        case _:
            return False
