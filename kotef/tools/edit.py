"""Replacement of text in a file that the model remembers almost exactly."""

import difflib
import re
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from kotef.failures.plural import counted
from kotef.tools.errors import ToolFault
from kotef.tools.files import WriteResult, refuse_placeholder, store
from kotef.tools.guard import FileGuard
from kotef.tools.text import clip_line
from kotef.tools.text_diff import compare
from kotef.tools.workspace_files import locate, read_text

Span = tuple[int, int, str]
"""Start and end in the text with `\\n` line ends, and what to put there."""

_NEAREST_LINES: Final = 30
_CANDIDATES: Final = 20_000
"""Lines compared, at most, when the nearest text is looked for."""
_WIDTH: Final = 200
_NUMBERED: Final = re.compile(r"\s*\d+\t")
"""How view_file begins a line."""


class Replacement(BaseModel):
    """One replacement."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    search: str
    replace: str
    all: bool = False


class MismatchError(Exception):
    """An edit does not fit the text; the message says why."""


def edit_file(root: Path, path: str, edits: Sequence[Replacement], *, guard: FileGuard) -> WriteResult:
    """Apply the edits in order, all or none; the file keeps its encoding, line ends and last line as they are.

    Raises `ToolFault` that shows the nearest text when a search does not match.
    """
    place = locate(root, path, guard=guard)
    old = read_text(root, place)
    if not edits:
        raise ToolFault("schema_reject", "no edit was given; `edits` is a list of search and replace")
    new, notes = old, list[str]()
    for number, edit in enumerate(edits, 1):
        try:
            spans, note = _spans(new.plain, edit)
        except MismatchError as error:
            undone = "; no edit was applied" if len(edits) > 1 else ""
            message = f"{place.name}, edit {number} of {len(edits)}{undone}: {error}"
            raise ToolFault("exec_error", message, category="edit_mismatch") from error
        new = new.replaced(spans)
        notes += [f"edit {number}: {note}"] if note else []
    if new.raw == old.raw:
        raise ToolFault("exec_error", f"{place.name}: nothing to change, the edits undo each other")
    refuse_placeholder(place, old.plain, new.plain)
    store(root, place, old, new.raw)
    change = compare(old.plain, new.plain)
    report = "\n".join([f"edited {place.name}: {change.stat}", *notes, change.hunks])
    return WriteResult(place.name, report, change.hunks)


def _spans(text: str, edit: Replacement) -> tuple[list[Span], str]:
    """Where the edit goes, and a word on how it was found if not exactly. Raises `MismatchError`."""
    search, replace = edit.search.replace("\r\n", "\n"), edit.replace.replace("\r\n", "\n")
    if not search:
        raise MismatchError("search is empty; copy the text to replace, or use write_file for the whole file")
    if search == replace:
        raise MismatchError("nothing to change, replace equals search")
    starts = _starts(text, search, overlapping=not edit.all)
    if len(starts) == 1 or (edit.all and starts):
        return [(start, start + len(search), replace) for start in starts], ""
    if starts:
        raise MismatchError(
            f"search is found {_places(text, starts)}; add lines around it to make it unique, or set all"
        )
    return [tolerant(text, search, replace)], "matched except for white space at the ends of lines; indentation adapted"


def _starts(text: str, search: str, *, overlapping: bool) -> list[int]:
    starts, at = list[int](), text.find(search)
    while at >= 0:
        starts.append(at)
        at = text.find(search, at + (1 if overlapping else len(search)))
    return starts


def _places(text: str, starts: Sequence[int]) -> str:
    numbers = [str(text.count("\n", 0, start) + 1) for start in starts[:10]]
    return f"{len(starts)} times (lines {', '.join(numbers)}{', …' if len(starts) > len(numbers) else ''})"


def tolerant(text: str, search: str, replace: str) -> Span:
    """The one run of whole lines that equals `search` except for white space at both ends of each line.

    The indentation must differ by the same shift, or by tabs for spaces, in every line; the replacement is shifted
    alike. Raises `MismatchError`.
    """
    lines = text.split("\n")
    wanted = search.removesuffix("\n").split("\n")
    stripped, bare = [line.strip() for line in lines], [line.strip() for line in wanted]
    size = len(wanted)
    found = [
        at
        for at in range(len(lines) - size + 1)
        if stripped[at] == bare[0] and any(bare) and stripped[at : at + size] == bare
    ]
    if not found:
        raise MismatchError(_nearest(lines, wanted))
    offsets = list(accumulate((len(line) + 1 for line in lines), initial=0))
    if len(found) > 1:
        places = _places(text, [offsets[at] for at in found])
        raise MismatchError(f"search differs in white space and then fits {places}; copy it exactly from view_file")
    at = found[0]
    shift = _shift(
        [(_indent(have), _indent(want)) for have, want in zip(lines[at:], wanted, strict=False) if want.strip()]
    )
    shifted = [_shifted(line, shift) for line in replace.split("\n")]
    new = [line for line in shifted if line is not None]
    if len(new) < len(shifted):
        raise MismatchError(f"indentation differs unevenly (- the file, + yours):\n{_difference(lines, at, wanted)}")
    whole = search.endswith("\n")
    end = offsets[at + size] if whole else offsets[at + size] - 1
    if end > len(text):  # the last line has no end to replace
        end, new = len(text), new[:-1] if not new[-1] else new
    return offsets[at], end, "\n".join(new)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _shifted(line: str, shift: Callable[[str], str | None] | None) -> str | None:
    """The line with its indentation shifted; None when that cannot be done. An empty line stays empty."""
    if not line.strip():
        return line
    indent = shift(_indent(line)) if shift else None
    return None if indent is None else indent + line.lstrip()


def _shift(pairs: Sequence[tuple[str, str]]) -> Callable[[str], str | None] | None:
    """How indentation of the search becomes that of the file (pairs: file, search); None when there is no one way."""
    have, want = pairs[0]
    if have.endswith(want):
        added = have[: len(have) - len(want)]
        if all(have == added + want for have, want in pairs):
            return lambda indent: added + indent
    if want.endswith(have):
        taken = want[: len(want) - len(have)]
        if all(want == taken + have for have, want in pairs):
            return lambda indent: indent[len(taken) :] if indent.startswith(taken) else None
    for width in (4, 2, 8, 3):
        spaces = " " * width
        for old, new in ((spaces, "\t"), ("\t", spaces)):
            if all(have == want.replace(old, new) for have, want in pairs):
                return lambda indent, old=old, new=new: indent.replace(old, new)  # type: ignore[misc]  # bound now
    return None


def _nearest(lines: Sequence[str], wanted: Sequence[str]) -> str:
    """What the model may have meant: the most similar lines with their numbers, and how they differ."""
    if all(_NUMBERED.match(line) for line in wanted if line.strip()):
        return "search is not found; it seems to contain the line numbers of view_file; leave them out"
    anchor = max(range(len(wanted)), key=lambda at: len(wanted[at].strip()))
    key = wanted[anchor].strip()[:_WIDTH]
    word = max(re.findall(r"\w+", key), key=len, default="")
    near = [at for at, line in enumerate(lines) if word and word in line] or list(range(len(lines)))
    texts = {lines[at].strip()[:_WIDTH]: at for at in reversed(near[:_CANDIDATES])}
    close = [texts[text] for text in difflib.get_close_matches(key, texts, n=3, cutoff=0.5)]
    if not close:
        return f"search is not found, nor anything like it, in {counted(len(lines), 'line')}; look with view_file first"
    goal = "\n".join(wanted)
    windows = [max(at - anchor, 0) for at in close]
    best = max(
        windows,
        key=lambda at: difflib.SequenceMatcher(None, "\n".join(lines[at : at + len(wanted)]), goal).quick_ratio(),
    )
    return f"search is not found; the nearest text (- the file, + your search):\n{_difference(lines, best, wanted)}"


def _difference(lines: Sequence[str], at: int, wanted: Sequence[str]) -> str:
    """The file's lines with numbers; where they differ, the searched ones below."""
    have = lines[at : at + len(wanted)]
    shown: list[str] = []
    for tag, low, high, low_new, high_new in difflib.SequenceMatcher(None, have, wanted).get_opcodes():
        mark = " " if tag == "equal" else "-"
        shown += [f"{mark}{at + nth + 1}\t{clip_line(have[nth], _WIDTH)}" for nth in range(low, high)]
        if tag != "equal":
            shown += [f"+\t{clip_line(line, _WIDTH)}" for line in wanted[low_new:high_new]]
    return "\n".join(shown[:_NEAREST_LINES] + (["…"] if len(shown) > _NEAREST_LINES else []))
