"""A Python file as the search edits it: functions that can be exchanged, and places of their parts."""

import ast
from codecs import BOM_UTF8
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Self

from kotef.source import SourceEdit, SourceText, edited_text, parents_of

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_HOLDS_FUNCTIONS: Final = ast.stmt | ast.ExceptHandler | ast.match_case
_WRITTEN_OTHERWISE: Final = frozenset("{}\\\"'\n\r\t")
"""Characters that a literal part of an f-string may write in another way."""


@dataclass(frozen=True, slots=True)
class SwapUnit:
    """An outermost function: what can be exchanged while the program is loaded."""

    path: str
    node: FunctionNode
    outer: tuple[ast.ClassDef, ...]
    """The classes around it, outermost first."""

    @property
    def trail(self) -> tuple[str, ...]:
        """Names from the module down to the function."""
        return (*(node.name for node in self.outer), self.node.name)

    @property
    def name(self) -> str:
        """The qualified name: `Cart.total`."""
        return ".".join(self.trail)

    @property
    def first_line(self) -> int:
        """First line of the code object, including decorators."""
        return min([self.node.lineno, *(node.lineno for node in self.node.decorator_list)])

    @property
    def lines(self) -> range:
        """All lines of the definition."""
        return range(self.first_line, (self.node.end_lineno or self.node.lineno) + 1)


class PythonSource(SourceText):
    """One parsed file."""

    path: str
    content: bytes
    tree: ast.Module

    def __init__(self, path: str, content: bytes) -> None:
        """Raises SyntaxError or ValueError for what this interpreter cannot parse, or what is not plain UTF-8."""
        mark = BOM_UTF8 if content.startswith(BOM_UTF8) else b""
        super().__init__(content[len(mark) :].decode("utf-8"), mark=mark)
        if b"\r" in content.replace(b"\r\n", b""):
            raise ValueError("a carriage return alone")
        for name, value in (("path", path), ("content", content), ("tree", ast.parse(content))):
            object.__setattr__(self, name, value)

    def with_text(self, text: str) -> Self:
        """The same file with another text."""
        return type(self)(self.path, self.mark + text.encode("utf-8"))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Each node with the one around it."""
        return parents_of(ast.walk(self.tree))

    def has_place(self, node: ast.expr) -> bool:
        """Whether the text at a node's position is the node: inside f-strings it is not, in some versions of Python."""
        try:
            found = ast.parse(f"({self.segment(node)})", mode="eval").body
        except (SyntaxError, ValueError, IndexError, TypeError):
            return False
        return ast.dump(found) == ast.dump(node)

    def literal_span(self, whole: ast.JoinedStr, part: ast.Constant) -> tuple[int, int] | None:
        """Where the literal part of an f-string stands; None if it is not written as it reads, or is twice."""
        value = part.value
        if not isinstance(value, str) or not value or set(value) & _WRITTEN_OTHERWISE:
            return None
        start, end = self.span(whole)
        text = self.text[start:end]
        if text.count(value) != 1:
            return None
        at = start + text.index(value)
        return at, at + len(value)

    def line_start(self, line: int) -> int:
        """Offset of a line's first character."""
        return self.starts[line - 1]

    def indent(self, node: ast.AST) -> str:
        """The blanks before a statement that begins its line."""
        start, _ = self.span(node)
        return self.text[self.line_start(self.line_at(start)) : start]

    def begins_line(self, node: ast.AST) -> bool:
        """Whether only blanks are before it."""
        return not self.indent(node).strip()

    def ends_line(self, node: ast.AST) -> bool:
        """Whether only blanks or a comment are after it on its line."""
        end = self.span(node)[1]
        rest = self.text[end : self.starts[self.line_at(end)]].strip()
        return not rest or rest.startswith("#")

    def line_end(self, node: ast.AST) -> int:
        """Offset just after the line a node ends on, its line end included."""
        return self.starts[self.line_at(self.span(node)[1])]

    def text_with(self, edits: Iterable[SourceEdit]) -> str:
        """The text with the edits made, in the line ends of the file; raises ValueError when they overlap."""
        written = (replace(edit, text=edit.text.replace("\n", self.newline)) for edit in edits)
        return edited_text(self.text, written)

    def content_with(self, edits: Iterable[SourceEdit]) -> bytes:
        """The file with the edits made."""
        return self.mark + self.text_with(edits).encode("utf-8")

    @cached_property
    def units(self) -> tuple[SwapUnit, ...]:
        """Outermost functions, methods included, first to last."""
        found: list[SwapUnit] = []
        waiting: list[tuple[ast.AST, tuple[ast.ClassDef, ...]]] = [(self.tree, ())]
        while waiting:
            node, outer = waiting.pop()
            if isinstance(node, FunctionNode):
                found.append(SwapUnit(self.path, node, outer))
                continue
            if isinstance(node, ast.ClassDef):
                outer = (*outer, node)
            inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, _HOLDS_FUNCTIONS)]
            waiting += [(child, outer) for child in reversed(inner)]
        return tuple(found)

    def unit_of(self, edits: tuple[SourceEdit, ...]) -> SwapUnit | None:
        """The function that holds all the edits between `def` and its last statement; None if there is none."""
        for unit, start, limit in self._extents:
            if all(start <= edit.start and edit.end <= limit for edit in edits):
                return unit
        return None

    @cached_property
    def _extents(self) -> tuple[tuple[SwapUnit, int, int], ...]:
        """Each function with its first character and the end of its last line."""
        spans = [(unit, *self.span(unit.node)) for unit in self.units]
        return tuple((unit, start, max(end, self.line_end(unit.node))) for unit, start, end in spans)

    def assignment(self, edit: SourceEdit) -> tuple[tuple[str, ...], str] | None:
        """The edited statement and the names it gives values to, if it is one at the top of the module."""
        for node in self.tree.body:
            start, end = self.span(node)
            if isinstance(node, ast.Assign | ast.AnnAssign) and start <= edit.start and edit.end <= end:
                whole = self.text_with((edit,))
                stored = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
                names = tuple(part.id for part in stored if isinstance(part.ctx, ast.Store))
                return names, whole[start : len(whole) - (len(self.text) - end)]
        return None

    def standalone(self, unit: SwapUnit, edits: tuple[SourceEdit, ...]) -> str:
        """The edited function as a program of its own, inside the headers of its classes, without decorators."""
        start, end = self.line_start(unit.node.lineno), self.line_end(unit.node)
        whole = self.text_with(edits)
        body = whole[start : len(whole) - (len(self.text) - end)]
        headers = [f"{self.indent(node)}class {node.name}:\n" for node in unit.outer]
        indented = bool(self.indent(unit.outer[0] if unit.outer else unit.node))
        return ("if 1:\n" if indented else "") + "".join(headers) + body


_BINARY: Final[dict[type[ast.operator], int]] = {
    ast.BitOr: 7,
    ast.BitXor: 8,
    ast.BitAnd: 9,
    ast.LShift: 10,
    ast.RShift: 10,
    ast.Add: 11,
    ast.Sub: 11,
    ast.Mult: 12,
    ast.Div: 12,
    ast.FloorDiv: 12,
    ast.Mod: 12,
    ast.MatMult: 12,
    ast.Pow: 14,
}
_ATOM: Final = 16


def binding(node: ast.expr) -> int:
    """How tightly an expression binds, as in the language reference's table; 16 for what needs no parentheses."""
    match node:
        case ast.NamedExpr() | ast.Yield() | ast.YieldFrom() | ast.Starred():
            return 0
        case ast.Lambda() | ast.IfExp():
            return 1
        case ast.BoolOp():
            return 3 if isinstance(node.op, ast.Or) else 4
        case ast.UnaryOp():
            return 5 if isinstance(node.op, ast.Not) else 13
        case ast.Compare():
            return 6
        case ast.BinOp():
            return _BINARY[type(node.op)]
        case ast.Await():
            return 15
        case _:
            return _ATOM


def needed(parent: ast.AST, child: ast.AST) -> int:
    """How tightly an expression has to bind to be in its place without parentheses."""
    match parent:
        case ast.BinOp():
            own = _BINARY[type(parent.op)]
            if isinstance(parent.op, ast.Pow):
                return own + 1 if parent.left is child else 13
            return own if parent.left is child else own + 1
        case ast.UnaryOp():
            return 5 if isinstance(parent.op, ast.Not) else 13
        case ast.Compare():
            return 7
        case ast.BoolOp():
            return 4 if isinstance(parent.op, ast.Or) else 5
        case ast.Attribute() | ast.Await():
            return _ATOM
        case ast.Subscript():
            return _ATOM if parent.value is child else 0
        case ast.Call():
            return _ATOM if parent.func is child else 1
        case ast.Starred():
            return 7
        case ast.FormattedValue():
            return 2
        case ast.IfExp():
            return 1 if parent.orelse is child else 3
        case ast.comprehension():
            return 3
        case ast.expr() | ast.keyword() | ast.Slice():
            return 1
        case _:
            return 0


def fitted(text: str, parent: ast.AST, child: ast.AST) -> str:
    """The text, in parentheses if it would be read differently in the child's place; raises SyntaxError."""
    node = ast.parse(text.strip(), mode="eval").body
    bare_tuple = isinstance(node, ast.Tuple) and not text.lstrip().startswith("(")
    weak = bare_tuple and not isinstance(parent, ast.Return | ast.Assign | ast.Expr | ast.For | ast.Subscript)
    weak = weak or (isinstance(parent, ast.FormattedValue) and text.lstrip().startswith("{"))
    return f"({text})" if weak or binding(node) < needed(parent, child) else text
