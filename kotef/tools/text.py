"""Reading and writing of text files without unintended changes."""

import codecs
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from kotef.redaction import RedactedText, redactor

MAX_BYTES: Final = 5_000_000
"""Largest file the tools read into memory, in bytes."""

_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, slots=True)
class Text:
    """A decoded file, known secrets hidden; `encode` gives back the very bytes it was read from."""

    raw: str
    """The characters after the byte order mark, line ends as on disk, `[secret:NAME]` where a secret stands."""
    encoding: str = "utf-8"
    """utf-8, utf-16-le or utf-16-be; latin-1 when it is none of them, which is a guess that loses nothing."""
    bom: bytes = b""
    marks: tuple[tuple[str, str], ...] = ()
    """Each `[secret:NAME]` in it and the real content of the file there (`secrets.Shown`)."""

    @property
    def plain(self) -> str:
        r"""The text with every `\r\n` as `\n`."""
        return self.raw.replace("\r\n", "\n")

    @property
    def newline(self) -> str:
        """The line end most lines have."""
        return "\r\n" if self.raw.count("\r\n") * 2 > self.raw.count("\n") else "\n"

    @property
    def note(self) -> str:
        """Unusual facts about the file, for the model; empty for UTF-8 with Unix line ends."""
        latin = "not UTF-8, shown as latin-1" if self.encoding == "latin-1" else ""
        mark = f"{self.encoding} with a byte order mark" if self.bom else ""
        return ", ".join(part for part in (latin, mark, "CRLF line ends" if self.newline == "\r\n" else "") if part)

    def encode(self, raw: str) -> bytes:
        """Bytes of a new text in this file's encoding, its secrets in their places.

        Raises `UnicodeEncodeError`, and `MarkError` for the mark of a secret that this text does not hold.
        """
        return self.bom + RedactedText(self.raw, self.marks).restored(raw).encode(self.encoding)

    def replaced(self, spans: Sequence[tuple[int, int, str]]) -> "Text":
        r"""This text with the spans of `plain` (start, end, new text; in order, apart) replaced.

        What is outside the spans keeps its line ends. New text takes those of what it replaces, else those of
        most of the file.
        """
        collapsed = [match.start() - nth for nth, match in enumerate(re.finditer("\r\n", self.raw))]
        parts, end_of_last = [], 0
        for start, end, new in spans:
            first, last = start + bisect_left(collapsed, start), end + bisect_left(collapsed, end)
            old = self.raw[first:last]
            newline = "\r\n" if "\r\n" in old else "\n"
            if "\n" not in old:
                newline = self.newline
            parts += [self.raw[end_of_last:first], new.replace("\n", newline)]
            end_of_last = last
        return replace(self, raw="".join([*parts, self.raw[end_of_last:]]))


def decode(content: bytes) -> Text | None:
    """The text of a file as it may be shown; None when it is binary, which a NUL character tells."""
    text = _decoded(content)
    shown = redactor().shown(text.raw) if text else None
    return replace(text, raw=shown.text, marks=shown.marks) if text and shown else text


def _decoded(content: bytes) -> Text | None:
    for bom, encoding in _BOMS:
        if content.startswith(bom):
            try:
                raw = content[len(bom) :].decode(encoding)
            except UnicodeDecodeError:
                break
            return None if "\0" in raw else Text(raw, encoding, bom)
    if b"\0" in content:
        return None
    try:
        return Text(content.decode("utf-8"))
    except UnicodeDecodeError:
        return Text(content.decode("latin-1"), "latin-1")


def lines_of(plain: str) -> list[str]:
    r"""Lines as editors count them: split at `\n` only; a final newline does not start another line."""
    lines = plain.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def clip_line(line: str, limit: int) -> str:
    """A line of at most `limit` characters, and a word on what was left out."""
    return line if len(line) <= limit else f"{line[:limit]} … [{len(line) - limit} more characters]"


def clip_middle(text: str, limit: int) -> str:
    """A text over `limit` characters as its first third and its last two thirds, in whole lines where possible."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit // 3], text[-(limit - limit // 3) :]
    head = head[: head.rfind("\n") + 1] or head
    tail = tail[tail.find("\n") + 1 :] or tail
    return f"{head}… [{len(text) - len(head) - len(tail)} characters left out] …\n{tail}"
