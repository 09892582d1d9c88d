"""A source file and its edits, which change nothing else in it."""

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import accumulate
from typing import Final, Self

MAX_BYTES: Final = 1_000_000
"""Larger files are generated or data; no one misspelt a name in them by hand."""

CLOSING: Final = {"(": ")", "[": "]", "{": "}"}

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_COOKIE: Final = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_STRING: Final = re.compile(
    r"#[^\r\n]*"
    r"|(?<![\w])[rRuUbBfFtT]{0,3}(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''"
    r"|\"(?:\\.|[^\\\"\r\n])*\"|'(?:\\.|[^\\'\r\n])*')",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, order=True)
class SpanEdit:
    """One span of a file and what takes its place."""

    path: str
    start: int
    """Characters from the start of `PythonText.text`."""
    end: int
    """First character after the span; equal to `start` for an insertion."""
    text: str


class PythonText:
    """One UTF-8 file as text, lines and tree; everything but the edits goes back to disk byte for byte."""

    def __init__(self, path: str, text: str, *, bom: bool = False) -> None:
        self.path = path
        self.text = text
        self._bom = b"\xef\xbb\xbf" if bom else b""

    @classmethod
    def of(cls, path: str, content: bytes) -> Self | None:
        """None for what cannot be edited safely: not UTF-8, another encoding declared, or larger than `MAX_BYTES`."""
        if len(content) > MAX_BYTES:
            return None
        bom = content.startswith(b"\xef\xbb\xbf")
        try:
            text = content[3 * bom :].decode("utf-8")
        except UnicodeDecodeError:
            return None
        declared = next((match[1] for line in text.split("\n")[:2] if (match := _COOKIE.match(line))), "utf-8")
        if not text.isascii() and declared.lower().replace("_", "-") not in {"utf-8", "utf8"}:
            return None
        return cls(path, text, bom=bom)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Physical lines as Python counts them, each with its ending; a form feed ends none."""
        return tuple(_LINE.findall(self.text))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Offset of each line, and of the end of the file."""
        return tuple(accumulate((len(line) for line in self.lines), initial=0))

    @cached_property
    def newline(self) -> str:
        """The line ending of the first line, or a plain one."""
        ending = re.search(r"\r\n|\r|\n", self.text)
        return ending[0] if ending else "\n"

    @cached_property
    def tree(self) -> ast.Module | None:
        """None when the file does not compile."""
        if syntax_error(self.text) is not None:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the tree; empty when there is none."""
        return tuple(ast.walk(self.tree)) if self.tree else ()

    @cached_property
    def masked(self) -> str:
        """The text with strings as `§`, their line ends too, and comments as blanks; reads broken code as well."""
        return _STRING.sub(lambda match: (" " if match[0].startswith("#") else "§") * len(match[0]), self.text)

    @cached_property
    def brackets(self) -> tuple[list[int], int]:
        """Where brackets open that nothing closes, and how many close what was not open."""
        opened, wrong = list[int](), 0
        for match in re.finditer(r"[()\[\]{}]", self.masked):
            if match[0] in CLOSING:
                opened.append(match.start())
            elif opened and CLOSING[self.text[opened[-1]]] == match[0]:
                opened.pop()
            else:
                wrong += 1
        return opened, wrong

    @property
    def content(self) -> bytes:
        """The file as it is on disk."""
        return self._bom + self.text.encode("utf-8")

    def contains(self, word: str) -> bool:
        """Whether the identifier stands anywhere in the text, comments and strings included."""
        return word in self.text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self.text) is not None

    def offset(self, line: int, column: int) -> int:
        """Offset of a position as `ast` gives it: lines from 1, columns in UTF-8 bytes."""
        row = self.lines[line - 1] if line <= len(self.lines) else ""
        return self.starts[min(line - 1, len(self.lines))] + len(row.encode()[:column].decode(errors="ignore"))

    def line_of(self, offset: int) -> int:
        """Index in `lines` of the line an offset is on."""
        return max(0, min(bisect_right(self.starts, offset), len(self.lines)) - 1)

    def span(self, node: ast.expr | ast.stmt | ast.arg | ast.alias | ast.keyword) -> tuple[int, int]:
        """Where a node starts and ends in `text`."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self.offset(node.lineno, node.col_offset), self.offset(end_line, end_column)

    def code(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.text[start:end]

    def rewritten(self, text: str) -> tuple[SpanEdit, ...]:
        """The edits, line by line, that make the file into `text`."""
        old, new = self.lines, tuple(_LINE.findall(text))
        steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        return tuple(
            SpanEdit(self.path, self.starts[start], self.starts[end], "".join(new[first:last]))
            for what, start, end, first, last in steps
            if what != "equal"
        )

    def edited(self, edits: Iterable[SpanEdit]) -> Self | None:
        """The file with the edits made, equal ones once; None when two of them overlap."""
        pieces, at = list[str](), 0
        for edit in sorted(set(edits)):
            if edit.start < at:
                return None
            pieces += [self.text[at : edit.start], edit.text]
            at = edit.end
        return type(self)(self.path, "".join((*pieces, self.text[at:])), bom=bool(self._bom))


def syntax_error(text: str) -> SyntaxError | None:
    """Why the text is not a module, as this interpreter sees it; nothing of it is executed.

    What only the compiler refuses (`return` outside a function) counts; so does a text too deep to be parsed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<source>", "exec", dont_inherit=True)
        except SyntaxError as error:
            return error
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            return SyntaxError(str(error))
    return None


def shape(text: str) -> tuple[object, ...] | None:
    """What the text means: equal for two texts that differ in layout only; None when it does not compile."""
    if syntax_error(text) is not None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tuple(piece for node in ast.walk(ast.parse(text)) for piece in _shape_of(node))


def _shape_of(node: ast.AST) -> Iterator[object]:
    yield type(node)
    for name, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        yield name, tuple(type(child) if isinstance(child, ast.AST) else repr(child) for child in children)
