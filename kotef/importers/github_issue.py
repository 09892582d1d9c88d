"""Importer of an issue, as Markdown or as `gh issue view` prints it."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from kotef.errors import UsageError
from kotef.importers.document_names import CHECK_HEADINGS
from kotef.importers.markdown_lists import prose
from kotef.sdd.markdown import Line, MarkdownSection, fences, read_markdown, sections, words
from kotef.sdd.references import fenced_commands
from kotef.sdd.ticket import MAX_ITEMS, MAX_TITLE, NAMES, DoneLine, Ticket, allowed_edits, items_with_boxes

MAX_ISSUE: Final = 256 * 1024
"""Bytes of an issue; a longer one is refused, not cut."""

MAX_OBJECTIVE: Final = 6_000

_HINT: Final = "pipe in `gh issue view NUMBER --json number,title,body`, or its Markdown"
_FIELD: Final = re.compile(r"(?P<name>[a-z][a-z -]{1,20}):[ \t]*(?P<value>.*)$", re.IGNORECASE)
_TITLE: Final = re.compile(r"\s*(?:\*\*)?title(?:\*\*)?:(?:\*\*)?[ \t]*(?P<title>\S.*)$", re.IGNORECASE)
_CONTROL: Final = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
"""What a reader does not see, and a model does; and halves of characters, which cannot be written."""
_SECTIONS: Final[dict[str, str]] = {**NAMES, **CHECK_HEADINGS}
_QUESTION: Final = 3
_REST: Final = ("done", "tests", "non_goals", "risks")


class Issue(NamedTuple):
    """A ticket made of an issue, and what of it takes effect only where the person says so."""

    ticket: Ticket
    """Without commands, and opening no protected file."""
    commands: tuple[str, ...]
    """What its blocks under Tests, Checks or How to verify name."""
    allow_test_edits: tuple[str, ...]


class _Raw(NamedTuple):
    title: str
    body: str
    number: str = ""
    skipped: int = 0
    """Lines in front of the body."""


def read_issue(text: str, source: str) -> Issue:
    """Read an issue. `source` is what it was read from, as shown to people.

    Its title is that of the JSON, of a `title:` line, its first heading or its first line. What only a machine reads
    (comments, invisible characters) is dropped, because someone else wrote it.

    Raises `UsageError` when it is empty, or JSON that is not an issue.
    """
    shown = _CONTROL.sub("", text)
    if not shown.strip():
        raise UsageError(f"{source}: is empty", hint=_HINT)
    raw = _json(shown, source) or _fields(shown) or _markdown(shown)
    lines = read_markdown(raw.body).lines
    found = sections(lines, _SECTIONS, nested=("done",))
    under = {name: found.get(name, MarkdownSection(1, ())) for name in _REST}
    commands, _ = fenced_commands(fences(under["tests"].lines))
    allowed, _ = allowed_edits(lines)
    title = " ".join(raw.title.split())[:MAX_TITLE]
    done = _done(lines, under["done"].lines, skipped=raw.skipped)
    ident = f"issue-{raw.number}" if raw.number else _slug(title) or "issue"
    ticket = Ticket(
        kind="issue",
        id=ident,
        slug=_slug(title) or ident,
        title=title or ident,
        path=source,
        objective=prose(_without(lines, done, raw.skipped, under["tests"].lines), MAX_OBJECTIVE),
        done=done[:MAX_ITEMS],
        risks=prose(under["risks"].lines, MAX_OBJECTIVE),
        non_goals=prose(under["non_goals"].lines, MAX_OBJECTIVE),
    )
    return Issue(ticket, commands, allowed)


def with_commands(issue: Issue) -> Ticket:
    """The ticket with what it takes a person's trust for."""
    return issue.ticket.model_copy(update={"tests": issue.commands, "allow_test_edits": issue.allow_test_edits})


def _json(text: str, source: str) -> _Raw | None:
    """What `gh issue view --json` prints; of other fields nothing is read. None if it is not a JSON object."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{source}: looks like JSON, but is not valid", hint=_HINT) from error
    fields: Mapping[str, Any] = value if isinstance(value, dict) else {}
    title, body, number = (fields.get(name) for name in ("title", "body", "number"))
    if not isinstance(title, str) or not isinstance(body, str | None) or not (title.strip() or (body or "").strip()):
        raise UsageError(f"{source}: this JSON has no `title` and `body`", hint=_HINT)
    named = str(number) if isinstance(number, int) and not isinstance(number, bool) else ""
    return _Raw(_CONTROL.sub("", title), _CONTROL.sub("", body or ""), named)


def _fields(text: str) -> _Raw | None:
    """What `gh issue view` prints into a pipe: `name:<tab>value` lines, `--`, the body. None if it is not that."""
    lines = text.splitlines()
    fields: dict[str, str] = {}
    for at, line in enumerate(lines[:40]):
        if line.rstrip() in ("--", "---") and "title" in fields:
            number = fields.get("number", "").strip()
            return _Raw(fields["title"], "\n".join(lines[at + 1 :]), number if number.isdecimal() else "", at + 1)
        field = _FIELD.match(line)
        if field is None:
            if at == 0 and line.rstrip() == "---":
                continue
            return None
        fields[field["name"].lower()] = field["value"].strip().strip("\"'")
    return None


def _markdown(text: str) -> _Raw:
    """The title is a `title:` line above anything else, the first heading that is not a section, or the first line."""
    lines = text.splitlines()
    first = next(at for at, line in enumerate(lines) if line.strip())
    if match := _TITLE.match(lines[first]):
        return _Raw(match["title"].strip("* "), "\n".join(lines[first + 1 :]), skipped=first + 1)
    document = read_markdown(text)
    headings = [line for line in document.lines if line.kind == "heading" and _is_title(line)]
    if headings and headings[0].number <= first + 1:
        below = headings[0].number
        return _Raw(headings[0].text, "\n".join(lines[below:]), skipped=below)
    heading = next((line.text for line in headings if line.indent == 1), "")
    first_text = next((line.text for line in document.lines if line.kind in ("text", "item") and line.text), "")
    return _Raw(heading or first_text or lines[first].strip("# \t"), text)


def _is_title(heading: Line) -> bool:
    """Whether a heading may be a title: not that of a section, nor one of an issue form, whose questions are `###`."""
    return heading.indent < _QUESTION and words(heading.text) not in _SECTIONS


def _done(lines: Sequence[Line], listed: Sequence[Line], *, skipped: int) -> tuple[DoneLine, ...]:
    """Every item with a box, wherever it stands; without one the items under Acceptance Criteria or the like."""
    found, _ = items_with_boxes(lines, unboxed=False)
    found = found or items_with_boxes(listed, unboxed=True)[0]
    return tuple(
        DoneLine(
            text="".join(parts).strip(),
            checked=bool(line.checked),
            line=line.number + skipped,
            box=line.checked is not None,
        )
        for line, parts in found
        if "".join(parts).strip()
    )


def _without(lines: Sequence[Line], done: Sequence[DoneLine], skipped: int, tests: Sequence[Line]) -> list[Line]:
    """The body without the lines that are in its Definition of Done, and without its block of commands."""
    gone = {line.line - skipped for line in done} | {line.number for line in tests}
    return [line for line in lines if line.number not in gone]


def _slug(title: str) -> str:
    return "-".join(re.findall(r"[^\W_]+", title.casefold()))[:60].strip("-")
