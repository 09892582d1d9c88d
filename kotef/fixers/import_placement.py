"""Placement and form of a new import."""

import ast
import re
import sys
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from kotef.fixers.source import PythonText
from kotef.source import SourceEdit

MAX_LINE: Final = 88
"""Characters up to which a name is added to an import line; past that it gets a line of its own."""

_DIRECTIVE: Final = re.compile(r"#!|#.*?coding[:=]")


@dataclass(frozen=True, slots=True)
class MissingImport:
    """One import that is missing."""

    module: str
    """Dotted, with leading dots when relative."""
    name: str = ""
    """What is imported from it; empty for the module itself."""
    alias: str = ""

    @property
    def statement(self) -> str:
        """The statement as a line of its own."""
        renamed = f" as {self.alias}" if self.alias else ""
        return f"from {self.module} import {self.name}{renamed}" if self.name else f"import {self.module}{renamed}"


def add(source: PythonText, wanted: MissingImport, own: frozenset[str]) -> SourceEdit | None:
    """The edit that adds an import in the order isort gives them; None if a docstring shares its line.

    `own` has the top-level names of the project's modules. Source of the order: isort's default profile, which ruff
    shares: `__future__`, standard library, third party, the project, relative; within one, `import` before `from`.
    """
    if source.tree is None:
        return None
    block = _block(source.tree)
    joined = _joined(source, block, wanted)
    if joined:
        return joined
    if not block:
        return _first(source, wanted)
    key = _key(wanted.module, bool(wanted.name), own)
    before = [node for node in block if _key_of(node, own) <= key]
    after = next((node for node in block if _key_of(node, own) > key), None)
    newline = source.newline
    if before:
        place = max(node.end_lineno or node.lineno for node in before)
        section = max(_key_of(node, own)[0] for node in before)
        gap = newline if section != key[0] else ""
        closing = newline if gap and after and source.lines[place].strip() else ""
        return _line(source, place, f"{gap}{wanted.statement}{newline}{closing}")
    gap = newline if _key_of(block[0], own)[0] != key[0] else ""
    return _line(source, block[0].lineno - 1, f"{wanted.statement}{newline}{gap}")


Import = ast.Import | ast.ImportFrom


def _block(tree: ast.Module) -> list[Import]:
    """The imports at the head of the module, up to the first other statement."""
    found: list[Import] = []
    for index, node in enumerate(tree.body):
        if isinstance(node, Import):
            found.append(node)
        elif index or not _is_docstring(node):
            break
    return found


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _key(module: str, is_from: bool, own: frozenset[str]) -> tuple[int, bool, str]:
    """Section, `from` after `import`, name."""
    top = module.partition(".")[0]
    if module == "__future__":
        section = 0
    elif not top:
        section = 4
    elif top in sys.stdlib_module_names:
        section = 1
    else:
        section = 3 if top in own else 2
    return section, is_from, module.casefold()


def _key_of(node: Import, own: frozenset[str]) -> tuple[int, bool, str]:
    if isinstance(node, ast.Import):
        return _key(node.names[0].name, False, own)
    return _key("." * node.level + (node.module or ""), True, own)


def _joined(source: PythonText, block: list[Import], wanted: MissingImport) -> SourceEdit | None:
    """The name added to a one-line `from module import …` that is there already."""
    for node in block:
        if not wanted.name or wanted.alias or not isinstance(node, ast.ImportFrom):
            continue
        start, end = source.span(node)
        code = source.text[start:end]
        plain = re.fullmatch(r"from\s+[.\w]+\s+import\s+[\w, ]+", code) and not any(one.asname for one in node.names)
        same = "." * node.level + (node.module or "") == wanted.module
        if not same or not plain or "*" in code or (node.end_col_offset or 0) + len(wanted.name) + 2 > MAX_LINE:
            continue
        names = [one.name for one in node.names]
        later = next((one for one in node.names if one.name > wanted.name), None)
        if later and names == sorted(names):
            at = source.span(later)[0]
            return SourceEdit(source.path, at, at, f"{wanted.name}, ")
        return SourceEdit(source.path, end, end, f", {wanted.name}")
    return None


def _first(source: PythonText, wanted: MissingImport) -> SourceEdit | None:
    """The first import of a file: below its header and its docstring, above all else."""
    body = source.tree.body if source.tree else []
    newline = source.newline
    if body and _is_docstring(body[0]):
        place = body[0].end_lineno or body[0].lineno
        if len(body) > 1 and body[1].lineno <= place:
            return None
        return _line(source, place, f"{newline}{wanted.statement}{newline}{_gap(source, place)}")
    header = _header(source)
    return _line(source, header, f"{wanted.statement}{newline}{_gap(source, header)}")


def _header(source: PythonText) -> int:
    """Lines of the comments a file starts with: the directives, or all of them when a blank line sets them off."""
    lines = list(takewhile(lambda line: line.startswith("#"), source.lines))
    if lines and (len(lines) >= len(source.lines) or not source.lines[len(lines)].strip()):
        return len(lines)
    return next((number for number, line in enumerate(lines) if not _DIRECTIVE.match(line)), len(lines))


def _gap(source: PythonText, place: int) -> str:
    """Two blank lines in front of a definition and one in front of anything else, as far as they are missing."""
    rest = source.lines[place:]
    blank = next((number for number, line in enumerate(rest) if line.strip()), len(rest))
    following = rest[blank] if blank < len(rest) else ""
    wanted = 2 if re.match(r"@|def |class |async ", following) else 1
    return source.newline * max(0, wanted - blank) if following else ""


def _line(source: PythonText, place: int, text: str) -> SourceEdit:
    """An insertion below the first `place` lines."""
    at = source.starts[min(place, len(source.lines))]
    if place and not source.lines[place - 1].endswith(("\n", "\r")):
        text = source.newline + text
    return SourceEdit(source.path, at, at, text)
