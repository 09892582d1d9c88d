"""Exact positions of the definitions in a file."""

import ast
import importlib
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from kotef.context.repomap.languages import Language

WIDTH: Final = 120
"""Characters of a line that are kept."""


class Symbol(NamedTuple):
    """One definition."""

    name: str
    """With the definitions around it, outermost first, separated by dots: `Cart.total`."""
    kind: str
    """`class`, `function`, `method`, …; `definition` where no grammar shows which."""
    line: int
    """From 1."""
    text: str
    """The line itself, its indentation kept."""


class _Span(NamedTuple):
    """A definition without its surroundings."""

    line: int
    last: int
    name: str
    kind: str


def read_by(language: Language) -> str:
    """Who gives the definitions of this language here; part of the key under which they are kept."""
    if _parser(language) is not None:
        return f"tree-sitter {language.function}"
    return "ast" if language.name == "Python" else "lines"


def symbols(content: bytes, language: Language) -> list[Symbol]:
    """The definitions of a file in the order of their lines.

    By the language's grammar where the extra `map` is installed, by `ast` for Python that is whole, else line by
    line, which misses what does not begin with a keyword.
    """
    lines = content.decode("utf-8", "replace").split("\n")
    spans = sorted(set(_spans(content, language)))
    return list(_named(spans, lines))


def _spans(content: bytes, language: Language) -> Iterable[_Span]:
    parser = _parser(language)
    if parser is not None:
        return _by_grammar(content, *parser)
    if language.name == "Python":
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a doubtful escape in the file is not our affair
                return list(_by_ast(ast.parse(content)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # not whole now; perhaps that is the task
            pass
    return _by_lines(content, language)


def _named(spans: list[_Span], lines: list[str]) -> Iterator[Symbol]:
    around: list[_Span] = []
    for span in spans:
        while around and around[-1].last < span.line:
            around.pop()
        name = ".".join([*(outer.name for outer in around), span.name])
        text = lines[span.line - 1].rstrip() if span.line <= len(lines) else ""
        yield Symbol(name, span.kind, span.line, text[:WIDTH])
        if span.last > span.line:
            around.append(span)


def parser_of(language: Language) -> Any | None:
    """The parser of a language's grammar; None if the grammar is not installed."""
    found = _parser(language)
    return found[0] if found else None


@cache
def _parser(language: Language) -> tuple[Any, Any] | None:
    """A parser and a query; None if the grammar is not installed."""
    if not language.module:
        return None
    try:
        from tree_sitter import Language as Grammar
        from tree_sitter import Parser, Query

        grammar = Grammar(getattr(importlib.import_module(language.module), language.function)())
    except ImportError:
        return None
    return Parser(grammar), Query(grammar, language.query)


def _by_grammar(content: bytes, parser: Any, query: Any) -> Iterator[_Span]:
    from tree_sitter import QueryCursor

    for _, captures in QueryCursor(query).matches(parser.parse(content).root_node):
        name = captures["name"][0]
        kind = next(kind for kind in captures if kind != "name")
        text = (name.text or b"").decode("utf-8", "replace")
        yield _Span(name.start_point[0] + 1, captures[kind][0].end_point[0] + 1, text, kind)


def _by_ast(tree: ast.AST) -> Iterator[_Span]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            yield _Span(node.lineno, node.end_lineno or node.lineno, node.name, kind)


def _by_lines(content: bytes, language: Language) -> Iterator[_Span]:
    r"""One line each, for where a definition ends is not known; a `\n` before the text makes up for the one matched."""
    line, seen = 0, 0
    text = b"\n" + content
    for match in language.lines.finditer(text):
        name = next(group for group in match.groups() if group)
        end = match.end()
        line += text.count(b"\n", seen, end)
        seen = end
        yield _Span(line, line, name.decode("utf-8", "replace"), "definition")
