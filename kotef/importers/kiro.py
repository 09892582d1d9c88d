"""Importer of Kiro spec folders."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from kotef.importers.document_names import checks_in, readable_name
from kotef.importers.markdown_lists import entries, prose
from kotef.importers.spec import ForeignSpec
from kotef.importers.tasks import read_tasks
from kotef.sdd.markdown import Document, Line, MarkdownSection, read_markdown, sections, words
from kotef.sdd.ticket import DoneLine

MARKERS: Final = ("requirements.md", "bugfix.md", "tasks.md")
"""Files of which one makes a folder a spec of this kind."""

READ: Final = ("requirements.md", "bugfix.md", "design.md", "tasks.md")
"""Files that are read; others beside them are named to the model."""

MAX_INTRODUCTION: Final = 3_000
MAX_DESIGN: Final = 4_000
MAX_RISKS: Final = 1_500

_GENERIC: Final = frozenset(
    {"requirements document", "requirements", "bugfix requirements document", "bugfix", "implementation plan", "design"}
    | {"design document", "tasks", "introduction", "overview", "bug report"}
)
_PREFIX: Final = re.compile(
    r"(?:requirements?(?: document)?|feature|bugfix|spec)\s*[:–—-]\s+(?P<title>.+)$", re.IGNORECASE
)
_REQUIREMENT: Final = re.compile(r"(?:requirement\s+)?(?P<number>\d+)\b", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"\s*(?:[-*+]\s+)?\*{0,2}(?P<number>\d+(?:\.\d+)?)[.)]?\*{0,2}(?:\s+|$)")
_NAMES: Final = {
    "introduction": "introduction",
    "overview": "introduction",
    "summary": "introduction",
    "bug description": "introduction",
    "current behavior": "current",
    "expected behavior": "expected",
    "out of scope": "non_goals",
    "non goals": "non_goals",
}
_DESIGN: Final = {"overview": "overview", "architecture": "architecture", "error handling": "errors"}


def read_kiro(folder: str, files: Mapping[str, str], beside: tuple[str, ...] = ()) -> ForeignSpec:
    """Read a spec from its files (name → text). Pure and total; what is missing is empty.

    `folder` is relative to the workspace root; `beside` are the other files in it.
    """
    document = "requirements.md" if "requirements.md" in files else "bugfix.md"
    requirements, design, tasks = (read_markdown(files.get(name, "")) for name in (document, "design.md", "tasks.md"))
    found, drawn = sections(requirements.lines, _NAMES), sections(design.lines, _DESIGN)
    commands, ignored = checks_in({f"{folder}/{name}": text for name, text in files.items()})
    name = folder.rpartition("/")[2]
    return ForeignSpec(
        kind="kiro",
        path=folder,
        id=name,
        title=_title(requirements) or readable_name(name),
        objective=_objective(found),
        reading=_reading(folder, files, beside, drawn),
        tasks=read_tasks(tasks),
        tasks_path=f"{folder}/tasks.md" if "tasks.md" in files else "",
        criteria=tuple(_criteria(requirements, f"{folder}/{document}")),
        checks=commands,
        risks=prose(drawn["errors"].lines, MAX_RISKS) if "errors" in drawn else "",
        non_goals=prose(found["non_goals"].lines, MAX_RISKS) if "non_goals" in found else "",
        files=tuple(f"{folder}/{name}" for name in READ if name in files),
        problems=ignored,
    )


def _title(requirements: Document) -> str:
    """The first heading, unless it only says what sort of document it is."""
    heading = next((line.text for line in requirements.lines if line.kind == "heading"), "")
    if found := _PREFIX.match(heading):
        return found["title"].strip()
    return "" if words(heading) in _GENERIC else heading


def _objective(found: Mapping[str, MarkdownSection]) -> str:
    parts = [
        prose(found[name].lines, MAX_INTRODUCTION) for name in ("introduction", "current", "expected") if name in found
    ]
    return "\n\n".join(part for part in parts if part)


def _criteria(requirements: Document, path: str) -> Iterator[DoneLine]:
    """The acceptance criteria, `2.1` being the first of requirement 2."""
    number, within, ordinal = "", False, 0
    texts = {entry.line.number: entry.text for entry in entries(requirements.lines)}
    for line in requirements.lines:
        if line.kind == "heading":
            title = words(line.text)
            within = "acceptance criteria" in title
            if not within and (match := _REQUIREMENT.match(line.text)):
                number, ordinal = match["number"], 0
            continue
        if line.kind == "text" and words(line.text.strip("*: ")) == "acceptance criteria":
            within = True
            continue
        match = _NUMBERED.match(line.raw)
        if not within or not (line.kind == "item" or (match and "." in match["number"] and line.kind == "text")):
            continue
        if line.kind == "item" and line.indent >= 4:  # noqa: PLR2004  nested: it is part of the one above
            continue
        ordinal += 1
        label, text = _labelled(line, match, texts.get(line.number, line.text), number, ordinal)
        if text:
            yield DoneLine(text=text, checked=False, line=line.number, label=label, path=path, box=False)


def _labelled(line: Line, told: re.Match[str] | None, text: str, number: str, ordinal: int) -> tuple[str, str]:
    """The name of a criterion and its words; a number with a point in it is the whole name."""
    if told and "." in told["number"]:
        return told["number"], line.raw[told.end() :].strip()
    within = told["number"] if told else str(ordinal)
    return (f"{number}.{within}" if number else within), text


def _reading(
    folder: str, files: Mapping[str, str], beside: tuple[str, ...], drawn: Mapping[str, MarkdownSection]
) -> str:
    """Which documents there are, then the design in brief."""
    names = [f"{folder}/{name}" for name in (*(name for name in READ if name in files), *beside)]
    head = f"Read what concerns you before you edit: {', '.join(names)}" if names else ""
    parts = [prose(drawn[name].lines, MAX_DESIGN) for name in ("overview", "architecture") if name in drawn]
    return "\n\n".join(part for part in (head, *parts) if part)
