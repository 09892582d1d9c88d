"""A source file as text, with edits by character; everything but the edits goes back to disk byte for byte."""

import ast
import codecs
import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final, Protocol, Self

LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
"""One line with its end; a form feed ends none."""
LINE_END: Final = re.compile(r"\r\n|\r|\n")


class TextReplacement(Protocol):
    """Characters `start` to `end`, and what takes their place."""

    @property
    def start(self) -> int:
        """Its first character."""
        ...

    @property
    def end(self) -> int:
        """The first character behind it; `start` for an insertion."""
        ...

    @property
    def text(self) -> str:
        """What takes its place."""
        ...


@dataclass(frozen=True, slots=True, order=True)
class TextEdit:
    """One replaced stretch of characters."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, order=True)
class SourceEdit:
    """One replaced stretch of characters of the file at `path`."""

    path: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, eq=False)
class SourceText:
    """The text of one file; a byte order mark is not part of it."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""
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

    def with_text(self, text: str) -> Self:
        """The same file with another text."""
        return type(self)(text, self.encoding, self.mark)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Physical lines as Python counts them, each with its end."""
        return tuple(LINE.findall(self.text))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each of `lines` begins, and the end of the text."""
        return tuple(accumulate((len(line) for line in self.lines), initial=0))

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """Where each line begins; behind a last line end there is one more line, an empty one."""
        is_ended = not self.text or self.text.endswith(("\r", "\n"))
        return self.starts if is_ended else self.starts[:-1]

    @property
    def newline(self) -> str:
        """How the first line ends; a plain line feed where there is no line end."""
        found = LINE_END.search(self.text)
        return found[0] if found else "\n"

    def line_at(self, offset: int) -> int:
        """The line of a character, from 1."""
        return bisect_right(self.line_starts, offset)

    def line(self, number: int) -> str:
        """One line, from 1, without its end."""
        return self.lines[number - 1].rstrip("\r\n") if number <= len(self.lines) else ""

    def offset(self, line: int, column: int) -> int:
        """The character at a position of `ast`: line from 1, column in bytes of UTF-8."""
        start = self.starts[min(line - 1, len(self.lines))]
        if self._is_ascii:
            return start + column
        row = self.lines[line - 1] if line <= len(self.lines) else ""
        before = row.encode("utf-8", "surrogatepass")[:column]
        return start + sum(byte & 0xC0 != 0x80 for byte in before)  # noqa: PLR2004 - the first byte of a character

    @cached_property
    def _is_ascii(self) -> bool:
        return self.text.isascii()

    def span(self, node: ast.AST) -> tuple[int, int]:
        """The first character of a node, and the one behind its last; decorators do not belong to a statement."""
        return (
            self.offset(_number(node, "lineno"), _number(node, "col_offset")),
            self.offset(_number(node, "end_lineno"), _number(node, "end_col_offset")),
        )

    def segment(self, node: ast.AST) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.text[start:end]

    def edited(self, edits: Iterable[TextReplacement]) -> Self:
        """The file with the edits made; raises ValueError when two of them overlap."""
        return self.with_text(edited_text(self.text, edits))

    def encoded(self) -> bytes | None:
        """The bytes of the file; None if the text has a character that its encoding has not."""
        try:
            return self.mark + self.text.encode(self.encoding)
        except ValueError:
            return None


def edited_text(text: str, edits: Iterable[TextReplacement]) -> str:
    """The text with the edits made; raises ValueError when two of them overlap."""
    pieces, at = list[str](), 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < at:
            raise ValueError("two edits overlap")
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join((*pieces, text[at:]))


def _number(node: ast.AST, name: str) -> int:
    value = getattr(node, name)
    if not isinstance(value, int):
        raise TypeError(f"{type(node).__name__} has no {name}")
    return value
