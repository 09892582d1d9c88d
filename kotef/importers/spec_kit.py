"""Importer of feature folders of GitHub's spec-kit."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from kotef.importers.document_names import checks_in, readable_name
from kotef.importers.markdown_lists import entries, prose
from kotef.importers.spec import ForeignSpec
from kotef.importers.tasks import read_tasks
from kotef.sdd.files import Problem
from kotef.sdd.markdown import PREAMBLE, Document, MarkdownSection, read_markdown, sections
from kotef.sdd.ticket import DoneLine

MARKERS: Final = ("spec.md", "tasks.md")
"""Files of which one makes a folder a spec of this kind."""

READ: Final = ("spec.md", "plan.md", "tasks.md")
"""Files that are read; others beside them are named to the model."""

NEEDS_CLARIFICATION: Final = "needs clarification:"
"""How a problem begins that is a question its author left open."""

MAX_OBJECTIVE: Final = 4_000
MAX_PLAN: Final = 4_000
MAX_RISKS: Final = 1_500
MAX_CLARIFY: Final = 120

_TITLE: Final = re.compile(
    r"(?:feature specification|implementation plan|tasks|feature|spec)\s*:\s*(?P<title>.+)$", re.IGNORECASE
)
_LABEL: Final = re.compile(
    r"\*{0,2}(?P<label>(?:FR|NFR|SC|AC|REQ)-?\d+[a-z]?)\*{0,2}\s*:?\*{0,2}\s*(?P<text>.+)$", re.IGNORECASE
)
_GIVEN: Final = re.compile(r"[*_]{0,2}(?:given|when)\b", re.IGNORECASE)
_STORY: Final = re.compile(r"user story (?P<number>\d+)\s*[-–—:]?\s*(?P<title>.*)$", re.IGNORECASE)
_UNCLEAR: Final = re.compile(r"\[NEEDS CLARIFICATION:?\s*(?P<what>[^\]]*)\]?", re.IGNORECASE)
_NAMES: Final = {
    "user scenarios testing": "scenarios",
    "user scenarios": "scenarios",
    "edge cases": "risks",
    "out of scope": "non_goals",
    "non goals": "non_goals",
    "summary": "summary",
    "technical context": "technical",
    "project structure": "structure",
}


class _Story(NamedTuple):
    name: str
    about: str


def read_spec_kit(folder: str, files: Mapping[str, str], beside: tuple[str, ...] = ()) -> ForeignSpec:
    """Read a feature from its files (name → text). Pure and total; what is missing is empty.

    `folder` is relative to the workspace root; `beside` are the other files in it.
    """
    spec, plan, tasks = (read_markdown(files.get(name, "")) for name in READ)
    found = sections(spec.lines, _NAMES)
    planned = sections(plan.lines, _NAMES)
    stories = tuple(_stories(spec))
    commands, ignored = checks_in({f"{folder}/{name}": text for name, text in files.items()})
    unclear = [
        Problem(
            path=f"{folder}/spec.md",
            line=line.number,
            text=f"{NEEDS_CLARIFICATION} {match['what'].strip()[:MAX_CLARIFY]}",
        )
        for line in spec.lines
        if line.kind not in ("code", "blank") and (match := _UNCLEAR.search(line.raw))
    ]
    name = folder.rpartition("/")[2]
    return ForeignSpec(
        kind="spec-kit",
        path=folder,
        id=name,
        title=_title(spec, tasks) or readable_name(name),
        objective=prose(found.get("scenarios", found[PREAMBLE]).lines, MAX_OBJECTIVE),
        reading=_reading(folder, files, beside, planned),
        tasks=read_tasks(tasks),
        tasks_path=f"{folder}/tasks.md" if "tasks.md" in files else "",
        criteria=tuple(_criteria(spec, f"{folder}/spec.md")),
        stories=tuple((story.name, story.about) for story in stories),
        checks=commands,
        risks=prose(found["risks"].lines, MAX_RISKS) if "risks" in found else "",
        non_goals=prose(found["non_goals"].lines, MAX_RISKS) if "non_goals" in found else "",
        files=tuple(f"{folder}/{name}" for name in READ if name in files),
        problems=(*unclear, *ignored),
    )


def _title(spec: Document, tasks: Document) -> str:
    for document in (spec, tasks):
        heading = next((line for line in document.lines if line.kind == "heading"), None)
        if heading and (found := _TITLE.match(heading.text)):
            return found["title"].strip()
        if heading and document is spec:
            return heading.text
    return ""


def _stories(spec: Document) -> Iterator[_Story]:
    """Each user story with what is under its heading, up to the next heading of its level."""
    lines = spec.lines
    for at, line in enumerate(lines):
        if line.kind == "heading" and (match := _STORY.match(line.text)):
            ends = (
                index
                for index, below in enumerate(lines[at + 1 :], at + 1)
                if below.kind == "heading" and below.indent <= line.indent
            )
            about = prose(lines[at + 1 : next(ends, len(lines))], MAX_RISKS)
            yield _Story(f"US{int(match['number'])}", f"{match['title'].strip()}\n{about}".strip())


def _criteria(spec: Document, path: str) -> Iterator[DoneLine]:
    """Requirements and success criteria by their label; acceptance scenarios as `US1.2`."""
    counted: dict[str, int] = {}
    for entry in entries(spec.lines):
        text = entry.text
        if match := _LABEL.match(text):
            label, criterion = match["label"].upper(), match["text"].strip()
        elif _GIVEN.match(text):
            story = next((f"US{int(found[1])}" for title in entry.headings if (found := _STORY.match(title))), "US")
            counted[story] = counted.get(story, 0) + 1
            label, criterion = f"{story}.{counted[story]}", text
        else:
            continue
        yield DoneLine(text=criterion, checked=False, line=entry.line.number, label=label, path=path, box=False)


def _reading(
    folder: str, files: Mapping[str, str], beside: tuple[str, ...], planned: Mapping[str, MarkdownSection]
) -> str:
    """Which documents there are, then the plan in brief."""
    names = [f"{folder}/{name}" for name in (*(name for name in READ if name in files), *beside)]
    head = f"Read what concerns you before you edit: {', '.join(names)}" if names else ""
    parts = [prose(planned[name].lines, MAX_PLAN) for name in ("summary", "technical", "structure") if name in planned]
    return "\n\n".join(part for part in (head, *parts) if part)
