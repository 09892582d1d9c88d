"""Detection of comparisons that give the same answer whatever they compare with."""

import ast
import builtins
from collections.abc import Iterator, Mapping
from typing import Final

from kotef.integrity.tampering.python_names import folded

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
    """Whether a comparison answers without asking anything that may be untrue of its own side, or of the other.

    Of the other side alone it may ask whether it is None or of a class that is not built in, for one instance of a
    class is often as good as another.
    """
    function = known.get(made.id) if isinstance(made, ast.Name) else made
    if not isinstance(function, ast.FunctionDef | ast.Lambda):
        return False
    arguments = function.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if len(names) < 2 and arguments.vararg:  # noqa: PLR2004 - self and the other
        names = [arguments.vararg.arg] * 2
    if len(names) < 2:  # noqa: PLR2004
        return True
    body: list[ast.stmt] = function.body if isinstance(function, ast.FunctionDef) else [ast.Return(function.body)]
    parts = list(_own_parts(body))
    answers = [node.value for node in parts if isinstance(node, ast.Return) and node.value]
    answers = [answer for answer in answers if not (isinstance(answer, ast.Name) and answer.id in _HONEST)]
    if not answers:
        return False
    if all(map(_is_true, answers)):
        return True
    used_names = _asked(parts, answers)
    if names[1] not in used_names:
        return not _HONEST & used_names
    return not {names[0], "super", "__class__"} & used_names and not any(
        _asks_for_class(part, names[1]) for part in parts
    )


def _own_parts(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Everything in the statements but what functions and classes in them hold."""
    pending: list[ast.AST] = list(reversed(body))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            pending += reversed(list(ast.iter_child_nodes(node)))


def _asked(parts: list[ast.AST], answers: list[ast.expr]) -> set[str]:
    """Names on which the answer depends: they are in it, decide which it is, or made one of those that do."""
    names = {name for answer in answers for name in _used(answer)}
    made: list[tuple[set[str], set[str]]] = []
    for node in parts:
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.Match(subject=test) | ast.Assert(test=test):
                names.update(_used(test))
            case ast.Try(body=body, handlers=[_, *_]):
                names.update(name for statement in body for name in _used(statement))
            case ast.For(target=target, iter=source) | ast.comprehension(target=target, iter=source):
                names.update(_used(source))
                made.append((_bound(target), set(_used(source))))
            case ast.Assign(targets=targets, value=value):
                made.append(({name for target in targets for name in _bound(target)}, set(_used(value))))
            case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
                made.append((_bound(target), set(_used(value))))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                made.append((_bound(target), set(_used(value))))
            case ast.FunctionDef(name=name):
                made.append(({name}, set(_used(node))))
            case _:
                pass
    for _ in made:
        names.update(name for targets, sources in made if targets & names for name in sources)
    return names


def _bound(target: ast.expr) -> set[str]:
    """The plain names that an assignment binds."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return {part.id for part in parts if isinstance(part, ast.Name)}


def _asks_for_class(node: ast.AST, other: str) -> bool:
    """`other is None`, `isinstance(other, C)` and `type(other) is C`, where C is not built in."""
    match node:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            return name == other
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kind]):
            return name == other and _is_own(kind)
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=name)]), ops=[_], comparators=[kind]
        ):
            return name == other and _is_own(kind)
        case _:
            return False


def _is_own(kind: ast.expr) -> bool:
    return all(not hasattr(builtins, node.id) for node in ast.walk(kind) if isinstance(node, ast.Name))


def _used(node: ast.AST) -> Iterator[str]:
    """The names read in the node, except for those in a question whose answer is known."""
    if isinstance(node, ast.expr) and _is_certain(node):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _used(child)


def _is_true(node: ast.expr) -> bool:
    """Whether an expression is true whatever its names stand for."""
    match node:
        case ast.Constant():
            return bool(node.value)
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(map(_is_true, values))
        case ast.IfExp(body=body, orelse=other):
            return _is_true(body) and _is_true(other)
        case _:
            return False


def _is_certain(node: ast.expr) -> bool:
    """Whether an expression is the same for every value: compared with itself, or an instance of `object`."""
    match node:
        case ast.BoolOp() | ast.IfExp():
            return _is_true(node)
        case ast.Compare(left=left, comparators=others):
            return all(ast.dump(left) == ast.dump(other) for other in others)
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id="object")]):
            return True
        case ast.Call(func=ast.Name(id="issubclass"), args=[_, ast.Name(id="object")]):
            return True
        case _:
            return False
