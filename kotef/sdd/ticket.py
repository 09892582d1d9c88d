"""One ticket and its parser."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from kotef.sdd.files import Problem
from kotef.sdd.markdown import (
    PREAMBLE,
    UNCLOSED,
    Document,
    Line,
    MarkdownSection,
    fences,
    items,
    read_markdown,
    sections,
    words,
)
from kotef.sdd.references import Complaint, fenced_commands, is_inside, named_paths, paths_in

MAX_TEXT: Final = 8_000
"""Characters kept from the beginning of each free text of a ticket."""

MAX_TITLE: Final = 200
"""Characters kept of a title."""

MAX_ITEMS: Final = 100
"""First items kept of each list of a ticket; more are reported as a problem."""


Kind = Literal["ticket", "spec-kit", "kiro", "issue"]
"""The format of a ticket: kotef's own, or that of another tool."""


class DoneLine(BaseModel):
    """One line of the Definition of Done."""

    model_config = ConfigDict(frozen=True)

    text: str
    """The text on one line, including nested items without a box."""
    checked: bool
    line: int
    """In the ticket's file, counted from 1."""
    level: int = 0
    """How deep the box is nested; 0 is outermost."""
    label: str = ""
    """The author's name for it (`T003`, `2.1`, `FR-001`); empty if it has none."""
    path: str = ""
    """Its file, if not the ticket's own."""
    box: bool = True
    """Whether it has a box to tick."""


class Ticket(BaseModel):
    """One ticket as its author wrote it.

    Source: a person; every text is material, not an instruction to kotef. What was missing or could not be read is
    in `problems`, and the field has its empty value.
    """

    model_config = ConfigDict(frozen=True)

    kind: Kind = "ticket"
    id: str
    """The number in front of the file name, as written there (`07`); the file name without `.md` if it has none."""
    slug: str
    """The rest of the file name, without number and `.md`; never empty."""
    title: str
    path: str
    """Path of the file or, for another tool's spec, of its folder, relative to the workspace root."""
    files: tuple[str, ...] = ()
    """The files that another tool's spec was read from."""
    spec_version: str = ""
    context: str = ""
    dependencies: tuple[str, ...] = ()
    """Ids or slugs of other tickets."""
    objective: str = ""
    """Everything under the objective that is not a line of the Definition of Done."""
    done: tuple[DoneLine, ...] = ()
    sketch: str = ""
    steps: tuple[str, ...] = ()
    affected: tuple[str, ...] = ()
    """Files the author expects to change; words, not checked against the disk."""
    tests: tuple[str, ...] = ()
    """Command lines, to be run from the workspace root."""
    risks: str = ""
    non_goals: str = ""
    allow_test_edits: tuple[str, ...] = ()
    """Protected paths or globs this ticket allows to change, relative to the workspace root."""
    problems: tuple[Problem, ...] = ()


NO_TITLE: Final = "has no title; begin with `# Ticket: NN Title`"
NO_OBJECTIVE: Final = "has no objective; add `## Objective & DoD`"
NO_DONE: Final = "has no Definition of Done; add a list of `- [ ]` lines"
NO_COMMAND: Final = "names no command; put them into a fenced block"
NO_TESTS: Final = "has no `## Tests` block with commands"
NO_BOX: Final = "this line has no box and will not be ticked; write `- [ ]`"
"""Problem text for a line without a box."""

NAMES: Final = {
    phrase: name
    for name, phrases in {
        "spec_version": ("spec version", "specification version"),
        "context": ("context", "background"),
        "dependencies": ("dependencies", "dependency", "depends on", "blocked by"),
        "objective": ("objective", "objectives", "objective dod", "objective definition of done", "goal"),
        "done": (
            "definition of done",
            "dod",
            "definition of done dod",
            "acceptance criteria",
            "acceptance",
            "done when",
        ),
        "sketch": ("implementation sketch", "sketch", "implementation", "implementation notes", "approach"),
        "steps": ("steps", "implementation steps"),
        "affected": (
            "affected files modules",
            "affected files",
            "affected modules",
            "affected files or modules",
            "affected",
        ),
        "tests": ("tests", "test commands", "tests to run", "verification"),
        "risks": ("risks edge cases", "risks", "edge cases", "risk"),
        "non_goals": ("non goals", "non goal", "nongoals", "out of scope"),
    }.items()
    for phrase in phrases
}
HEADER: Final = ("spec_version", "context", "dependencies")
_TITLE: Final = re.compile(r"(?:ticket\b[\s:#-]*)?(?:#?\d+[a-z]?(?![\w.])[\s:.)\]–—-]*)?(?P<title>.*)$", re.IGNORECASE)
_FILE_NAME: Final = re.compile(r"(?P<id>\d+[a-z]?)(?:[-_. ]+(?P<slug>.*))?$", re.DOTALL)
_DEPENDENCY: Final = re.compile(
    r"(?:tickets?\s+)?#?(?:(?P<id>\d+[a-z]?)(?:[-_][^\W\d][\w-]*)?|(?P<slug>[a-z]\w*(?:-\w+)+))(?:\.md)?$",
    re.IGNORECASE,
)
_RANGE: Final = re.compile(r"(\d{1,4})\s*(?:-|–|—|\.\.+|to)\s*(\d{1,4})$")
_NONE: Final = re.compile(r"(?:none|no|nothing|n/?a|-+|–|—)?\.?$", re.IGNORECASE)
_ALLOW: Final = re.compile(r"[*_`]*allow[ _-]test[ _-]edits?[*_`]*\s*:(?:\*\*|__)?\s*(?P<paths>.*)$", re.IGNORECASE)


def open_lines(ticket: Ticket | None) -> tuple[DoneLine, ...]:
    """The lines of the Definition of Done whose box is not ticked; none without a ticket."""
    return tuple(line for line in ticket.done if not line.checked) if ticket else ()


def read_ticket(path: str, text: str) -> Ticket:
    """Read the text of a ticket. Pure and total: whatever is missing or unreadable is named in `problems`.

    `path` is relative to the workspace root; its last part gives id and slug.
    """
    document = read_markdown(text)
    title, lines = title_and_rest(document)
    found = sections(lines, NAMES, header=HEADER, nested=("done",))
    under = {name: found.get(name, MarkdownSection(1, ())) for name in (*NAMES.values(), PREAMBLE)}
    done, objective, unboxed = _done_lines(under["objective"].lines, under["done"].lines)
    dependencies, unread = _dependencies(under["dependencies"].lines)
    tests, ignored = fenced_commands(fences(under["tests"].lines))
    allowed, refused = allowed_edits(lines)
    ident, slug = id_and_slug(path)
    lists: dict[str, tuple[str, ...]] = {
        "dependencies": dependencies,
        "steps": items(under["steps"].lines),
        "affected": named_paths(under["affected"].lines)[0],
        "tests": tests,
        "allow_test_edits": allowed,
    }
    longer = [name for name, kept in {"done": done, **lists}.items() if len(kept) > MAX_ITEMS]
    complaints = [
        *((line, UNCLOSED) for line in document.unclosed),
        *([] if title else [(1, NO_TITLE)]),
        *((1, f"{name}: only the first {MAX_ITEMS} are read; make two tickets of it") for name in longer),
        *_missing(found, has_done=bool(done), has_tests=bool(tests)),
        *(*unread, *ignored, *refused, *unboxed),
    ]
    problems = [Problem(path=path, line=line, text=complaint) for line, complaint in sorted(complaints)]
    return Ticket(
        id=ident,
        slug=slug,
        title=title[:MAX_TITLE] or slug.replace("-", " "),
        path=path,
        spec_version=_clip(under["spec_version"].text),
        context=_clip(under["context"].text),
        objective=_clip(objective or under[PREAMBLE].text),
        done=done[:MAX_ITEMS],
        sketch=_clip(under["sketch"].text),
        risks=_clip(under["risks"].text),
        non_goals=_clip(under["non_goals"].text),
        problems=tuple(problems[:MAX_ITEMS]),
        dependencies=lists["dependencies"][:MAX_ITEMS],
        steps=lists["steps"][:MAX_ITEMS],
        affected=lists["affected"][:MAX_ITEMS],
        tests=lists["tests"][:MAX_ITEMS],
        allow_test_edits=lists["allow_test_edits"][:MAX_ITEMS],
    )


def id_and_slug(path: str) -> tuple[str, str]:
    """Number and name in a ticket's file name; one that is missing is the whole name without `.md`."""
    stem = re.sub(r"\.md$", "", PurePosixPath(path).name, flags=re.IGNORECASE)
    found = _FILE_NAME.match(stem)
    return (found["id"], found["slug"] or stem) if found else (stem, stem)


def title_and_rest(document: Document) -> tuple[str, list[Line]]:
    """The title without number, and the lines without it; empty when the first heading is that of a section."""
    lines = list(document.lines)
    for index, line in enumerate(lines):
        if line.kind == "heading":
            if words(line.text) in NAMES:
                break
            found = _TITLE.match(line.text)
            return found["title"].strip() if found else line.text, lines[:index] + lines[index + 1 :]
    return "", lines


def _done_lines(objective: Iterable[Line], done: Iterable[Line]) -> tuple[tuple[DoneLine, ...], str, list[Complaint]]:
    """The lines of the Definition of Done, the words of the objective, and lines that cannot be ticked."""
    boxes, rest = items_with_boxes(objective, unboxed=False)
    more, remarks = items_with_boxes(done, unboxed=True)
    found: list[DoneLine] = []
    complaints: list[Complaint] = []
    indents: list[int] = []
    every = boxes + more
    for (line, parts), following in zip(every, [*(line for line, _ in every[1:]), None], strict=False):
        while indents and indents[-1] >= line.indent:
            indents.pop()
        level = len(indents)
        indents.append(line.indent)
        if line.checked is None:
            if following and following.indent > line.indent:
                continue  # the name of a group of boxes
            complaints.append((line.number, NO_BOX))
        text, box = "".join(parts).strip(), line.checked is not None
        found.append(DoneLine(text=text, checked=bool(line.checked), line=line.number, level=level, box=box))
    return tuple(found), "\n".join(rest).strip() or "\n".join(remarks).strip(), complaints


def items_with_boxes(lines: Iterable[Line], *, unboxed: bool) -> tuple[list[tuple[Line, list[str]]], list[str]]:
    """Each item with a box (with `unboxed`, each other one too), its text in parts; and all other lines."""
    found: list[tuple[Line, list[str]]] = []
    rest: list[str] = []
    joined = False
    for line in lines:
        if line.kind == "item" and line.checked is not None:
            found.append((line, [line.text]))
            joined = True
        elif found and line.kind in ("item", "text") and _belongs(line, found[-1][0], joined=joined):
            found[-1][1].append(f"; {line.text}" if line.kind == "item" else f" {line.text}")
        elif unboxed and line.kind == "item":
            found.append((line, [line.text]))
            joined = True
        else:
            rest.append(line.raw)
            joined = False
    return found, rest


def _belongs(line: Line, box: Line, *, joined: bool) -> bool:
    return line.indent > box.indent or (joined and line.kind == "text")


def _dependencies(lines: Iterable[Line]) -> tuple[tuple[str, ...], list[Complaint]]:
    """Ids and slugs, and the parts that are neither."""
    found: dict[str, None] = {}
    complaints: list[Complaint] = []
    for line in lines:
        plain = re.sub(r"\[([^\[\]]*)\]\([^()]*\)", r"\1", line.text)
        plain = re.sub(r"\([^()]*\)", " ", " ".join(plain.split()))
        for part in re.split(r"[,;]| (?:and|&) ", plain):
            names = _dependency(part.strip(" `'\"[]*_."))
            found |= dict.fromkeys(names)
            if not names and not _NONE.match(part.strip(" `[]*_")):
                complaints.append(
                    (line.number, f"'{part.strip()[:60]}' names no ticket; write numbers such as `01, 02`")
                )
    return tuple(found), complaints


def _dependency(part: str) -> list[str]:
    if span := _RANGE.match(part):
        first, last = int(span[1]), int(span[2])
        width = len(span[1])
        return [str(number).zfill(width) for number in range(first, min(last, first + 99) + 1)]
    for name in (part, re.split(r":| [—–-] ", part, maxsplit=1)[0].strip().rpartition("/")[2]):
        if found := _DEPENDENCY.match(name):
            return [found["id"] or found["slug"]]
    mentioned: list[str] = re.findall(r"\b(?:tickets? |#)(\d+[a-z]?)\b", part, re.IGNORECASE)
    return mentioned


def states_allowed_edits(line: Line) -> bool:
    """Whether it is a line `allow test edits:`, with paths behind it or not."""
    return line.kind in ("item", "text") and bool(_ALLOW.match(line.text))


def allowed_edits(lines: Sequence[Line]) -> tuple[tuple[str, ...], list[Complaint]]:
    """Paths behind `allow test edits:`, or in the list below such a line; and those that lead out of the workspace."""
    found: dict[str, None] = {}
    refused: list[Complaint] = []
    listing = False
    for line in lines:
        stated = _ALLOW.match(line.text) if line.kind in ("item", "text") else None
        if stated:
            paths = paths_in(stated["paths"])
            listing = not stated["paths"].strip()
        elif listing and line.kind == "item":
            paths = paths_in(line.text)
        else:
            listing = listing and line.kind == "blank"
            continue
        for path in paths:
            if _NONE.match(path):
                continue
            if is_inside(path):
                found[path] = None
            else:
                refused.append((line.number, f"'{path[:60]}' is not a path inside the workspace; it is ignored"))
    return tuple(found), refused


def _missing(found: Mapping[str, MarkdownSection], *, has_done: bool, has_tests: bool) -> list[Complaint]:
    objective, tests = found.get("objective"), found.get("tests")
    complaints: list[Complaint] = []
    if objective is None:
        complaints.append((1, NO_OBJECTIVE))
    if not has_done:
        heading = found.get("done") or objective
        complaints.append((heading.number if heading else 1, NO_DONE))
    if not has_tests:
        complaints.append((tests.number if tests else 1, NO_COMMAND if tests else NO_TESTS))
    return complaints


def _clip(text: str) -> str:
    return text[:MAX_TEXT]
