"""Changes to the text of an issue log when a run ends or a person edits an entry. Pure."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from kotef.sdd.duplicate_issues import repeated, resolved, seen_again, task_of, without
from kotef.sdd.hand_edits import keep_hand_edits
from kotef.sdd.issue import IssueEntry
from kotef.sdd.issue_markdown import Span, line_hash, read_span, render, spans, written_hashes

Change = Literal["added", "updated", "unchanged", "seen_again", "reopened"]

HEADER: Final = """\
# Issues

Runs of kotef that did not succeed, oldest first. A run that ends like an earlier one adds a line to that entry instead
of a new one. An entry is rewritten when its run is resumed, but keeps what you write into it; the text between the
entries is yours. `kotef issues` lists them.
"""


class Standing(NamedTuple):
    """A readable entry and its place."""

    span: Span
    entry: IssueEntry


def standing(text: str) -> Iterator[Standing]:
    """The readable entries of a log, in order; the first one for each run."""
    known = set()
    for span in spans(text):
        entry, _ = read_span(span)
        if entry is not None and entry.run_id not in known:
            known.add(entry.run_id)
            yield Standing(span, entry)


def recorded(text: str | None, entry: IssueEntry) -> tuple[str, Change]:
    """The log with the ending of one run in it, exactly once; None is a log that does not exist yet.

    A run that has an entry gets that one rewritten, and the lines of later runs in it stay. A run that is a line of
    another entry keeps that line if it ended the same again, and leaves it if not. Every other run is a line of
    the entry it repeats (`repeats.identity`), or a new entry at the end.
    """
    text = HEADER if text is None else text
    known = list(standing(text))
    damaged = [span for span in spans(text) if span.run_id == entry.run_id and span.stored]
    for span, old in known:
        if old.run_id == entry.run_id:
            new = entry.model_copy(update={"seen_again": old.seen_again, "seen_before": old.seen_before})
            after = text if new == old else _rewrite(text, {span: (old, new)})
            return after, "unchanged" if after == text else "updated"
    if damaged:
        return _rewrite(text, {damaged[0]: (None, entry)}), "updated"
    changed: dict[Span, tuple[IssueEntry | None, IssueEntry]] = {}
    same = repeated(entry, [old for _, old in known])
    result: Change = "added"
    for span, old in known:
        if same is not None and old.run_id == same.run_id:
            new = seen_again(old, entry.run_id, entry.date)
            result = "updated" if entry.run_id in old.runs else "seen_again"
            if old.state == "resolved":
                result = "reopened"
        else:
            new = without(old, entry.run_id)
        if new != old:
            changed[span] = (old, new)
    if same is not None:
        return (_rewrite(text, changed), result) if changed else (text, "unchanged")
    return _append(_rewrite(text, changed), entry), "added"


def settled(text: str, entry: IssueEntry) -> tuple[str, tuple[str, ...]]:
    """The log after a verified run: what it settles is resolved. Also the ids of the entries that are so by it.

    Those are its own entry, the entry it is a line of, and every open one of the same task. `entry` is what the run
    would have written about itself.
    """
    changed: dict[Span, tuple[IssueEntry | None, IssueEntry]] = {}
    done = []
    for span, old in standing(text):
        own = old.run_id == entry.run_id
        if not own and (old.state == "resolved" or not (entry.run_id in old.runs or task_of(old) == task_of(entry))):
            continue
        kept = entry.model_copy(update={"seen_again": old.seen_again, "seen_before": old.seen_before}) if own else old
        new = resolved(kept, entry.run_id, entry.date)
        done.append(old.run_id)
        if new != old:
            changed[span] = (old, new)
    return _rewrite(text, changed), tuple(done)


def marked(text: str, run_id: str, change: Callable[[IssueEntry], IssueEntry]) -> str:
    """The log with one entry changed; every other byte as it is."""
    return _rewrite(text, {span: (old, change(old)) for span, old in standing(text) if old.run_id == run_id})


def _rewrite(text: str, changed: dict[Span, tuple[IssueEntry | None, IssueEntry]]) -> str:
    """The text with these entries replaced, last to first."""
    for span, (old, new) in sorted(changed.items(), key=lambda pair: -pair[0].start):
        text = text[: span.start] + _entry_text(text[span.start : span.end], span, old, new) + text[span.end :]
    return text


@dataclass(frozen=True, slots=True)
class HashedLine:
    """A line that is equal to any line with its hash, because an entry keeps only hashes of kotef's lines."""

    hash: str
    text: str = field(default="", compare=False)


def _entry_text(found: str, span: Span, old: IssueEntry | None, new: IssueEntry) -> str:
    """The new entry, without a last newline, with the line endings and the hand edits of the one found.

    Of an entry whose values could not be read (`old` is None) no one can know what was written by hand.
    """
    ending = "\r" if "\r\n" in found else ""
    first, *inner, last = render(new).removesuffix("\n").split("\n")
    lines = [HashedLine(line_hash(line), line + ending) for line in inner]
    if old is not None:
        written = written_hashes(span)
        if written is None:
            written = [line_hash(line) for line in render(old).removesuffix("\n").split("\n")[1:-1]]
        mine = [HashedLine(line_hash(line), line) for line in found.split("\n")[1:-1]]
        lines = keep_hand_edits([HashedLine(each) for each in written], mine, lines)
    return "\n".join([first + ending, *(line.text for line in lines), last])


def _append(text: str, entry: IssueEntry) -> str:
    """The text, the end of its last line, a blank one, and the entry."""
    newline = "\r\n" if re.match(r"[^\n]*\r\n", text) else "\n"
    gap = ""
    if text:
        gap = newline if text.endswith("\n") else newline * 2
    return text + gap + render(entry).replace("\n", newline)
