"""Diffs on the screen: coloured, folded, and none of them twice."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rich.text import Text

from kotef.cli.screen.sanitize import plain
from kotef.git import unquoted

_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_NOISE: Final = ("--- ", "diff ", "index ", "new file mode ", "deleted file mode ")
"""Headers of a diff that are of no interest to people; deleted files show line by line."""
_QUOTED: Final = re.compile(r'("b/(?:[^"\\]|\\.)*")$')
_SAME: Final = re.compile(r"diff --git a/(.+) b/\1")
_STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}


class ShownFile(NamedTuple):
    """One file of a patch."""

    path: str
    lines: tuple[str, ...]
    """Its lines without the headers."""

    @property
    def changed(self) -> frozenset[str]:
        """The lines that were added or removed."""
        return frozenset(line for line in self.lines if line.startswith(("+", "-")))


def coloured(diff: str, *, indent: str = "") -> Text:
    """A unified diff with added and removed lines coloured; of its headers only the file name is kept."""
    lines = _without_headers(plain(diff).removesuffix("\n").split("\n"))
    return Text("\n").join(Text(indent + line, style=_STYLES.get(line[:1], "")) for line in lines)


def file_diffs(patch: str) -> Iterator[ShownFile]:
    """The files of a patch as git writes it."""
    path, lines = "", list[str]()
    old = new = 0
    for line in plain(patch).removesuffix("\n").split("\n"):
        if hunk := _HUNK.match(line):
            old, new = (int(count or 1) for count in hunk.groups())
            lines.append(line)
        elif old > 0 or new > 0:
            old -= not line.startswith(("+", "\\"))
            new -= not line.startswith(("-", "\\"))
            lines.append(line)
        elif line.startswith("diff --git "):
            if path:
                yield ShownFile(path, tuple(lines))
            path, lines = _name(line), []
        elif line.startswith("+++ "):
            path = path or _name(line)  # of a difference that git has not written
        elif not line.startswith(_NOISE):
            lines.append(line)  # a change of mode, a binary file, a rename
    if path:
        yield ShownFile(path, tuple(lines))


@dataclass(slots=True)
class ShownDiffs:
    """Remembers which changed lines of which file were on the screen."""

    _lines: dict[str, set[str]] = field(default_factory=dict)
    _edits: set[tuple[str, str]] = field(default_factory=set)

    def note_edit(self, path: str, diff: str) -> bool:
        """Remember the hunks of one edit; False: they were shown before."""
        key = (path, diff)
        if key in self._edits:
            return False
        self._edits.add(key)
        self.note(ShownFile(path, tuple(diff.split("\n"))))
        return True

    def note(self, shown: ShownFile) -> None:
        """Remember one file."""
        self._lines.setdefault(shown.path, set()).update(shown.changed)

    def has(self, diff: ShownFile) -> bool:
        """Whether every line that this file changes was shown."""
        return bool(diff.changed) and diff.changed <= self._lines.get(diff.path, set())


def _name(header: str) -> str:
    """The new name in a header; git quotes a name with control characters, quotes or backslashes."""
    header = header.rstrip("\t")  # git puts one behind a name with a blank
    if quoted := _QUOTED.search(header):
        return plain(unquoted(quoted[1])).removeprefix("b/").replace("\n", " ")
    if header.startswith("+++ "):
        return header.removeprefix("+++ ").removeprefix("b/")
    if same := _SAME.fullmatch(header):
        return same[1]
    return header.rpartition(" b/")[2]


def _without_headers(lines: list[str]) -> Iterator[str]:
    """All lines of the hunks, which say how long they are; a removed `-- x` looks like a header otherwise."""
    old = new = 0
    for line in lines:
        if hunk := _HUNK.match(line):
            old, new = (int(count or 1) for count in hunk.groups())
        elif old > 0 or new > 0:
            old -= not line.startswith(("+", "\\"))
            new -= not line.startswith(("-", "\\"))
        else:
            if not line.startswith(_NOISE):
                yield _name(line) if line.startswith("+++ ") else line
            continue
        yield line
