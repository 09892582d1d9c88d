"""Expected results of a Python test in tables or files: rows of a loop, JSON and text files."""

import ast
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final

from kotef.integrity.probes.oracles.python_tests import PythonTest, statements
from kotef.integrity.probes.oracles.wrong_answer import Beside
from kotef.integrity.probes.source_text import parsed
from kotef.integrity.protected_files import is_protected
from kotef.source import SourceText

Read = Callable[[str], bytes | None]
Key = int | str

_LARGEST: Final = 200_000
"""Bytes of a file that is parsed."""
_DEPTH: Final = 4
"""Names that are followed to what they stand for."""
_KEEPING: Final = frozenset({"enumerate", "list", "reversed", "sorted", "tuple", "zip", "items"})
_READING: Final = frozenset(
    {"decode", "joinpath", "lstrip", "open", "read", "read_bytes", "read_text", "rstrip", "splitlines", "strip"}
)
"""Methods of paths, files and texts after which every letter of the file still counts."""
_NO_PATH: Final = frozenset({"r", "rb", "rt", "utf-8", "utf8", "ascii", "latin-1", "strict", "\n", ""})


@dataclass(frozen=True, slots=True)
class Cells:
    """The expected values that one assertion compares with, one after the other."""

    nodes: tuple[ast.expr, ...]
    """Empty if the whole text of the file is one value."""
    beside: Beside | None
    """The file they stand in, where it is not the module of the test."""


@dataclass(frozen=True)
class TableLookup:
    """What names of a test stand for, in its module and in the files that it reads."""

    tree: ast.Module
    test: PythonTest
    path: str
    read: Read
    data: Collection[str] = ()
    """Files outside of tests that count as expected data too."""

    def cells(self, side: ast.expr) -> Cells | None:
        """The expected values that this side of a comparison stands for; None if they are not surely known.

        Whatever row the loop begins with, and whatever rows it passes over, it compares with one of them.
        """
        match side:
            case ast.Name(id=name) if self._is_read_once(name):
                found = self._of_loop(name, ())
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int() | str() as key)):
                found = self._of_loop(name, (key,)) if self._is_read_once(name, key) else None
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                found = self._of_loop(name, (attribute,)) if self._is_read_once(name, attribute) else None
            case _:
                found = None
        return found or self._of_file(side)

    # -- loops

    def _of_loop(self, name: str, keys: tuple[Key, ...]) -> Cells | None:
        loops = [
            (loop, place)
            for loop in statements(self.test.function.body)
            if isinstance(loop, ast.For) and (place := _place_of(name, loop.target)) is not None
        ]
        if _bindings(self.test.function)[name] != 1 or len(loops) != 1:
            return None
        loop, place = loops[0]
        return self._rows(loop.iter, (*place, *keys))

    def _rows(self, rows: ast.expr, keys: tuple[Key, ...]) -> Cells | None:
        """The cells at the same place of every row; None if one has none."""
        match rows:
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
                return self._rows(inner, keys[1:]) if keys[:1] == (1,) else None
            case ast.Call(func=ast.Name(id="zip"), args=columns) if keys and isinstance(keys[0], int):
                return self._rows(columns[keys[0]], keys[1:]) if keys[0] < len(columns) else None
            case ast.Call(func=ast.Name(id="list" | "tuple" | "reversed" | "sorted"), args=[inner]):
                return self._rows(inner, keys)
            case ast.Call(func=ast.Attribute(value=inner, attr="items"), args=[]) if keys[:1] == (1,):
                return self._cells_of(self._value(inner), ast.Dict, keys[1:])
            case _:
                return self._cells_of(self._value(rows), (ast.List, ast.Tuple), keys)

    def _cells_of(
        self,
        table: "_Value | None",
        kind: type[ast.expr] | tuple[type[ast.expr], ...],
        keys: Sequence[Key],
    ) -> Cells | None:
        if table is None or not isinstance(table.node, kind):
            return None
        rows = table.node.values if isinstance(table.node, ast.Dict) else getattr(table.node, "elts", [])
        found = [_step(row, keys) for row in rows]
        nodes = tuple(node for node in found if node is not None)
        return Cells(nodes, table.beside) if nodes and len(nodes) == len(found) else None

    # -- files

    def _of_file(self, side: ast.expr) -> Cells | None:
        """A side that is the content of a file."""
        found = self._value(side)
        if found is not None and found.beside is not None and found.node is not None:
            return Cells((found.node,), found.beside)
        beside = self._text_file(side, 0)
        return Cells((), beside) if beside else None

    def _text_file(self, side: ast.expr, depth: int) -> Beside | None:
        """The file of which a value is the text, if nothing takes letters away from it."""
        if isinstance(side, ast.Name):
            value = self._assigned(side.id) if self._is_read_once(side.id) else None
            return self._text_file(value, depth + 1) if value is not None and depth < _DEPTH else None
        methods = {node.attr for node in ast.walk(side) if isinstance(node, ast.Attribute)}
        if not isinstance(side, ast.Call) or not methods & {"read", "read_text", "read_bytes"}:
            return None
        called = [node.func for node in ast.walk(side) if isinstance(node, ast.Call)]
        names = {node.attr if isinstance(node, ast.Attribute) else ast.unparse(node) for node in called}
        return self._file(side) if names <= {*_READING, "Path", "PurePath", "join", "dirname", "resolve"} else None

    def _json(self, call: ast.Call) -> "_Value | None":
        """What a call reads that is given the path of a JSON file."""
        beside = self._file(call)
        if beside is None or not beside.path.endswith(".json") or len(beside.source.text) > _LARGEST:
            return None
        tree = parsed(beside.source.text)
        match tree and tree.body:
            case [ast.Expr(value=node)]:
                return _Value(node, beside)
            case _:
                return None

    def _file(self, node: ast.expr) -> Beside | None:
        """The one file among the tests, or of `data`, whose path is put together in an expression."""
        parts = [part.strip("/") for part in self._texts(node, 0) if part not in _NO_PATH]
        if not parts or len(parts) > _DEPTH:
            return None
        name = "/".join(parts)
        for folder in PurePosixPath(self.path).parents:
            place = (folder / name).as_posix()
            content = self.read(place) if ".." not in place.split("/") else None
            source = SourceText.of_bytes(content) if content else None
            if source is not None:
                return Beside(place, source) if is_protected(place) or place in self.data else None
        return None

    def _texts(self, node: ast.AST, depth: int) -> Iterator[str]:
        """Literal texts of an expression, also those that its names stand for."""
        match node:
            case ast.Constant(value=str() as text):
                yield text
            case ast.Name(id=name) if depth < _DEPTH and (value := self._assigned(name)) is not None:
                yield from self._texts(value, depth + 1)
            case _:
                for inner in ast.iter_child_nodes(node):
                    yield from self._texts(inner, depth)

    # -- names

    def _value(self, node: ast.expr, depth: int = 0) -> "_Value | None":
        """The literal that an expression is, or reads."""
        match node:
            case ast.List() | ast.Tuple() | ast.Dict():
                return _Value(node, None)
            case ast.Name(id=name) if depth < _DEPTH:
                value = self._assigned(name)
                return self._value(value, depth + 1) if value is not None else None
            case ast.Subscript(value=inner, slice=ast.Constant(value=int() | str() as key)):
                whole = self._value(inner, depth + 1) if depth < _DEPTH else None
                part = _step(whole.node, (key,)) if whole else None
                return _Value(part, whole.beside) if whole and part is not None else None
            case ast.Call(func=function) if ast.unparse(function).rpartition(".")[2] not in _KEEPING:
                return self._json(node)
            case _:
                return None

    def _assigned(self, name: str) -> ast.expr | None:
        """The only value that the name is given, in the test or else in its module."""
        for scope, body in ((self.test.function, self.test.function.body), (self.tree, self.tree.body)):
            bound = _bindings(scope)[name]
            if not bound:
                continue
            if bound > 1:
                return None
            return next((value for statement in statements(body) if (value := _given(statement, name))), None)
        return None

    def _is_read_once(self, name: str, key: Key | None = None) -> bool:
        """Whether the test reads the name once, or each part of it by a key and this part once, messages left out."""
        found = [node for function in (self.test.function, *self.test.helpers) for node in _reads(name, function)]
        if key is None:
            return len(found) == 1
        parts = [_key_of(node) for node in found]
        return None not in parts and parts.count(key) == 1


@dataclass(frozen=True, slots=True)
class _Value:
    node: ast.expr | None
    beside: Beside | None


def _key_of(node: ast.expr) -> Key | None:
    """The part that is read of a name; None if the whole is."""
    match node:
        case ast.Subscript(slice=ast.Constant(value=int() | str() as key)):
            return key
        case ast.Attribute(attr=name):
            return name
        case _:
            return None


def _reads(name: str, node: ast.AST) -> Iterator[ast.expr]:
    """Where a name is read, with the key that is asked of it; not in what is only shown to people."""
    match node:
        case ast.Subscript(value=ast.Name(id=read)) | ast.Attribute(value=ast.Name(id=read)) if read == name:
            yield node
            return
        case ast.Name(id=read, ctx=ast.Load()) if read == name:
            yield node
        case ast.Assert(test=test):
            yield from _reads(name, test)
            return
        case ast.Call(func=ast.Attribute(attr="subTest")) | ast.keyword(arg="msg"):
            return
        case _:
            pass
    for inner in ast.iter_child_nodes(node):
        yield from _reads(name, inner)


@lru_cache(maxsize=64)
def _bindings(scope: ast.AST) -> Counter[str]:
    """How often each name is bound in a scope, and in the scopes within."""
    found: Counter[str] = Counter()
    for node in ast.walk(scope):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found[name] += 1
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found[name] += 1
            case _:
                pass
    return found


def _given(statement: ast.stmt, name: str) -> ast.expr | None:
    """The value that a statement gives the name; of a file that is opened for it, the call that opens it."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
            return value
        case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
            return value
        case ast.With(items=items):
            for item in items:
                if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == name:
                    return item.context_expr
    return None


def _place_of(name: str, target: ast.expr) -> tuple[int, ...] | None:
    """Where in the target of a loop the name stands."""
    match target:
        case ast.Name(id=bound):
            return () if bound == name else None
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for number, element in enumerate(elements):
                if isinstance(element, ast.Starred):
                    return None
                if (inner := _place_of(name, element)) is not None:
                    return (number, *inner)
    return None


def _step(node: ast.expr | None, keys: Sequence[Key]) -> ast.expr | None:
    """The part of a literal below these keys."""
    for key in keys:
        match node:
            case ast.List(elts=elements) | ast.Tuple(elts=elements) if isinstance(key, int):
                node = elements[key] if -len(elements) <= key < len(elements) else None
            case ast.Dict(keys=names, values=values):
                known = [each.value if isinstance(each, ast.Constant) else None for each in names]
                node = values[known.index(key)] if known.count(key) == 1 else None
            case ast.Call(keywords=keywords) if isinstance(key, str):
                node = next((each.value for each in keywords if each.arg == key), None)
            case _:
                return None
    return node
