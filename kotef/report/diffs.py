"""Side-by-side view of a patch."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final, Literal

from kotef.git import unquoted

MAX_ROWS: Final = 400
"""Rows shown per patch; its file has all."""
MAX_LINE: Final = 400
"""Characters shown per line."""

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)")

Kind = Literal["same", "changed", "removed", "added", "gap"]


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line before and after; a number is None if there is no line."""

    kind: Kind
    """`gap`: lines that are not shown are before it; `left` is what the hunk says of its place."""
    left_number: int | None = None
    left: str = ""
    right_number: int | None = None
    right: str = ""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The change of one file."""

    path: str
    change: str
    """`changed`, `new`, `deleted`, `renamed from X`, `binary`, or `mode`."""
    added: int
    removed: int
    rows: tuple[DiffRow, ...]
    cut: bool = False
    """Whether rows were left out."""
    torn: bool = False
    """Whether the patch was cut within this file, so that it changes more than is counted here."""


def diff_of(patch: str, most: int = MAX_ROWS, *, torn: bool = False) -> tuple[FileDiff, ...]:
    """The files of a patch as git writes it, in order; what cannot be read as one is passed over.

    `torn` says that the patch continues after this text, so that its last file, and files after it, are not known
    whole.
    """
    files, left = [], most
    for lines in _files(patch.removesuffix("\n").split("\n")):
        file = _file(lines, left)
        left -= len(file.rows)
        files.append(file)
    if torn and files:
        files[-1] = replace(files[-1], torn=True)
    return tuple(files)


def _files(lines: Sequence[str]) -> Iterator[list[str]]:
    """The lines of each file; lines before the first belong to none. A hunk's header gives its length."""
    current: list[str] | None = None
    old = new = 0
    for text in lines:
        line = text
        if old > 0 or new > 0:
            line = text or " "  # `diff.suppressBlankEmpty` leaves the blank of an empty line out
            old -= line[0] in " -"
            new -= line[0] in " +"
        elif line.startswith("diff --git "):
            if current is not None:
                yield current
            current = []
        elif hunk := _HUNK.match(line):
            old, new = int(hunk[2] or 1), int(hunk[4] or 1)
        if current is not None:
            current.append(line)
    if current is not None:
        yield current


def _file(lines: list[str], most: int) -> FileDiff:
    start = next((number for number, line in enumerate(lines) if line.startswith("@@ ")), len(lines))
    head = lines[:start]
    rows = list(_rows(lines[start:]))
    added = sum(row.kind in ("added", "changed") for row in rows)
    removed = sum(row.kind in ("removed", "changed") for row in rows)
    shown = rows[: max(0, most)]
    return FileDiff(_path(head), _change(head), added, removed, tuple(shown), cut=len(shown) < len(rows))


def _path(head: Sequence[str]) -> str:
    """The path of the file; for a deleted one, its old path."""
    for prefix in ("+++ ", "rename to ", "--- "):
        for line in head:
            name = line.removeprefix(prefix)
            if line.startswith(prefix) and name.strip() != "/dev/null":
                return _plain(name, "ab" if prefix in ("+++ ", "--- ") else "")
    first = head[0].removeprefix("diff --git ") if head else ""
    half = len(first) // 2  # `a/X b/X`, whatever X holds
    return _plain(first[half + 1 :], "ab")


def _plain(name: str, sides: str) -> str:
    """A path without git's quotes and without its side."""
    name = unquoted(name.rstrip("\t"))
    return name[2:] if sides and name[:1] in sides and name[1:2] == "/" else name


def _change(head: Sequence[str]) -> str:
    for line in head:
        if line.startswith(("Binary files", "GIT binary patch")):
            return "binary"
    for line in head:
        if line.startswith("new file"):
            return "new"
        if line.startswith("deleted file"):
            return "deleted"
        if line.startswith("rename from "):
            return f"renamed from {_plain(line.removeprefix('rename from '), '')}"
    if any(line.startswith("new mode") for line in head) and not any(line.startswith("+++ ") for line in head):
        return "mode"
    return "changed"


def _rows(lines: Sequence[str]) -> Iterator[DiffRow]:
    left = right = 0
    gone: list[str] = []
    come: list[str] = []
    for line in (*lines, "@@ end"):
        if line.startswith("-"):
            if come:
                yield from _block(gone, come, left, right)
                left, right = left + len(gone), right + len(come)
                gone, come = [], []
            gone.append(line[1:])
        elif line.startswith("+"):
            come.append(line[1:])
        elif not line.startswith("\\"):  # "\ No newline at end of file"
            yield from _block(gone, come, left, right)
            left, right = left + len(gone), right + len(come)
            gone, come = [], []
            if hunk := _HUNK.match(line):
                left, right = int(hunk[1]), int(hunk[3])
                yield DiffRow("gap", left=_clip(hunk[5].strip()))
            elif line.startswith(" "):
                yield DiffRow("same", left, _clip(line[1:]), right, _clip(line[1:]))
                left, right = left + 1, right + 1


def _block(gone: Sequence[str], come: Sequence[str], left: int, right: int) -> Iterator[DiffRow]:
    """Removed lines beside the lines that replace them."""
    for number, (old, new) in enumerate(zip_longest(gone, come)):
        if old is None:
            yield DiffRow("added", right_number=right + number, right=_clip(new))
        elif new is None:
            yield DiffRow("removed", left + number, _clip(old))
        else:
            yield DiffRow("changed", left + number, _clip(old), right + number, _clip(new))


def _clip(text: str) -> str:
    text = text.rstrip("\r")
    return text if len(text) <= MAX_LINE else f"{text[:MAX_LINE]}…"
