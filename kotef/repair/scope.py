"""Names and expressions that an edit of one function can use."""

import ast
import builtins
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from kotef.repair.source import FunctionNode, PythonSource, SwapUnit

Types = Mapping[str, frozenset[str]]
"""Variable → names of the types it was seen to have."""
Literal = int | float | str | bool | None

_DEEPEST: Final = 60
"""Expressions inside each other that are looked at; generated code has thousands."""
_FOR_TYPE: Final = 20
"""How deep an operation is looked into for its type."""
_NUMBERS: Final = frozenset({"int", "float", "bool", "complex", "Decimal", "Fraction"})
_SEQUENCES: Final = frozenset({"list", "tuple", "str", "bytes", "range", "deque", "bytearray"})
SIZED: Final = _SEQUENCES | {"dict", "set", "frozenset", "defaultdict", "Counter", "OrderedDict"}
_OF_BUILTIN: Final[dict[str, str]] = {
    **dict.fromkeys(("len", "int", "ord", "id", "hash"), "int"),
    **dict.fromkeys(("str", "repr", "chr", "hex", "bin", "format", "input"), "str"),
    **dict.fromkeys(("list", "sorted"), "list"),
    **dict.fromkeys(("bool", "isinstance", "callable", "any", "all", "hasattr"), "bool"),
    "float": "float", "set": "set", "tuple": "tuple", "dict": "dict", "range": "range", "frozenset": "frozenset",
}  # fmt: skip
_OF_METHOD: Final[dict[str, str]] = {
    **dict.fromkeys(("lower", "upper", "strip", "lstrip", "rstrip", "join", "replace", "title", "capitalize"), "str"),
    **dict.fromkeys(("split", "splitlines", "rsplit"), "list"),
    **dict.fromkeys(("startswith", "endswith", "isdigit", "isalpha", "isalnum", "isupper", "islower"), "bool"),
    **dict.fromkeys(("find", "rfind", "count"), "int"),
}


@dataclass(frozen=True)
class FileScope:
    """What one file offers to all its functions."""

    source: PythonSource
    test_literals: frozenset[Literal] = frozenset()
    test_names: frozenset[str] = frozenset()
    """Names the failing tests' files use: exceptions they expect are among them."""

    @cached_property
    def literals(self) -> Counter[Literal]:
        """Constants of the file, docstrings left out."""
        return literals(self.source.tree)

    @cached_property
    def callables(self) -> dict[str, ast.AST]:
        """Functions and classes defined at the top of the file."""
        return {node.name: node for node in self.source.tree.body if isinstance(node, FunctionNode | ast.ClassDef)}

    @cached_property
    def module_names(self) -> frozenset[str]:
        """Plain names assigned at the top of the file."""
        return frozenset(
            target.id
            for node in self.source.tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        )

    @cached_property
    def attributes(self) -> dict[str, Counter[str]]:
        """Receiver as written → attributes read or written on it anywhere in the file, calls of methods left out."""
        found: dict[str, Counter[str]] = {}
        for node in ast.walk(self.source.tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and not self.is_called(node):
                found.setdefault(node.value.id, Counter())[node.attr] += 1
        return found

    @cached_property
    def all_attributes(self) -> Counter[str]:
        """Every attribute of the file that is not called."""
        return sum(self.attributes.values(), Counter[str]())

    def is_called(self, node: ast.AST) -> bool:
        """Whether a node is the function of a call."""
        parent = self.source.parents.get(node)
        return isinstance(parent, ast.Call) and parent.func is node

    def methods_of(self, unit: SwapUnit | None) -> dict[str, FunctionNode]:
        """The methods beside a method."""
        if unit is None:
            return {}
        return {node.name: node for node in unit.outer[-1].body if isinstance(node, FunctionNode)} if unit.outer else {}


@dataclass(frozen=True)
class FunctionScope:
    """What one function offers to an edit of it."""

    around: FileScope
    unit: SwapUnit | None
    """None for what is outside functions."""
    types: Types = field(default_factory=dict)
    outside: tuple[ast.stmt, ...] = ()
    """The statements that may be edited where there is no function."""

    @property
    def source(self) -> PythonSource:
        """The file."""
        return self.around.source

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Everything in the body, in the order of the text; of the insides of f-strings what has a known place.

        Left out is what is nested deeper in an expression than people write.
        """
        found: list[ast.AST] = []
        waiting: list[tuple[ast.AST, int]] = [(root, 0) for root in reversed(self.roots)]
        while waiting:
            node, depth = waiting.pop()
            found.append(node)
            if depth < _DEEPEST:
                children = self._parts(node) if isinstance(node, ast.JoinedStr) else list(ast.iter_child_nodes(node))
                waiting += [(child, 0 if isinstance(child, ast.stmt) else depth + 1) for child in reversed(children)]
        return tuple(found)

    @cached_property
    def unplaced(self) -> tuple[int, ...]:
        """Lines of f-strings of which some part has no known place."""
        whole = [node for node in self.nodes if isinstance(node, ast.JoinedStr)]
        return tuple(node.lineno for node in whole if len(self._parts(node)) < len(node.values))

    def _parts(self, node: ast.JoinedStr) -> list[ast.AST]:
        """Expressions and literal parts of an f-string, as far as they have a place in the file."""
        found: list[ast.AST] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                inner = [child for child in ast.walk(part.value) if isinstance(child, ast.expr)]
                if all(map(self.source.has_place, inner)):
                    found.append(part.value)
            elif isinstance(part, ast.Constant) and self.source.literal_span(node, part) is not None:
                found.append(part)
        return found

    @cached_property
    def roots(self) -> tuple[ast.AST, ...]:
        """Default values and statements, the docstring left out."""
        if self.unit is None:
            return self.outside
        given = self.unit.node.args
        defaults = [node for node in (*given.defaults, *given.kw_defaults) if node is not None]
        return (*defaults, *(node for node in self.unit.node.body if not is_docstring(node)))

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of the function's own arguments."""
        if self.unit is None:
            return ()
        given = self.unit.node.args
        return tuple(node.arg for node in (*given.posonlyargs, *given.args, *given.kwonlyargs))

    @cached_property
    def inner(self) -> dict[str, FunctionNode]:
        """Functions defined inside."""
        return {node.name: node for node in self.nodes if isinstance(node, FunctionNode)}

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """Arguments and names stored in the body, those of inner functions too; `self` and `_` left out."""
        stored = [node.id for node in self.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        inner = [
            argument.arg
            for node in (*self.inner.values(), *(node for node in self.nodes if isinstance(node, ast.Lambda)))
            for argument in node.args.args
        ]
        names = dict.fromkeys((*self.parameters, *stored, *inner))
        return tuple(name for name in names if name not in {"self", "cls", "_"})

    @cached_property
    def globals(self) -> tuple[str, ...]:
        """Module-level values the function could read; those it reads come first."""
        used = {node.id for node in self.nodes if isinstance(node, ast.Name)}
        return tuple(sorted(self.around.module_names - set(self.variables), key=lambda name: (name not in used, name)))

    @cached_property
    def own_attributes(self) -> tuple[str, ...]:
        """`self.x` as written, for what the file reads or writes on `self`."""
        if not self.parameters or self.parameters[0] != "self":
            return ()
        return tuple(f"self.{name}" for name, _ in self.around.attributes.get("self", Counter[str]()).most_common(12))

    @cached_property
    def initial_values(self) -> tuple[str, ...]:
        """`self.x = v` as `__init__` has it, for what could have to be reset."""
        maker = self.around.methods_of(self.unit).get("__init__")
        if maker is None or maker is (self.unit and self.unit.node):
            return ()
        return tuple(
            self.source.segment(node)
            for node in maker.body
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant | ast.List | ast.Dict | ast.Call)
            and not any(isinstance(part, ast.Name) and part.id in _arguments(maker) for part in ast.walk(node.value))
            and "\n" not in self.source.segment(node)
        )

    @cached_property
    def returns_truth(self) -> bool:
        """Whether all that it returns could be a truth value, and something is one."""
        values = [node.value for node in self.nodes if isinstance(node, ast.Return) and node.value is not None]
        kinds = [self.kinds(value) for value in values]
        return any(kind == {"bool"} for kind in kinds) and all(not kind or kind == {"bool"} for kind in kinds)

    @cached_property
    def literals(self) -> Counter[Literal]:
        """Constants of the function."""
        return sum((literals(node) for node in self.roots), Counter[Literal]())

    @cached_property
    def conditions(self) -> tuple[str, ...]:
        """Conditions as written, each once, shortest first."""
        tests = [node.test for node in self.nodes if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert)]
        tests += [value for node in self.nodes if isinstance(node, ast.BoolOp) for value in node.values]
        tests += [test for node in self.nodes if isinstance(node, ast.comprehension) for test in node.ifs]
        texts = [self.source.segment(node) for node in tests if not isinstance(node, ast.Constant)]
        return tuple(sorted(dict.fromkeys(texts), key=len))

    @cached_property
    def expressions(self) -> tuple[tuple[str, ast.expr], ...]:
        """Expressions that read, as written, each once, shortest first; names and constants left out."""
        found: dict[str, ast.expr] = {}
        for node in self.nodes:
            if isinstance(
                node, ast.BinOp | ast.Call | ast.Subscript | ast.Attribute | ast.UnaryOp | ast.List | ast.Tuple
            ):
                stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
                text = self.source.segment(node)
                if not stored and not self.around.is_called(node) and len(text) <= 60 and "\n" not in text:
                    found.setdefault(text, node)
        return tuple(sorted(found.items(), key=lambda item: len(item[0])))

    def kinds(self, node: ast.AST, deep: int = _FOR_TYPE) -> frozenset[str]:
        """Types an expression may have, empty when nothing is known; it is looked into as `deep` as that."""
        if not deep:
            return frozenset()
        match node:
            case ast.Constant():
                return frozenset({type(node.value).__name__})
            case ast.Name():
                return self.types.get(node.id, frozenset())
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if f"{name}.{attribute}" in self.types:
                return self.types[f"{name}.{attribute}"]
            case ast.Compare() | ast.UnaryOp(op=ast.Not()):
                return frozenset({"bool"})
            case ast.UnaryOp():
                return self.kinds(node.operand, deep - 1)
            case ast.List() | ast.ListComp():
                return frozenset({"list"})
            case ast.Tuple():
                return frozenset({"tuple"})
            case ast.Dict() | ast.DictComp():
                return frozenset({"dict"})
            case ast.Set() | ast.SetComp():
                return frozenset({"set"})
            case ast.JoinedStr():
                return frozenset({"str"})
            case ast.Call(func=ast.Name(id=name)):
                return frozenset({_OF_BUILTIN[name]}) if name in _OF_BUILTIN else frozenset()
            case ast.Call(func=ast.Attribute(attr=name)):
                return frozenset({_OF_METHOD[name]}) if name in _OF_METHOD else frozenset()
            case ast.BinOp():
                return self._of_operation(node, deep - 1)
            case ast.Subscript(slice=ast.Slice(), value=value):
                return self.kinds(value, deep - 1)
            case ast.Subscript(value=value):
                return frozenset({"str"}) if self.kinds(value, deep - 1) == {"str"} else frozenset()
            case _:
                return frozenset()

    def _of_operation(self, node: ast.BinOp, deep: int) -> frozenset[str]:
        left, right = self.kinds(node.left, deep), self.kinds(node.right, deep)
        if left and right and left <= _NUMBERS and right <= _NUMBERS:
            return frozenset({"float"}) if isinstance(node.op, ast.Div) else left | right
        if isinstance(node.op, ast.Add) and (left or right):
            return left or right
        return left if left == right else frozenset()

    def may_be(self, node: ast.AST, wanted: Iterable[str]) -> bool:
        """Whether an expression could have one of the types; unknown could."""
        kinds = self.kinds(node)
        return not kinds or bool(kinds & frozenset(wanted))

    def numeric(self, node: ast.AST) -> bool:
        """Whether an expression could be a number; no one counts with what is only ever true or false."""
        return self.may_be(node, _NUMBERS) and not self.truth(node)

    def truth(self, node: ast.AST) -> bool:
        """Whether an expression is known to be true or false, and nothing else."""
        kinds = self.kinds(node) - {"NoneType"}
        return kinds == {"bool"}

    def sequence(self, node: ast.AST) -> bool:
        """Whether an expression could be sliced."""
        return self.may_be(node, _SEQUENCES)

    def alike(self, first: frozenset[str], second: frozenset[str]) -> bool:
        """Whether values of these types could stand for each other; None stands for anything."""
        first, second = first - {"NoneType"}, second - {"NoneType"}
        if not first or not second:
            return True
        return bool(first & second) or (bool(first & _NUMBERS) and bool(second & _NUMBERS))


def literals(tree: ast.AST) -> Counter[Literal]:
    """Constants below a node, docstrings and long texts left out."""
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.stmt) and isinstance(node, ast.Expr)}
    return Counter(
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and id(node) not in skipped
        and (node.value is None or isinstance(node.value, int | float | str))
        and len(str(node.value)) <= 40
    )


def assignments(source: PythonSource, read: Container[str]) -> tuple[ast.stmt, ...]:
    """Assignments at the top of the file or of a class, of names that are read in suspected functions."""
    bodies = [source.tree.body, *(node.body for node in source.tree.body if isinstance(node, ast.ClassDef))]
    return tuple(
        node
        for body in bodies
        for node in body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and any(
            isinstance(target, ast.Name) and target.id in read
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        )
    )


def _arguments(node: FunctionNode) -> set[str]:
    return {argument.arg for argument in node.args.args[1:]}


def is_docstring(node: ast.AST) -> bool:
    """Whether a statement is only a text."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_exception(name: str) -> bool:
    """Whether a name is one of the built-in exceptions."""
    known = getattr(builtins, name, None)
    return isinstance(known, type) and issubclass(known, Exception)
