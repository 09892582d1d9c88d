"""Writer of a drafted specification, whose files read back as intended."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

MAX_LINE: Final = 400
"""Characters of one list item."""
MAX_PROSE: Final = 3_000
MAX_LIST: Final = 30

_UNSEEN: Final = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
_ALLOWS: Final = re.compile(r"allow[ _-]test[ _-]edits?", re.IGNORECASE)
_SHAPES: Final = re.compile(r"\s*(?:#+|`{3,}|~{3,}|=+\s*$|-+\s*$|<!--|-->|>)")
"""Patterns that would turn a line of prose into structure."""
_LABEL: Final = re.compile(r"[*_]{2}")
_MARK: Final = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s+|\[[ xX]?\]\s*")


class TicketDraft(BaseModel):
    """A ticket without a number yet."""

    model_config = ConfigDict(frozen=True)

    title: str
    objective: str = ""
    done: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    """Command lines, validated by code."""
    steps: tuple[str, ...] = ()
    affected: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    non_goals: tuple[str, ...] = ()
    needs: tuple[int, ...] = ()
    """Indexes in the list of drafts, from 0."""


class SpecDraft(BaseModel):
    """A complete specification before it is written."""

    model_config = ConfigDict(frozen=True)

    purpose: str = ""
    project_done: tuple[str, ...] = ()
    stop_rules: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    architecture: str = ""
    parts: tuple[str, ...] = ()
    practices: tuple[str, ...] = ()
    tickets: tuple[TicketDraft, ...] = ()


def words_only(text: str, limit: int = MAX_LINE) -> str:
    """One line that is only words: no bullet, box, heading or permission, and no invisible character."""
    line = " ".join(_UNSEEN.sub("", text).split())
    while found := _MARK.match(line) or re.match(r"[#>`~=-]+\s+|<!--|-->", line):
        line = line[found.end() :].lstrip()
    return _ALLOWS.sub("test edits", line)[:limit].strip()


def prose_only(text: str) -> str:
    """Paragraphs of plain words: anything that would end the section or open a block is removed."""
    lines = []
    for raw in _UNSEEN.sub("", text)[:MAX_PROSE].splitlines():
        line = raw.strip()
        while found := _SHAPES.match(line):
            line = line[found.end() :].strip()
        lines.append(_ALLOWS.sub("test edits", _LABEL.sub("", line)))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(_boxless(lines))).strip()


def _boxless(lines: Iterable[str]) -> list[str]:
    return [
        re.sub(r"^(?:[-*+•]\s+)?\[[ xX]?\]\s*", "- ", line).replace(":", " –", 1) if _is_label(line) else line
        for line in lines
    ]


def _is_label(line: str) -> bool:
    """Whether a reader might take it for the name of a section (`Tests: …`), or for a line to be ticked."""
    return bool(re.match(r"(?:[-*+•]\s+)?\[[ xX]?\]|(?:[-*+•]\s+)?[^\W\d_][^:*`]{0,60}:", line))


def command_only(text: str) -> str:
    """A command on one line; empty if it could not be in a fenced block as it is."""
    line = " ".join(_UNSEEN.sub(" ", text).split())
    if fenced := re.fullmatch(r"(`+)([^`].*?)\1", line):
        line = fenced[2]
    line = line.removeprefix("$ ").strip()
    unfit = "```" in line or "~~~" in line or line.startswith("#") or "<<" in line or len(line) > MAX_LINE
    return "" if unfit else line


def project_page(draft: SpecDraft) -> str:
    """`project.md`."""
    done = _items(draft.project_done, "Every quality gate of `architect.md` passes.")
    stops = _items(draft.stop_rules, "Stop and ask when two requirements contradict each other.")
    risks = _items(draft.risks, "None was named.")
    purpose = prose_only(draft.purpose)
    return f"# Project\n\n{purpose}\n\n## Definition of Done\n\n{done}\n## Stop rules\n\n{stops}\n## Risks\n\n{risks}"


def architect_page(draft: SpecDraft, gates: Sequence[str]) -> str:
    """`architect.md`; the quality gates are what code found here, not what the model thinks."""
    commands = "\n".join(gates) or "# no check was found; write the command that proves this project works"
    parts = _items(draft.parts, "One part.")
    rule = "One command per line, run from the root of the repository; each must exit with 0."
    return (
        f"# Architecture\n\n{prose_only(draft.architecture)}\n\n## Parts\n\n{parts}"
        f"\n## Quality gates\n\n{rule}\n\n```sh\n{commands}\n```\n"
    )


def practices_page(draft: SpecDraft) -> str:
    """`best_practices.md`."""
    return f"# Best practices\n\n{_items(draft.practices, 'Follow the style of the surrounding code.')}"


def ticket_page(draft: TicketDraft, number: str, needs: Sequence[str]) -> str:
    """A ticket in the form that `kotef init` writes; `needs` are the numbers it depends on."""
    boxes = "".join(f"- [ ] {line}\n" for line in _lines(draft.done))
    parts = [
        f"# Ticket: {number} {words_only(draft.title, 120) or 'Untitled'}\n",
        f"Spec version: 1\nContext: project.md, architect.md\nDependencies: {', '.join(needs) or 'none'}\n",
        f"## Objective & DoD\n\n{prose_only(draft.objective)}\n\n**Definition of Done**\n\n{boxes}",
        f"## Steps\n\n{_items(draft.steps)}" if _lines(draft.steps) else "",
        f"## Affected Files / Modules\n\n{_items(_quoted(draft.affected))}" if _quoted(draft.affected) else "",
        "## Tests\n\n```sh\n" + "\n".join(draft.checks) + "\n```\n",
        f"## Risks & Edge Cases\n\n{_items(draft.risks)}" if _lines(draft.risks) else "",
        f"## Non-Goals\n\n{_items(draft.non_goals)}" if _lines(draft.non_goals) else "",
    ]
    return "\n".join(part for part in parts if part)


def file_name(draft: TicketDraft, number: str) -> str:
    """`03-add-an-undo.md`."""
    slug = "-".join(re.findall(r"[a-z0-9]+", words_only(draft.title).casefold()))[:50].strip("-")
    return f"{number}-{slug or 'ticket'}.md"


def _lines(items: Iterable[str]) -> list[str]:
    return [line for item in list(items)[:MAX_LIST] if (line := words_only(item))]


def _items(items: Iterable[str], otherwise: str = "") -> str:
    """A Markdown list; only `otherwise` if there are no items."""
    return "".join(f"- {line}\n" for line in _lines(items) or [otherwise] if line)


def _quoted(paths: Iterable[str]) -> list[str]:
    return [f"`{path}`" for path in paths if re.fullmatch(r"[\w@./+-]{1,120}", path) and ".." not in path][:MAX_LIST]
