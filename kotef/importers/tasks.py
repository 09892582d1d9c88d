"""Tasks in the `tasks.md` of another tool, and how to tick one."""

import re
from collections.abc import Collection, Sequence
from itertools import takewhile
from typing import Final

from pydantic import BaseModel, ConfigDict

from kotef.importers.markdown_lists import ListItem, entries, prose
from kotef.sdd.markdown import Document, Line

MAX_TASKS: Final = 500
"""Tasks read of one file, the first."""

MAX_NOTE: Final = 400
MAX_NOTES: Final = 20
MAX_ABOUT: Final = 2_000

_BOX: Final = re.compile(
    r"(?P<head>\s*(?:[-*+•]|\d{1,9}[.)])\s+\[)(?P<mark>[ \t]*[xX✓✔~-]?[ \t]*)\](?P<optional>\*)?(?=\s|$)"
)
_EOL: Final = re.compile(r"(\r\n|\n|\r)")
_NAME: Final = re.compile(r"\*{0,2}(?P<name>T\d+[a-z]?|\d+(?:\.\d+)*)\*{0,2}[.:)]?\*{0,2}(?=\s|$)\s*", re.IGNORECASE)
_TAG: Final = re.compile(r"\[(?P<tag>[^\[\]]{1,20})\]\s*")
_STORY: Final = re.compile(r"US-?(\d+)", re.IGNORECASE)
_DEPENDS: Final = re.compile(r"\bdepends? on:?([^).;_]*)", re.IGNORECASE)
_ASIDE: Final = re.compile(r"(?<!\s)\s*\(depends? on[^()]{0,200}\)", re.IGNORECASE)
_REQUIRES: Final = re.compile(r"(?:^|[\s_*(])requirements?:?\s+(?P<names>\d[\w.,\s-]*?)[_*)\s.]*$", re.IGNORECASE)
_REQUIREMENT: Final = re.compile(r"\d+(?:\.\d+)*")
_NAMES: Final = re.compile(r"\b(?:T\d+[a-z]?|\d+(?:\.\d+)*)\b", re.IGNORECASE)


class ImportedTask(BaseModel):
    """One line with a box in a `tasks.md`, as its author wrote it."""

    model_config = ConfigDict(frozen=True)

    name: str
    """`T003` or `2.1`, without leading or closing signs; empty if it has none."""
    text: str
    """Without name and marks; never empty."""
    checked: bool
    line: int
    story: str = ""
    """`US1`, where it is marked so."""
    optional: bool = False
    """Marked as one that may be left out."""
    depends: tuple[str, ...] = ()
    """Names of other tasks."""
    requires: tuple[str, ...] = ()
    """Names of the requirements it is for."""
    notes: tuple[str, ...] = ()
    """What is nested in it without a box."""
    about: str = ""
    """What is above the first task of its part."""


def read_tasks(document: Document) -> tuple[ImportedTask, ...]:
    """Every task of a file, in order. Total: a line that is not a task is passed over."""
    about = _abouts(document.lines)
    found = [_task(entry, box, about.get(entry.line.number, "")) for entry, box in _boxed(document.lines)]
    return tuple(found[:MAX_TASKS])


def tick_tasks(text: str, numbers: Collection[int]) -> str:
    """This text with the open boxes on the lines of these numbers ticked, and not a character changed otherwise."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    parts = _EOL.split(text.removeprefix(mark))
    for number in numbers:
        box = _BOX.match(parts[2 * number - 2]) if 0 < number <= (len(parts) + 1) // 2 else None
        if box and not _is_checked(box):
            line = parts[2 * number - 2]
            parts[2 * number - 2] = f"{line[: box.start('mark')]}x{line[box.end('mark') :]}"
    return mark + "".join(parts)


def depth_of(name: str) -> int:
    """How deep a task is nested by its number: `2` is outermost, `2.1` below it."""
    return name.count(".")


def _boxed(lines: Sequence[Line]) -> list[tuple[ListItem, re.Match[str]]]:
    return [(entry, box) for entry in entries(lines) if (box := _BOX.match(entry.line.raw))]


def _is_checked(box: re.Match[str]) -> bool:
    return box["mark"].strip() not in ("", "-", "~")


def _task(entry: ListItem, box: re.Match[str], about: str) -> ImportedTask:
    text = " ".join([entry.line.raw[box.end() :].strip(), *entry.parts]).strip()
    named = _NAME.match(text)
    rest = text[named.end() :] if named else text
    story = ""
    while tag := _TAG.match(rest):
        if match := _STORY.fullmatch(tag["tag"]):
            story = f"US{int(match[1])}"
        elif tag["tag"].upper() != "P":
            break
        rest = rest[tag.end() :]
    own = takewhile(lambda line: not _BOX.match(line.raw), entry.notes)  # what follows a nested box is that one's
    notes = [line.text[:MAX_NOTE] for line in own]
    required = [match["names"] for note in notes if (match := _REQUIRES.search(note))]
    requires = tuple(dict.fromkeys(name for names in required for name in _REQUIREMENT.findall(names)))
    depends = tuple(
        dict.fromkeys(
            name for part in (rest, *notes) for match in _DEPENDS.finditer(part) for name in _NAMES.findall(match[1])
        )
    )
    return ImportedTask(
        name=named["name"] if named else "",
        text=_ASIDE.sub("", rest).strip() or text or "(no words)",
        checked=_is_checked(box),
        line=entry.line.number,
        story=story,
        optional=bool(box["optional"]),
        depends=depends,
        requires=requires,
        notes=tuple(note for note in notes if not _REQUIRES.match(note))[:MAX_NOTES],
        about=about,
    )


def _abouts(lines: Sequence[Line]) -> dict[int, str]:
    """For each item, the text between the second-level heading above it and the first item below that."""
    found: dict[int, str] = {}
    head: list[Line] = []
    about: str | None = ""
    for line in lines:
        if line.kind == "heading" and line.indent <= 2:  # noqa: PLR2004  a part of the file
            head, about = [line], None
        elif line.kind == "item":
            if about is None:
                about = prose([line for line in head if line.kind != "heading"], MAX_ABOUT)
            found[line.number] = about
        elif about is None:
            head.append(line)
    return found
