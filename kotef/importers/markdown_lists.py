"""List entries in Markdown files of other tools, with their nested text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from kotef.sdd.markdown import Line

MAX_LINES: Final = 20_000
"""Lines read of one file; what follows is not looked at."""


@dataclass(slots=True)
class ListItem:
    """One list item: its text over all lines it continues, and what is nested in it."""

    line: Line
    headings: tuple[str, ...]
    """Titles it is under, outermost first."""
    parts: list[str] = field(default_factory=list)
    notes: list[Line] = field(default_factory=list)

    @property
    def text(self) -> str:
        """On one line."""
        return " ".join(part for part in (self.line.text, *self.parts) if part).strip()


def entries(lines: Sequence[Line]) -> list[ListItem]:
    """Every item of every list, in order; one that is nested is an entry too, and a note of those around it."""
    found: list[ListItem] = []
    around: list[ListItem] = []
    titles: list[tuple[int, str]] = []
    joined = False
    for line in lines[:MAX_LINES]:
        if line.kind == "heading":
            while titles and titles[-1][0] >= line.indent:
                titles.pop()
            titles.append((line.indent, line.text))
            around, joined = [], False
        elif line.kind == "item":
            while around and around[-1].line.indent >= line.indent:
                around.pop()
            for above in around[-3:]:
                above.notes.append(line)
            around.append(ListItem(line, tuple(title for _, title in titles)))
            found.append(around[-1])
            joined = True
        elif line.kind == "text" and around and (joined or line.indent > around[0].line.indent):
            around[-1].parts.append(line.text)
        else:
            joined = False
            around = around if line.kind in ("blank", "fence", "code") else []
    return found


def prose(lines: Iterable[Line], limit: int) -> str:
    """The text as written, without comments, code and runs of blank lines, at most `limit` characters."""
    return "\n".join(_spaced(lines)).strip()[:limit].rstrip()


def _spaced(lines: Iterable[Line]) -> Iterator[str]:
    blank = False
    for line in lines:
        if line.kind in ("code", "fence"):
            continue
        if line.kind == "blank":
            blank = True
            continue
        if blank:
            yield ""
        blank = False
        yield line.raw.rstrip()
