"""Literals of a test module that are not in the comparison itself: behind a name, or in a parameter table."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kotef.integrity.probes.oracles.python_tests import FunctionNode, PythonTest
from kotef.source import SourceText, TextEdit


@dataclass(frozen=True, slots=True)
class Origin:
    """The literal that a name in a comparison stands for."""

    literal: ast.expr
    kept: tuple[TextEdit, ...] = ()
    """Edits that keep the id of the test as it is when the literal is changed."""


def origin_of(node: ast.expr, source: SourceText, tree: ast.Module, test: PythonTest) -> Origin | None:
    """Where the value of a name comes from, if a literal that is used for this comparison alone; else None."""
    match node:
        case ast.Name(id=name):
            if name in _parameters(test.function):
                return _in_table(name, source, test)
            value = _assigned(name, tree, test)
            return Origin(value) if value is not None else None
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)):
            found = _assigned(name, tree, test)
            element = _element(found, key) if found is not None else None
            return Origin(element) if element is not None else None
        case _:
            return None


def _parameters(function: FunctionNode) -> list[str]:
    given = function.args
    return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _assigned(name: str, tree: ast.Module, test: PythonTest) -> ast.expr | None:
    """The literal that a name is bound to once, in the test or else in its module, and read once by the test."""
    reads = [node for function in (test.function, *test.helpers) for node in _reads(name, function)]
    if len(reads) != 1:
        return None

    local = _bindings(name, test.function)
    if local:
        return _value_of(name, test.function.body) if len(local) == 1 else None

    tests = [node for node in ast.walk(tree) if isinstance(node, FunctionNode) and node.name.startswith("test")]
    by_tests = {id(read) for function in tests for read in _reads(name, function)}
    is_read_elsewhere = any(id(read) not in by_tests for read in _reads(name, tree))
    if len(_bindings(name, tree)) != 1 or is_read_elsewhere:
        return None
    return _value_of(name, tree.body)


def _bindings(name: str, tree: ast.AST) -> list[ast.AST]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.arg) and _binds(node, name)]


def _reads(name: str, scope: ast.AST) -> Iterator[ast.Name]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield node


def _binds(node: ast.Name | ast.arg, name: str) -> bool:
    if isinstance(node, ast.arg):
        return node.arg == name
    return node.id == name and not isinstance(node.ctx, ast.Load)


def _value_of(name: str, body: Sequence[ast.stmt]) -> ast.expr | None:
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                return value if _is_literal(value) else None
            case _:
                pass
    return None


def _element(literal: ast.expr, key: object) -> ast.expr | None:
    """An element of a list, a tuple or a dictionary."""
    match literal:
        case ast.List(elts=elements) | ast.Tuple(elts=elements) if isinstance(key, int):
            return elements[key] if 0 <= key < len(elements) else None
        case ast.Dict(keys=keys, values=values):
            known = [ast.literal_eval(each) if each is not None else ... for each in keys]
            return values[known.index(key)] if known.count(key) == 1 else None
        case _:
            return None


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _in_table(name: str, source: SourceText, test: PythonTest) -> Origin | None:
    """The value of a parameter in the row of this test, of the only table that it has."""
    reads = list(_reads(name, test.function))
    tables = [node for node in test.function.decorator_list if "parametrize" in ast.unparse(node)]
    match tables:
        case [ast.Call(func=ast.Attribute(value=mark), args=[names, ast.List() | ast.Tuple() as rows], keywords=[])]:
            columns = columns_of(names)
        case _:
            return None
    module = ast.unparse(mark).removesuffix(".mark")
    if len(reads) != 1 or name not in columns or module == ast.unparse(mark) or not test.parameters:
        return None
    matching = [row for number, row in enumerate(rows.elts) if id_of_row(row, columns, number) == test.parameters]
    if len(matching) != 1:
        return None
    row = matching[0]
    literal = values_of_row(row, columns)[columns.index(name)]
    return Origin(literal, tuple(_with_id(row, columns, f"{module}.param", test.parameters, source)))


def columns_of(names: ast.expr) -> list[str]:
    """The names of the parameters in a table."""
    match names:
        case ast.Constant(value=str() as text):
            return [part.strip() for part in text.split(",") if part.strip()]
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [str(element.value) for element in elements if isinstance(element, ast.Constant)]
        case _:
            return []


def values_of_row(row: ast.expr, columns: Sequence[str]) -> list[ast.expr]:
    """The values of a row; one column has bare values."""
    if len(columns) == 1:
        return [row]
    return list(row.elts) if isinstance(row, ast.Tuple | ast.List) else []


def id_of_row(row: ast.expr, columns: Sequence[str], number: int) -> str | None:
    """The id that pytest gives a row of literals; None if that is not known."""
    cells = values_of_row(row, columns)
    if len(cells) != len(columns) or not all(map(_is_literal, cells)):
        return None
    parts = []
    for column, cell in zip(columns, cells, strict=True):
        value = ast.literal_eval(cell)
        if isinstance(value, str | bytes) and not (isinstance(value, str) and value.isascii() and value.isprintable()):
            return None
        plain = value is None or isinstance(value, str | int | float | complex)
        parts.append(str(value) if plain else f"{column}{number}")
    return "-".join(parts)


def _with_id(row: ast.expr, columns: Sequence[str], param: str, name: str, source: SourceText) -> Iterator[TextEdit]:
    """Edits that give a row the id that it has."""
    start, end = source.span(row)
    if len(columns) == 1:
        yield TextEdit(start, start, f"{param}(")
        yield TextEdit(end, end, f", id={name!r})")
        return
    comma = "" if source.text[start : end - 1].rstrip().endswith(",") else ", "
    yield TextEdit(start, start + 1, f"{param}(")
    yield TextEdit(end - 1, end, f"{comma}id={name!r})")
