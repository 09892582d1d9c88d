"""Canonical form of an expression in a Python test: each name is replaced by what it means."""

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from kotef.integrity.probes.expectations.expectation import literal
from kotef.integrity.probes.expectations.python_product import Product, absolute
from kotef.integrity.probes.expectations.python_purity import SAFE, ModuleScope


class UnknownError(Exception):
    """An expression, or a statement, depends on more than literals and the product."""


@dataclass(eq=False)
class CanonicalForm:
    """The names of one test, as far as its statements have been read."""

    path: str
    scope: ModuleScope
    product: Product
    bound: Collection[str]
    """Names that the test binds anywhere."""
    read: Collection[str]
    """Names that it reads, each as often as it does."""
    imports: dict[str, str] = field(default_factory=dict)
    """Dotted names of what the test itself imports."""
    values: dict[str, ast.expr] = field(default_factory=dict)
    """Names that stand for an expression."""
    variables: dict[str, str] = field(default_factory=dict)
    """Names of results, numbered in the order of the statements."""

    def of(self, node: ast.expr) -> str:
        """The form; equal forms are equal expressions. Raises `UnknownError`."""
        match node:
            case ast.Constant():
                return repr(node.value)
            case ast.Name(id=name):
                return self._of_name(name)
            case ast.Attribute(value=value, attr=attribute):
                origin = self.origin(node)
                if origin and self.product.has(origin):
                    return self.product.name_of(origin)
                return f"({self.of(value)}).{attribute}"
            case ast.Call(func=called, args=arguments, keywords=keywords):
                return f"{self.of(called)}({', '.join(self._arguments(arguments, keywords))})"
            case ast.Subscript(value=value, slice=index):
                return f"({self.of(value)})[{self.of(index)}]"
            case _:
                return self._of_operation(node)

    def origin(self, node: ast.expr) -> str:
        """The dotted name of an imported thing; empty if it is none."""
        match node:
            case ast.Name(id=name) if name not in self.values and name not in self.variables:
                if name in self.imports:
                    return self.imports[name]
                return "" if name in self.bound else imported_as(name, self.scope, self.path)
            case ast.Attribute(value=value, attr=attribute):
                base = self.origin(value)
                return f"{base}.{attribute}" if base else ""
            case _:
                return ""

    def is_pure(self, node: ast.expr) -> bool:
        """Whether an expression calls only builtins and pure functions that are more than stubs."""
        for inner in ast.walk(self.inserted(node)):
            match inner:
                case ast.Name(id=name) if name in self.variables:
                    return False
                case ast.Call(func=ast.Name() | ast.Attribute() as called):
                    origin = self.origin(called)
                    is_builtin = isinstance(called, ast.Name) and not origin
                    if not is_builtin and not self.product.depends_on_arguments(origin):
                        return False
                case ast.Call():
                    return False
                case _:
                    pass
        return True

    def has_state(self, node: ast.expr) -> bool:
        """Whether something that it calls surely keeps a state, or reads one."""
        calls = [each.func for each in ast.walk(self.inserted(node)) if isinstance(each, ast.Call)]
        return any((origin := self.origin(called)) and self.product.has_state(origin) for called in calls)

    def inserted(self, node: ast.expr) -> ast.expr:
        """The expression with the values that names stand for in their places."""
        copy = ast.parse(ast.unparse(node), mode="eval").body
        inserted: ast.expr = _Insertion(self.values).visit(copy)
        return inserted

    def literal(self, node: ast.expr) -> ast.expr | None:
        """The literal that an expression is, or that its name stands for; else None."""
        if isinstance(node, ast.Name):
            node = self.values.get(node.id) or self._constant(node.id) or node
        return node if literal(node) is not None else None

    def _constant(self, name: str) -> ast.expr | None:
        return None if name in self.bound else self.scope.constant(name)

    def _of_name(self, name: str) -> str:
        if name in self.values:
            value = self.values[name]
            if _can_change(value) and list(self.read).count(name) > 1:
                raise UnknownError
            return self.of(value)
        if name in self.variables:
            return self.variables[name]
        if name in self.bound and name not in self.imports:
            raise UnknownError
        origin = self.origin(ast.Name(name))
        if origin and self.product.has(origin):
            return self.product.name_of(origin)
        constant = self._constant(name)
        if constant is not None and not _can_change(constant):
            return self.of(constant)
        if name in SAFE and not origin and not self.scope.bindings(name) and not self.scope.is_open(name):
            return name
        raise UnknownError

    def _arguments(self, arguments: list[ast.expr], keywords: list[ast.keyword]) -> list[str]:
        if any(isinstance(each, ast.Starred) for each in arguments) or any(not each.arg for each in keywords):
            raise UnknownError
        return [*map(self.of, arguments), *(f"{each.arg}={self.of(each.value)}" for each in keywords)]

    def _of_operation(self, node: ast.expr) -> str:
        match node:
            case ast.List(elts=elements):
                return f"[{', '.join(map(self.of, elements))}]"
            case ast.Tuple(elts=elements):
                return f"({', '.join(map(self.of, elements))},)"
            case ast.Set(elts=elements):
                return f"{{{', '.join(map(self.of, elements))}}}"
            case ast.Dict(keys=keys, values=values):
                if None in keys:
                    raise UnknownError
                pairs = [f"{self.of(key)}: {self.of(value)}" for key, value in zip(keys, values, strict=True) if key]
                return f"{{{', '.join(pairs)}}}"
            case ast.UnaryOp(op=op, operand=operand):
                return f"({type(op).__name__} {self.of(operand)})"
            case ast.BinOp(left=left, op=op, right=right):
                return f"({self.of(left)} {type(op).__name__} {self.of(right)})"
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return f"({self.of(left)} {type(op).__name__} {self.of(right)})"
            case ast.Slice(lower=lower, upper=upper, step=step):
                return ":".join(self.of(each) if each else "" for each in (lower, upper, step))
            case _:
                raise UnknownError


class _Insertion(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self._values.get(node.id)
        if value is None:
            return node
        inner: ast.expr = self.visit(ast.parse(ast.unparse(value), mode="eval").body)
        return inner


def imported_as(name: str, scope: ModuleScope, path: str) -> str:
    """The dotted name that a name at the top of a module was imported as, always the same; else empty."""
    found = {origin_in(node, name, path) for node in scope.bindings(name)}
    return found.pop() if len(found) == 1 else ""


def origin_in(node: ast.AST, name: str, path: str) -> str:
    """What one import binds a name to; empty for other statements."""
    match node:
        case ast.Import(names=aliases):
            alias = next(each for each in aliases if (each.asname or each.name.partition(".")[0]) == name)
            return alias.name if alias.asname else name
        case ast.ImportFrom(names=aliases):
            return f"{absolute(node, path)}.{next(each.name for each in aliases if (each.asname or each.name) == name)}"
        case _:
            return ""


def _can_change(node: ast.expr) -> bool:
    """Whether the value can be changed by who is given it."""
    return any(isinstance(inner, ast.List | ast.Dict | ast.Set | ast.Call) for inner in ast.walk(node))
