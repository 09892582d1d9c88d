"""Byte positions of the parts of a Python file."""

import ast
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Final

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_HOLDS_FUNCTIONS: Final = ast.stmt | ast.ExceptHandler | ast.match_case
_BOM: Final = b"\xef\xbb\xbf"
_WRITTEN_OTHERWISE: Final = frozenset("{}\\\"'\n\r\t")
"""Characters that a literal part of an f-string may write in another way."""


@dataclass(frozen=True, slots=True)
class SourceEdit:
    """Bytes `start` to `end` of a file become `text`."""

    path: str
    start: int
    end: int
    text: str


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
        """As people write it: `Cart.total`."""
        return ".".join(self.trail)

    @property
    def first_line(self) -> int:
        """Of the code object: decorators count."""
        return min([self.node.lineno, *(node.lineno for node in self.node.decorator_list)])

    @property
    def lines(self) -> range:
        """All lines of the definition."""
        return range(self.first_line, (self.node.end_lineno or self.node.lineno) + 1)


class PythonSource:
    """One parsed file."""

    def __init__(self, path: str, content: bytes) -> None:
        """Raises SyntaxError or ValueError for what this interpreter cannot parse, or what is not plain UTF-8."""
        self.path = path
        self.content = content
        content.decode("utf-8")
        self.newline = "\r\n" if b"\r\n" in content else "\n"
        if b"\r" in content.replace(b"\r\n", b""):
            raise ValueError("a carriage return alone")
        self.tree = ast.parse(content)
        self._begin = len(_BOM) if content.startswith(_BOM) else 0
        self._lines = [0]
        for line in content.split(b"\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)
        self.parents: dict[ast.AST, ast.AST] = {}
        waiting: list[ast.AST] = [self.tree]
        while waiting:
            node = waiting.pop()
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
                waiting.append(child)

    def offset(self, line: int, column: int) -> int:
        """Byte offset of a position as `ast` gives it."""
        return self._lines[line - 1] + column + (self._begin if line == 1 else 0)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """First byte of a node and the one after its last; a statement's decorators do not belong to it."""
        return (
            self.offset(_number(node, "lineno"), _number(node, "col_offset")),
            self.offset(_number(node, "end_lineno"), _number(node, "end_col_offset")),
        )

    def text(self, node: ast.AST) -> str:
        """The node as it is in the file."""
        start, end = self.span(node)
        return self.content[start:end].decode("utf-8")

    def has_place(self, node: ast.expr) -> bool:
        """Whether the text at a node's position is the node: inside f-strings it is not, in some versions of Python."""
        try:
            found = ast.parse(f"({self.text(node)})", mode="eval").body
        except (SyntaxError, ValueError, IndexError, TypeError):
            return False
        return ast.dump(found) == ast.dump(node)

    def literal_span(self, whole: ast.JoinedStr, part: ast.Constant) -> tuple[int, int] | None:
        """Where the literal part of an f-string stands; None if it is not written as it reads, or is twice."""
        value = part.value
        if not isinstance(value, str) or not value or set(value) & _WRITTEN_OTHERWISE:
            return None
        start, end = self.span(whole)
        text, wanted = self.content[start:end], value.encode("utf-8")
        if text.count(wanted) != 1:
            return None
        at = start + text.index(wanted)
        return at, at + len(wanted)

    def line_at(self, offset: int) -> int:
        """The line a byte is on, from 1."""
        return bisect_right(self._lines, offset)

    def line_text(self, line: int) -> str:
        """One line without its end."""
        return self.content[self._lines[line - 1] : self._lines[line] - 1].decode("utf-8").rstrip("\r")

    def line_start(self, line: int) -> int:
        """Offset of a line's first byte."""
        return self._lines[line - 1] + (self._begin if line == 1 else 0)

    def indent(self, node: ast.AST) -> str:
        """The blanks before a statement that begins its line."""
        return self.content[self.line_start(_number(node, "lineno")) : self.span(node)[0]].decode("utf-8")

    def begins_line(self, node: ast.AST) -> bool:
        """Whether only blanks are before it."""
        return not self.indent(node).strip()

    def ends_line(self, node: ast.AST) -> bool:
        """Whether only blanks or a comment are after it on its line."""
        end = self.span(node)[1]
        rest = self.content[end : self._lines[self.line_at(end)] - 1].strip()
        return not rest or rest.startswith(b"#")

    def line_end(self, node: ast.AST) -> int:
        """Offset just after the line a node ends on, its line end included."""
        return min(self._lines[self.line_at(self.span(node)[1])], len(self.content))

    def edited(self, edits: tuple[SourceEdit, ...]) -> bytes:
        """The file with the edits made, other bytes as they were; raises ValueError when they overlap."""
        pieces: list[bytes] = []
        position = 0
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
            if edit.start < position:
                raise ValueError("two edits overlap")
            pieces += [self.content[position : edit.start], edit.text.replace("\n", self.newline).encode("utf-8")]
            position = edit.end
        return b"".join([*pieces, self.content[position:]])

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
        """Each function with its first byte and the end of its last line."""
        spans = [(unit, *self.span(unit.node)) for unit in self.units]
        return tuple((unit, start, max(end, self.line_end(unit.node))) for unit, start, end in spans)

    def assignment(self, edit: SourceEdit) -> tuple[tuple[str, ...], str] | None:
        """The edited statement and the names it gives values to, if it is one at the top of the module."""
        for node in self.tree.body:
            start, end = self.span(node)
            if isinstance(node, ast.Assign | ast.AnnAssign) and start <= edit.start and edit.end <= end:
                whole = self.edited((edit,))
                stored = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
                names = tuple(part.id for part in stored if isinstance(part.ctx, ast.Store))
                return names, whole[start : len(whole) - (len(self.content) - end)].decode("utf-8")
        return None

    def standalone(self, unit: SwapUnit, edits: tuple[SourceEdit, ...]) -> str:
        """The edited function as a program of its own, inside the headers of its classes, without decorators."""
        start, end = self.line_start(unit.node.lineno), self.line_end(unit.node)
        whole = self.edited(edits)
        body = whole[start : len(whole) - (len(self.content) - end)].decode("utf-8")
        headers = [f"{self.indent(node)}class {node.name}:\n" for node in unit.outer]
        indented = bool(self.indent(unit.outer[0] if unit.outer else unit.node))
        return ("if 1:\n" if indented else "") + "".join(headers) + body


def _number(node: ast.AST, name: str) -> int:
    value = getattr(node, name)
    if not isinstance(value, int):
        raise TypeError(f"{type(node).__name__} has no {name}")
    return value


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
