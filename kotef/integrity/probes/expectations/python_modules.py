"""Expectations of the tests in a Python module where only the product decides whether they hold."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from kotef.integrity.probes.expectations.canonical_form import imported_as
from kotef.integrity.probes.expectations.expectation import Expectation, literal
from kotef.integrity.probes.expectations.python_product import Product
from kotef.integrity.probes.expectations.python_purity import ModuleScope, bound_by
from kotef.integrity.probes.expectations.python_statements import StatementWalk, TestStart
from kotef.integrity.probes.oracles.python_origins import columns_of, id_of_row, values_of_row
from kotef.integrity.probes.source_text import parsed
from kotef.source import SourceText

_PREPARES: Final = re.compile(
    r"autouse|usefixtures|pytestmark|pytest_plugins"
    r"|\bdef pytest_(?:runtest|pyfunc|fixture|generate|collection_modify|make)"
)
"""What can make the same lines mean something else in another test: in a test module, or a conftest above it."""
_SET_UP: Final = re.compile(r"_?(?:async)?_?set_?up(?:_?(?:module|function|method|class|test))?", re.IGNORECASE)
"""Functions and methods that are run before a test."""
_MOST: Final = 3_000
"""Tests of one module that are read."""


def python_expectations(path: str, content: bytes, product: Product) -> list[Expectation]:
    """Each expectation that is surely met or missed by the product alone.

    Its key holds every statement that the test has run before, so that equal keys are equal evaluations after equal
    starts. Where only pure functions were called before, there is a second one, of the expression alone.
    """
    source = SourceText.of_python(content)
    tree = parsed(source.text) if source else None
    if source is None or tree is None or any(map(_PREPARES.search, (source.text, *_above(path, product)))):
        return []
    module = _Module(path, tree, ModuleScope.of(tree))
    starts = islice(module.starts(), _MOST)
    return [found for start in starts for found in StatementWalk(start, module.scope, product).expectations()]


def _above(path: str, product: Product) -> Iterator[str]:
    """The text of each conftest that the tests of a file use."""
    folders = path.split("/")[:-1]
    for length in range(len(folders) + 1):
        name = "/".join([*folders[:length], "conftest.py"])
        content = product.read(name) if name in product.paths else None
        if content is not None:
            yield content.decode("utf-8", "replace")


@dataclass(frozen=True)
class _Module:
    path: str
    tree: ast.Module
    scope: ModuleScope

    def starts(self) -> Iterator[TestStart]:
        """The tests that only their own statements prepare, one for each row of parameters."""
        if any(_SET_UP.fullmatch(name) for node in self.tree.body for name in bound_by(node)):
            return
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and self.scope.bindings(node.name) == [node]:
                yield from self._of_function(node)
            elif isinstance(node, ast.ClassDef) and self.scope.bindings(node.name) == [node]:
                yield from self._of_class(node)

    def _of_class(self, node: ast.ClassDef) -> Iterator[TestStart]:
        bases = [self._base(base) for base in node.bases]
        is_unittest = bases == ["unittest.TestCase"]
        is_test = is_unittest or (node.name.startswith("Test") and all(base == "object" for base in bases))
        if not is_test or node.decorator_list or node.keywords:
            return
        names = [name for inner in node.body for name in bound_by(inner)]
        if any(_SET_UP.fullmatch(name) for name in names):
            return
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef) and names.count(inner.name) == 1:
                yield from self._of_function(inner, node.name, is_unittest=is_unittest)

    def _base(self, base: ast.expr) -> str:
        match base:
            case ast.Name(id=name):
                return imported_as(name, self.scope, self.path) or name
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                return f"{imported_as(name, self.scope, self.path) or name}.{attribute}"
            case _:
                return "?"

    def _of_function(
        self, function: ast.FunctionDef, above: str = "", *, is_unittest: bool = False
    ) -> Iterator[TestStart]:
        given = function.args
        names = [each.arg for each in (*given.posonlyargs, *given.args)][1 if above else 0 :]
        if not function.name.startswith("test") or given.vararg or given.kwarg or given.kwonlyargs or given.defaults:
            return
        test = f"{above}::{function.name}" if above else function.name
        where = "" if all(map(_only_defines, self.tree.body)) else self.path
        if not names and not function.decorator_list:
            yield TestStart(self.path, test, function, is_unittest, {}, where)
        elif names and not is_unittest:
            for identifier, row, line in self._rows(function, names):
                yield TestStart(self.path, f"{test}[{identifier}]", function, False, row, where, line)

    def _rows(
        self, function: ast.FunctionDef, names: Sequence[str]
    ) -> Iterator[tuple[str, Mapping[str, ast.expr], int]]:
        """The rows of the one table of parameters that gives a test all of its arguments, with their ids and lines."""
        match function.decorator_list:
            case [ast.Call(func=called, args=[columns, table], keywords=[])]:
                is_table = ast.unparse(called).endswith("mark.parametrize")
                titles = columns_of(columns)
            case _:
                return
        if isinstance(table, ast.Name):
            table = self.scope.constant(table.id) or table
        if not is_table or sorted(titles) != sorted(names) or not isinstance(table, ast.List | ast.Tuple):
            return
        ids = [id_of_row(row, titles, number) for number, row in enumerate(table.elts)]
        for row, identifier in zip(table.elts, ids, strict=True):
            if identifier is not None and ids.count(identifier) == 1:
                yield identifier, dict(zip(titles, values_of_row(row, titles), strict=True)), row.lineno


def _only_defines(node: ast.stmt) -> bool:
    """Whether a statement at the top of a module only defines."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Pass():
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(value=ast.expr() as value):
            return literal(value) is not None
        case ast.If(test=test):
            words = ast.unparse(test)
            return words.startswith("__name__ ==") or words.endswith("TYPE_CHECKING")
        case _:
            return False
