"""Failed tool calls that a model should remember after the conversation that held them was cut."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from kotef.classification import classify_text, normalise
from kotef.failures.quoting import plain
from kotef.failures.tool_calls import Category, ToolUse, argument_text

KEPT: Final = 10
MAX_DESCRIPTION: Final = 80
AGAIN: Final = 2
"""Turns within which an equal failure counts as the recorded one."""

HEADING: Final = "## Recent Failures"
ADVICE: Final = "Tool calls of this run that failed. Do not repeat them; take another way."

MAX_BYTES: Final = 1_500
"""Bytes of the shown text, in UTF-8: 500 tokens at three bytes each, fewer than text or code has on average."""

_SUBJECT: Final = 50
"""Characters of a description for the subject of the call."""
_KEPT_NOTE: Final = re.compile(r"\n\[view_truncated_output [^\]\n]*\]\Z")
"""The end of a truncated output, which says nothing about the failure."""
_SUBJECTS: Final = ("path", "command", "pattern", "glob", "url", "name", "names")
"""Arguments that say what a call was about, the most telling first."""


class ToolFailure(BaseModel):
    """One remembered failed tool call."""

    model_config = ConfigDict(frozen=True)

    tool: str
    category: Category
    description: str = Field(max_length=MAX_DESCRIPTION)
    """One printable line; names the path or the command."""
    turn: int = Field(ge=1)
    """Number of the model's answer, counted over the whole run."""


class WrongApproach(NamedTuple):
    """A finding of the repeat detectors in one turn; the only source of that category."""

    turn: int
    """In the visit, as a call's."""
    tool: str
    what: str


Records = tuple[ToolFailure, ...]


def added(records: Records, record: ToolFailure) -> Records:
    """The records with one more, at most `KEPT`.

    When they are full, it takes the place of the oldest of its category and tool; else the oldest of all leaves.
    """
    if len(records) < KEPT:
        return (*records, record)
    alike = ((old.category, old.tool) == (record.category, record.tool) for old in records)
    at = next((number for number, same in enumerate(alike) if same), 0)
    return (*records[:at], *records[at + 1 :], record)


def remember(earlier: Records, calls: Sequence[ToolUse], wrong: Iterable[WrongApproach], *, before: int) -> Records:
    """What a run remembers after these calls of one visit. Pure: the same calls always give the same records.

    `earlier` is what it remembered when the visit began, `before` the turns of all visits before it.
    """
    done = {(call.turn, call.tool, _subject(call)) for call in calls if not call.failed}
    found = [
        ToolFailure(tool=call.tool, category=call.failure, description=describe(call), turn=before + call.turn)
        for call in calls
        if call.failure is not None and (call.turn, call.tool, _subject(call)) not in done  # a retry of the same turn
    ]
    found += [
        ToolFailure(tool=tool, category="wrong_approach", description=plain(what, MAX_DESCRIPTION), turn=before + turn)
        for turn, tool, what in wrong
    ]
    records = earlier
    for record in sorted(found, key=lambda record: record.turn):
        if not any(_again(old, record) for old in records):
            records = added(records, record)
    return records


def _again(old: ToolFailure, new: ToolFailure) -> bool:
    alike = (old.tool, old.category) == (new.tool, new.category) and new.turn - old.turn <= AGAIN
    same = new.category == "wrong_approach" or _essence(old.description) == _essence(new.description)
    return alike and same


@lru_cache(maxsize=64)
def _essence(description: str) -> str:
    return normalise(description)


def describe(call: ToolUse) -> str:
    """A failed call in one line of at most `MAX_DESCRIPTION` characters: its subject, then its result."""
    subject, reason = plain(_subject(call), 1_000), plain(_telling_line(call), 1_000)
    if subject:
        reason = reason.removeprefix(subject).lstrip(":, ")
        if len(subject) > _SUBJECT:  # of a path the end says most, of a command the beginning
            subject = f"…{subject[1 - _SUBJECT :]}" if call.arguments.get("path") else subject[:_SUBJECT]
    return plain(f"{subject}: {reason}" if subject and reason else subject or reason, MAX_DESCRIPTION)


def _subject(call: ToolUse) -> str:
    subject = next((call.arguments[name] for name in _SUBJECTS if call.arguments.get(name)), "")
    return argument_text(subject)


def _telling_line(call: ToolUse) -> str:
    """The most informative line of the result.

    Of a command's output it is what its classification finds, else the last; a tool that could not do its work says why
    in its first line.
    """
    printed = call.mistake is None or "command" in call.arguments
    result = _KEPT_NOTE.sub("", call.result.strip())
    found = _finding(result) if printed else ""
    return found or result.strip().split("\n")[-1 if call.mistake is None else 0]


@lru_cache(maxsize=64)
def _finding(output: str) -> str:
    """The first line of what a text says about a failure; empty when it reports none."""
    return classify_text("", output).summary.partition("\n")[0]


def render(records: Sequence[ToolFailure]) -> str:
    """The records under their heading, oldest first, for the tail of a request; empty without any.

    At most `MAX_BYTES`: where letters take several bytes, the oldest have no room.
    """
    lines: list[str] = []
    left = MAX_BYTES - len(HEADING) - len(ADVICE) - 1
    for record in reversed(records):
        line = f"- [{record.category}] {plain(record.tool, 40)}: {record.description} (turn {record.turn})"
        left -= len(line.encode()) + 1
        if left < 0:
            break
        lines.append(line)
    return "\n".join([HEADING, ADVICE, *reversed(lines)]) if lines else ""
