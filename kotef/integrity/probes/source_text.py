"""A source file as text, with edits by character that keep its encoding and its line ends."""

import ast
import codecs
import io
import re
import tokenize
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Self

_LOOKS: Final = re.compile(
    r"getsource|linecache|tokenize|co_consts|lineno|stacklevel|_getframe|currentframe"
    r"|open\(__file__|__file__\)?(?:\.resolve\(\))?\.read|__file__\W+[\"']r"
)
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One replaced stretch of characters."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class SourceText:
    """The text of one file; a byte order mark is not part of it."""

    text: str
    encoding: str
    mark: bytes
    """The byte order mark of the file, or nothing."""

    @classmethod
    def of_python(cls, content: bytes) -> Self | None:
        """A Python module in the encoding that it declares; None if it cannot be decoded."""
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        except SyntaxError:
            return None
        return cls._decoded(content, "utf-8" if encoding == "utf-8-sig" else encoding)

    @classmethod
    def of_bytes(cls, content: bytes) -> Self | None:
        """A file that is UTF-8, or else taken byte by byte; None if it is binary."""
        if b"\0" in content:
            return None
        return cls._decoded(content, "utf-8") or cls._decoded(content, "latin-1")

    @classmethod
    def _decoded(cls, content: bytes, encoding: str) -> Self | None:
        mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
        try:
            return cls(content[len(mark) :].decode(encoding), encoding, mark)
        except (LookupError, ValueError):
            return None

    @cached_property
    def line_starts(self) -> list[int]:
        """Where each line begins."""
        return [0, *(found.end() for found in _LINE_END.finditer(self.text))]

    @property
    def line_end(self) -> str:
        """How the first line ends."""
        found = _LINE_END.search(self.text)
        return found[0] if found else "\n"

    def line_of(self, at: int) -> int:
        """The line of a character, from 1."""
        return len(_LINE_END.findall(self.text, 0, at)) + 1

    def line(self, number: int) -> str:
        """One line, from 1, without its end."""
        start = self.line_starts[number - 1]
        found = _LINE_END.search(self.text, start)
        return self.text[start : found.start() if found else len(self.text)]

    def position(self, line: int, column: int) -> int:
        """The character at which a node of `ast` begins: line from 1, column in bytes of UTF-8."""
        start = self.line_starts[line - 1]
        return start + len(self.line(line).encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass"))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """The first character of a node, and the one behind its last."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self.position(node.lineno, node.col_offset), self.position(end_line, end_column)

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.text[start:end]

    def edited(self, edits: Iterable[TextEdit]) -> Self:
        """The file with these edits, of which none touches another."""
        text = self.text
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        return type(self)(text, self.encoding, self.mark)

    def content(self) -> bytes | None:
        """The bytes of the file; None if the text has a character that its encoding has not."""
        try:
            return self.mark + self.text.encode(self.encoding)
        except ValueError:
            return None


@lru_cache(maxsize=4)
def parsed(text: str) -> ast.Module | None:
    """The syntax tree of a module, kept for who asks again, so never to be changed; else as `parsed_once`."""
    return parsed_once(text)


def parsed_once(text: str) -> ast.Module | None:
    """The syntax tree of a module; None if it has none, or where the text warns of its own syntax."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def line_breaks(text: str) -> str:
    """The line ends in the text alone, so that what replaces it keeps the numbers of the lines below."""
    return "".join(_LINE_END.findall(text))


def looks_at_itself(text: str) -> bool:
    """Whether a test looks at its own text or lines, so that every edit may show."""
    return _LOOKS.search(text) is not None
