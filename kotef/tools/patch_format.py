"""Parser of the `*** Begin Patch` format, and its application to a text."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final, Literal, NamedTuple

from kotef.tools.block_match import MatchStep, MismatchError, Span, match_block
from kotef.tools.text import Text, lines_of

BEGIN: Final = "*** Begin Patch"
END: Final = "*** End Patch"
_END_OF_FILE: Final = "*** End of File"
_MOVE: Final = "*** Move to:"
_HEADER: Final = re.compile(r"\*\*\* (Add|Update|Delete) File:(.*)")
_RANGE: Final = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
"""How hunks of a unified diff begin; models write it here too, and its numbers are seldom right."""
_FENCE: Final = re.compile(r"```\w*\n(.*)\n```", re.DOTALL)

SectionKind = Literal["Add", "Update", "Delete"]


class PatchError(Exception):
    """A patch that cannot be read, or does not fit; the message says where and why."""


class Hunk(NamedTuple):
    """One place of a file."""

    anchors: tuple[str, ...]
    """Lines that are before it, in this order: the class, the function."""
    lines: tuple[str, ...]
    """Each with its sign: a space, `+` or `-`."""
    at_end: bool = False
    """Whether its last line is the file's last."""

    @property
    def old(self) -> list[str]:
        """The lines to find."""
        return [line[1:] for line in self.lines if line[0] != "+"]

    @property
    def new(self) -> list[str]:
        """The lines that replace them."""
        return [line[1:] for line in self.lines if line[0] != "-"]


class PatchSection(NamedTuple):
    """The part of a patch for one file."""

    kind: SectionKind
    path: str
    """The path as the model wrote it."""
    moved_to: str = ""
    hunks: tuple[Hunk, ...] = ()
    content: tuple[str, ...] = ()
    """Lines of a file that is added."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The files it changes, in the order in which they are written."""
        return (self.moved_to, self.path) if self.moved_to else (self.path,)


def parse(text: str) -> tuple[PatchSection, ...]:
    """The sections of a patch, at least one, each file in one of them only. Raises `PatchError` with the line."""
    plain = text.replace("\r\n", "\n").strip()
    fenced = _FENCE.fullmatch(plain)
    lines = (fenced[1] if fenced else plain).split("\n")
    if lines[0].rstrip() != BEGIN:
        raise PatchError(f"a patch begins with `{BEGIN}`")
    if lines[-1].rstrip() != END:
        raise PatchError(f"a patch ends with `{END}`; this one is cut off, nothing was changed")
    starts = [at for at, line in enumerate(lines) if _HEADER.match(line)]
    if any(line.strip() for line in lines[1 : starts[0] if starts else -1]):
        raise PatchError("line 2: a section begins with `*** Add File: PATH`, `*** Update File:` or `*** Delete File:`")
    if not starts:
        raise PatchError("the patch names no file")
    sections = tuple(_section(lines, start, end) for start, end in pairwise([*starts, len(lines) - 1]))
    paths = [path for section in sections for path in section.paths]
    if twice := sorted({path for path in paths if paths.count(path) > 1}):
        raise PatchError(f"{', '.join(twice)}: named in two sections; put all hunks of a file into one")
    return sections


def _section(lines: Sequence[str], start: int, end: int) -> PatchSection:
    header = _HEADER.match(lines[start])
    assert header is not None  # noqa: S101  it is why this is a section
    kind, path = header[1], header[2].strip()
    if not path:
        raise PatchError(f"line {start + 1}: the path is missing")
    body = [(at + 1, lines[at]) for at in range(start + 1, end)]
    if kind == "Update":
        return _update(path, body)
    while body and not body[-1][1].strip():
        body.pop()
    for number, line in body:
        if kind == "Delete" or not line.startswith("+"):
            what = "a deleted file has no lines" if kind == "Delete" else "every line of an added file begins with `+`"
            raise PatchError(f"line {number}: {what}")
    return PatchSection("Add" if kind == "Add" else "Delete", path, content=tuple(line[1:] for _, line in body))


def _update(path: str, body: list[tuple[int, str]]) -> PatchSection:
    moved = ""
    if body and body[0][1].startswith(_MOVE):
        moved = body.pop(0)[1].removeprefix(_MOVE).strip()
    if [line[:4] for _, line in body[:2]] == ["--- ", "+++ "]:  # the header of a unified diff
        del body[:2]
    hunks = tuple(_hunks(body))
    if not (hunks or moved):
        raise PatchError(f"{path}: the section changes nothing")
    return PatchSection("Update", path, moved, hunks)


def _hunks(body: Sequence[tuple[int, str]]) -> Iterator[Hunk]:
    anchors: list[str] = []
    lines: list[str] = []
    bare = 0  # empty lines at the end, which are between sections rather than for a line of the file
    begun = 0

    def hunk(*, at_end: bool) -> Hunk:
        kept = tuple(lines[: len(lines) - bare])
        if all(line[0] == " " for line in kept):
            raise PatchError(f"line {begun}: the hunk has no line that begins with `+` or `-`")
        made = Hunk(tuple(anchors), kept, at_end)
        anchors.clear()
        lines.clear()
        return made

    for number, line in body:
        begun = begun or number
        if line.startswith("@@"):
            if len(lines) > bare:
                yield hunk(at_end=False)
            begun = number
            anchor = _RANGE.sub("", line, count=1).removeprefix("@@").strip()
            anchors += [anchor] if anchor else []
        elif line.rstrip() == _END_OF_FILE:
            yield hunk(at_end=True)
        elif line[:1] in {" ", "+", "-"}:
            lines.append(line)
        elif not line:
            lines.append(" ")
        else:
            raise PatchError(f"line {number}: {line[:60]!r} begins neither with a space nor with `+`, `-` or `@@`")
        bare = bare + 1 if not line else 0
    if len(lines) > bare or anchors:
        yield hunk(at_end=False)


def render(sections: Sequence[PatchSection]) -> str:
    """The patch as text."""
    return "\n".join([BEGIN, *(line for section in sections for line in _rendered(section)), END])


def _rendered(section: PatchSection) -> Iterator[str]:
    yield f"*** {section.kind} File: {section.path}"
    if section.moved_to:
        yield f"{_MOVE} {section.moved_to}"
    yield from (f"+{line}" for line in section.content)
    for hunk in section.hunks:
        yield from (f"@@ {anchor}" for anchor in hunk.anchors) if hunk.anchors else ("@@",)
        yield from hunk.lines
        if hunk.at_end:
            yield _END_OF_FILE


def remaining(sections: Sequence[PatchSection], changed: Collection[str]) -> tuple[PatchSection, ...]:
    """The remaining sections after these files were changed; of a moved file perhaps only its deletion."""
    left = []
    for section in sections:
        if section.path in changed:
            continue
        if section.moved_to in changed:
            left.append(PatchSection("Delete", section.path))
        else:
            left.append(section)
    return tuple(left)


def fit(text: Text, hunks: Sequence[Hunk]) -> tuple[Text, list[str], tuple[MatchStep, ...]]:
    """The text with the hunks applied in order, a note on each inexact match, and the step that matched each.

    Raises `PatchError` that shows the nearest lines.
    """
    notes: list[str] = []
    steps: list[MatchStep] = []
    start = 0
    for number, hunk in enumerate(hunks, 1):
        try:
            place = _place(text.plain, hunk, start)
        except MismatchError as error:
            raise PatchError(f"hunk {number} of {len(hunks)}: {error}") from error
        text = text.replaced(place.spans)
        start = place.after
        steps.append(place.step)
        notes += [f"hunk {number}: {place.note}"] if place.note else []
    return text, notes, tuple(steps)


class _Place(NamedTuple):
    """Where a hunk goes."""

    spans: list[Span]
    after: int
    """The line after it, from 0."""
    step: MatchStep = "exact"
    note: str = ""
    """For the model; empty where the match is exact and where the patch has it."""


def _place(plain: str, hunk: Hunk, start: int) -> _Place:
    """The one place of a hunk: after its anchors, else anywhere in the text. Raises `MismatchError`."""
    lines = lines_of(plain)
    offsets = [*accumulate((len(line) + 1 for line in lines), initial=0)]
    old, new = hunk.old, hunk.new
    anchors, note = hunk.anchors, ""
    try:
        for anchor in anchors:
            start = _anchored(lines, anchor, start)
    except MismatchError as error:
        if not old:
            raise
        anchors, note = (), f"{error}; matched by its lines alone"
    if not old:
        at = len(lines) if hunk.at_end or not anchors else start + 1
        return _Place([_inserted(plain, offsets, at, new)], at + len(new))
    last = len(lines) - len(old)
    low = max(last, start) if hunk.at_end else start
    found = _equal_runs(lines, old, low)
    if not found and (found := _equal_runs(lines, old, 0)):
        anchors, note = (), note or f"matched at line {found[0] + 1}, not where the patch has it"
    if len(found) > 1 and not anchors:
        numbers = ", ".join(str(at + 1) for at in found[:5])
        if hunk.anchors and note:
            raise MismatchError(f"{note.partition(';')[0]}, and its lines are at {numbers}")
        raise MismatchError(f"its lines are at {numbers}; add context, or a line `@@ the function it is in`")
    if not found:
        match = match_block(plain, "\n".join(old), "\n".join(new))
        return _Place(match.spans, match.first - 1 + len(new), match.step, match.note)
    at = found[0]
    first, end = offsets[at], offsets[at + len(old)] - 1
    if not new:  # the line end goes, too; of the last line that has none, the one before it
        first, end = (first, end + 1) if end < len(plain) else (max(first - 1, 0), end)
    return _Place([(first, end, "\n".join(new))], at + len(new), "exact", note)


def _equal_runs(lines: Sequence[str], wanted: Sequence[str], low: int) -> list[int]:
    """Every line from `low` on at which the wanted lines follow exactly."""
    size = len(wanted)
    return [at for at in range(low, len(lines) - size + 1) if lines[at : at + size] == wanted]


def _anchored(lines: Sequence[str], anchor: str, start: int) -> int:
    """The line an anchor names: as a whole, else as a part."""
    for fits in (lambda line: line.strip() == anchor, lambda line: anchor in line):
        for at in range(start, len(lines)):
            if fits(lines[at]):
                return at
    raise MismatchError(f"no line `{anchor}` from line {start + 1} on")


def _inserted(plain: str, offsets: Sequence[int], at: int, new: Sequence[str]) -> Span:
    words = "\n".join(new)
    if at < len(offsets) - 1 or not plain or plain.endswith("\n"):
        place = min(offsets[at], len(plain))
        return place, place, f"{words}\n"
    return len(plain), len(plain), f"\n{words}"
