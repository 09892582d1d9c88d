"""The site of an edit: what an operator sees, and the replacements it proposes."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kotef.repair.scope import FunctionScope
from kotef.repair.source import fitted
from kotef.source import SourceEdit

SIMPLE = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Return | ast.Break | ast.Continue | ast.Raise
"""Statements that can be moved or copied as they stand."""


@dataclass(frozen=True, slots=True)
class EditProposal:
    """One edit an operator can think of."""

    edit: SourceEdit
    extra: float = 0.0
    """Added to the operator's cost: how much less likely this one is than the operator's best."""
    anti: str = ""
    """Why a patch of this shape ranks last even if it passes; empty for most."""


@dataclass(frozen=True)
class Site:
    """One node of a function, with everything around it."""

    scope: FunctionScope
    node: ast.AST

    @property
    def parent(self) -> ast.AST:
        """The node's parent; a function's own is the module or a class."""
        return self.scope.source.parents[self.node]

    @property
    def is_read(self) -> bool:
        """Whether the node is an expression that is read (not stored, deleted, or part of a pattern)."""
        if not isinstance(self.node, ast.expr) or isinstance(self.node, ast.Slice | ast.Starred):
            return False
        stored = isinstance(getattr(self.node, "ctx", None), ast.Store | ast.Del)
        parent = self.parent
        annotated = isinstance(parent, ast.arg) or (
            isinstance(parent, ast.AnnAssign) and parent.annotation is self.node
        )
        statement = isinstance(parent, ast.Expr | ast.MatchValue | ast.JoinedStr)
        return not (stored or annotated or statement)

    def text(self, node: ast.AST) -> str:
        """The text in the file."""
        return self.scope.source.segment(node)

    def put(
        self, text: str, node: ast.AST | None = None, *, extra: float = 0.0, anti: str = ""
    ) -> Iterator[EditProposal]:
        """Replace a node (the site's own, if none is given) by an expression; nothing if it is the same."""
        node = self.node if node is None else node
        parent = self.scope.source.parents[node]
        try:
            new = fitted(text, parent, node)
        except SyntaxError:
            return
        if new != self.text(node):
            yield EditProposal(SourceEdit(self.scope.source.path, *self.scope.source.span(node), new), extra, anti)

    def between(
        self, left: ast.AST, right: ast.AST, text: str, *, extra: float = 0.0, anti: str = ""
    ) -> Iterator[EditProposal]:
        """Replace what is between two nodes: an operator. Parentheses and comments there are left alone."""
        source = self.scope.source
        start, end = source.span(left)[1], source.span(right)[0]
        between = source.text[start:end]
        if "(" not in between and ")" not in between and "#" not in between and "\n" not in between:
            yield EditProposal(SourceEdit(source.path, start, end, f" {text} "), extra, anti)
        else:
            old = between.strip("() \t\r\n\\")  # the operator alone: a line may be continued before or after it
            at = between.find(old)
            if old and "#" not in between and "\n" not in old:
                begin = start + len(between[:at].encode())
                yield EditProposal(SourceEdit(source.path, begin, begin + len(old.encode()), text), extra, anti)

    def statement(self, text: str, *, extra: float = 0.0, anti: str = "") -> Iterator[EditProposal]:
        """Replace the site's statement, its first line's indentation kept."""
        edit = SourceEdit(self.scope.source.path, *self.scope.source.span(self.node), text)
        yield EditProposal(edit, extra, anti)

    def before(self, lines: Iterable[str], *, extra: float = 0.0, anti: str = "") -> Iterator[EditProposal]:
        """Put statements before the site's, at its indentation."""
        source = self.scope.source
        if isinstance(self.node, ast.stmt) and source.begins_line(self.node) and not self._is_elif():
            indent = source.indent(self.node)
            text = "".join(f"{indent}{line}\n" for line in lines)
            start = source.line_start(self.node.lineno)
            yield EditProposal(SourceEdit(source.path, start, start, text), extra, anti)

    def after(
        self, lines: Iterable[str], *, indent: str | None = None, extra: float = 0.0, anti: str = ""
    ) -> Iterator[EditProposal]:
        """Put statements after the site's, at its indentation or another."""
        source = self.scope.source
        if isinstance(self.node, ast.stmt) and source.begins_line(self.node) and source.ends_line(self.node):
            own = source.indent(self.node) if indent is None else indent
            at = source.line_end(self.node)
            missing = "" if source.text[:at].endswith("\n") else "\n"
            text = missing + "".join(f"{own}{line}\n" for line in lines)
            yield EditProposal(SourceEdit(source.path, at, at, text), extra, anti)

    def _is_elif(self) -> bool:
        return isinstance(self.node, ast.If) and self.text(self.node).startswith("elif")


def body_indent(site: Site, body: list[ast.stmt]) -> str | None:
    """The indentation of a block; None if it is on its header's line."""
    first = body[0]
    return site.scope.source.indent(first) if site.scope.source.begins_line(first) else None


def ancestors(site: Site, kinds: tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
    """Nodes of these kinds around the site inside its innermost function, innermost first."""
    node = site.node
    while True:
        node = site.scope.source.parents[node]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module | ast.Lambda):
            return
        if isinstance(node, kinds):
            yield node


def in_loop(site: Site) -> bool:
    """Whether `break` may stand here."""
    return any(ancestors(site, (ast.For, ast.While, ast.AsyncFor)))


def block_of(site: Site) -> list[ast.stmt]:
    """The statements beside the site's own, itself included; empty for what is not a statement."""
    parent = site.parent
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and site.node in block:
            return block
    return []
