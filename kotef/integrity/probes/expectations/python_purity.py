"""Purity of a Python function, as far as its own text shows: computed from its arguments alone, or stateful."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Self

from kotef.integrity.probes.expectations.expectation import literal

SAFE: Final = frozenset(
    "abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format "  # noqa: SIM905
    "frozenset hex int isinstance issubclass iter len list map max min next oct ord pow range repr reversed round set "
    "slice sorted str sum tuple type zip object NotImplemented Ellipsis".split()
)
"""Builtins whose value depends on their arguments alone."""
_PURE_MODULES: Final = frozenset(
    "math cmath re string itertools functools operator collections decimal fractions statistics textwrap "  # noqa: SIM905
    "unicodedata bisect heapq json html base64 binascii hashlib dataclasses enum typing copy numbers".split()
)
_OUTSIDE: Final = frozenset(
    "random secrets time datetime os sys io pathlib tempfile shutil subprocess socket sqlite3 threading locale "  # noqa: SIM905
    "uuid contextvars urllib http requests platform getpass gc weakref".split()
)
"""Modules whose functions read or change what is outside of a function."""
_CHANGES: Final = frozenset(
    "append add update pop popitem setdefault insert extend remove discard clear sort reverse write appendleft "  # noqa: SIM905
    "popleft put acquire send __setitem__ __delitem__".split()
)

_Binding = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Assign | ast.stmt


@dataclass(frozen=True, eq=False)
class ModuleScope:
    """The names at the top of a module."""

    tree: ast.Module

    @classmethod
    def of(cls, tree: ast.Module) -> Self:
        """The scope of a module, made once."""
        known = getattr(tree, "kotef_scope", None)
        if not isinstance(known, cls):
            known = cls(tree)
            tree.kotef_scope = known  # type: ignore[attr-defined]  # the tree is ours, and lives as long
        return known

    @cached_property
    def _all(self) -> dict[str, list[_Binding]]:
        found: dict[str, list[_Binding]] = {}
        for statement in _top(self.tree.body):
            for name in bound_by(statement):
                found.setdefault(name, []).append(statement)
        return found

    @cached_property
    def _global(self) -> frozenset[str]:
        """Names that a function says it binds at the top."""
        return frozenset(name for node in ast.walk(self.tree) if isinstance(node, ast.Global) for name in node.names)

    @cached_property
    def star_imports(self) -> list[ast.ImportFrom]:
        """Imports of all names of a module."""
        return [node for node in self._all.get("*", []) if isinstance(node, ast.ImportFrom)]

    def bindings(self, name: str) -> list[_Binding]:
        """The statements that bind a name; empty also where something else may bind it."""
        return [] if self.is_dynamic(name) else self._all.get(name, [])

    def is_dynamic(self, name: str) -> bool:
        """Whether a function may bind or make the name."""
        return name in self._global or "__getattr__" in self._all

    def is_open(self, name: str) -> bool:
        """Whether a name may be bound in a way that no statement at the top shows."""
        return self.is_dynamic(name) or "*" in self._all

    def constant(self, name: str) -> ast.expr | None:
        """The literal that a name is bound to once; None if it is more, or may be changed."""
        match self.bindings(name):
            case [ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(value=ast.expr() as value)]:
                return value if literal(value) else None
            case _:
                return None


def bound_by(statement: ast.AST) -> Iterator[str]:
    """Names that one statement binds in its own scope; `*` for an import of all names."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in aliases)
        case ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name for alias in aliases)
        case _:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                    yield node.id


def depends_on_arguments(function: ast.FunctionDef) -> bool:
    """Whether the function returns something and reads one of its parameters: a stub does not."""
    names = _parameters(function)
    returns = any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(function))
    return returns and any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
        for statement in function.body
        for node in ast.walk(statement)
    )


def uses_nothing_else(function: ast.FunctionDef, scope: ModuleScope) -> frozenset[str] | None:
    """Other functions that a function calls, if it uses only these, its arguments and constants; else None."""
    if function.decorator_list or any(_is_changeable(each) for each in _defaults(function)):
        return None
    locals_ = _locals(function)
    others: set[str] = set()
    for node in (inner for statement in function.body for inner in ast.walk(statement)):
        match node:
            case (
                ast.Global()
                | ast.Nonlocal()
                | ast.Yield()
                | ast.YieldFrom()
                | ast.Await()
                | ast.With()
                | ast.AsyncWith()
                | ast.FunctionDef()
                | ast.AsyncFunctionDef()
                | ast.ClassDef()
                | ast.Import()
                | ast.ImportFrom()
            ):
                return None
            case (
                ast.Attribute(value=base, ctx=ast.Store() | ast.Del())
                | ast.Subscript(value=base, ctx=ast.Store() | ast.Del())
            ):
                if _root(base) not in locals_:
                    return None
            case ast.Name(id=name, ctx=ast.Load()) if name not in locals_:
                kind = _kind_of(name, scope)
                if kind is None:
                    return None
                if kind == "function":
                    others.add(name)
            case _:
                pass
    return frozenset(others)


def keeps_state(function: ast.FunctionDef, scope: ModuleScope) -> bool:
    """Whether the text of the function surely reads or changes something that outlives a call."""
    locals_ = _locals(function)
    if any(_is_changeable(each) for each in _defaults(function)) or function.decorator_list:
        return True
    for node in (inner for statement in function.body for inner in ast.walk(statement)):
        match node:
            case ast.Global() | ast.Nonlocal():
                return True
            case (
                ast.Attribute(value=base, ctx=ast.Store() | ast.Del())
                | ast.Subscript(value=base, ctx=ast.Store() | ast.Del())
            ) if _root(base) not in locals_:
                return True
            case ast.Call(func=ast.Attribute(value=base, attr=name)) if name in _CHANGES and _root(base) not in locals_:
                return True
            case ast.Call(func=ast.Name(id="open" | "input")):
                return True
            case ast.Name(id=name, ctx=ast.Load()) if name not in locals_ and _is_outside(name, scope):
                return True
            case _:
                pass
    return False


def _is_outside(name: str, scope: ModuleScope) -> bool:
    for node in scope.bindings(name):
        match node:
            case ast.Import(names=aliases):
                modules = [alias.name for alias in aliases if (alias.asname or alias.name.partition(".")[0]) == name]
            case ast.ImportFrom(module=str() as module):
                modules = [module]
            case _:
                modules = []
        if any(module.partition(".")[0] in _OUTSIDE for module in modules):
            return True
    return False


def _kind_of(name: str, scope: ModuleScope) -> str | None:
    """What a name that is not local means: `builtin`, `constant`, `module` or `function`; None: it may be anything."""
    bound = scope.bindings(name)
    match bound:
        case []:
            is_error = name.endswith(("Error", "Exception")) or name in {"StopIteration", "KeyError"}
            return "builtin" if name in SAFE or is_error else None
        case [ast.FunctionDef()]:
            return "function"
        case [ast.Import(names=aliases)]:
            module = next(alias.name for alias in aliases if (alias.asname or alias.name.partition(".")[0]) == name)
            return "module" if module.partition(".")[0] in _PURE_MODULES else None
        case [ast.ImportFrom(module=module, level=level)]:
            if not level and (module or "").partition(".")[0] in _PURE_MODULES:
                return "module"
            return "function"
        case _:
            return "constant" if _is_fixed(scope.constant(name)) else None


def _is_fixed(node: ast.expr | None) -> bool:
    return node is not None and not _is_changeable(node)


def _is_changeable(node: ast.expr) -> bool:
    found = literal(node)
    if found is None:
        return True
    return any(isinstance(inner, ast.List | ast.Dict | ast.Set) for inner in ast.walk(node))


def _parameters(function: ast.FunctionDef) -> frozenset[str]:
    given = function.args
    extra = [each for each in (given.vararg, given.kwarg) if each]
    return frozenset(each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, *extra))


def _defaults(function: ast.FunctionDef) -> list[ast.expr]:
    return [each for each in (*function.args.defaults, *function.args.kw_defaults) if each is not None]


def _locals(function: ast.FunctionDef) -> frozenset[str]:
    """Parameters and every name that the body binds."""
    names = set(_parameters(function))
    for node in (inner for statement in function.body for inner in ast.walk(statement)):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                names.add(name)
            case ast.ExceptHandler(name=str() as name):
                names.add(name)
            case _:
                pass
    return frozenset(names)


def _root(node: ast.expr) -> str:
    """The name at the beginning of `a.b[c].d`; empty if it begins otherwise."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements at the top, those below conditions too."""
    for statement in body:
        match statement:
            case ast.If() | ast.Try() | ast.For() | ast.While() | ast.With():
                yield statement
                inner = [*statement.body, *getattr(statement, "orelse", []), *getattr(statement, "finalbody", [])]
                handlers = [each for handler in getattr(statement, "handlers", []) for each in handler.body]
                yield from _top([*inner, *handlers])
            case _:
                yield statement
