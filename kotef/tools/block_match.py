"""Places of a block of lines in a text that it may differ from a little, and the edit merged into that text.

The steps go from strict to lenient; the first that finds a place decides, and it must find only one. A lenient step
never overwrites what the block does not change: lines that search and replace have in common stay as the file has them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, pairwise, takewhile
from operator import eq
from typing import Final, Literal, NamedTuple

from kotef.tools.indentation import common_shift, indent_of, shifted
from kotef.tools.similar_block import SimilarWindow, nearest_text, similar_windows
from kotef.tools.typography import FOLDED, carried, folded, slips

Span = tuple[int, int, str]
"""Start and end in the text with `\\n` line ends, and what to put there."""
MatchStep = Literal["exact", "blanks", "indentation", "characters", "elision", "similar"]

NOTES: Final[dict[MatchStep, str]] = {
    "exact": "",
    "blanks": "except for blanks at line ends, or empty lines around the block",
    "indentation": "with another indentation, which was adapted",
    "characters": "except for typographic characters; those of the file were kept",
    "elision": "around the elided lines, which were kept",
    "similar": "with lines that differ from search; they were kept as the file has them",
}
"""What each step tells the model."""

BAR: Final = 0.8
"""Similarity that a block must have to be taken for the one that was meant (benchmarks/edits.py)."""
MARGIN: Final = 0.1
"""How far every other place must stay below it."""
ANCHORED: Final = 0.5
"""Share of the equal lines, by characters, that the file must hold once: the others say little about the place."""
_LEAST_LINES: Final = 3
_LEAST_CHARACTERS: Final = 40
"""A shorter block has to match without a stale line."""

_DIFFERENT: Final = "lines that the edit changes are different in the file"
_ELISION: Final = re.compile(
    r"""\s*(?:\#|//|/\*|<!--|--|;|%|\{/\*)?\s*
    (?:\.{3}|…|⋮)(?:\s*[(\[]?[\w ,'-]{0,60}[)\]]?\s*(?:\.{3}|…|⋮)?)?
    \s*(?:\*/\}?|-->)?\s*""",
    re.VERBOSE,
)
_WORD: Final = re.compile(r"\w")


class MismatchError(Exception):
    """An edit does not fit the text; the message says why."""


class _StaleError(MismatchError):
    """The block is not there as it says; the nearest text helps."""


class BlockMatch(NamedTuple):
    """Where a block stands, and what becomes of the text there."""

    spans: list[Span]
    """More than one only where lines are elided."""
    step: MatchStep
    first: int
    """Line, from 1."""
    last: int

    @property
    def note(self) -> str:
        """What the model is told; empty for an exact match."""
        return f"matched at lines {self.first}-{self.last} {NOTES[self.step]}" if NOTES[self.step] else ""


class _Lines:
    """A text by lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.offsets = list(accumulate((len(line) + 1 for line in self.lines), initial=0))
        self.stripped = [line.strip() for line in self.lines]

    def span(self, low: int, high: int, new: Sequence[str]) -> Span:
        """The replacement of lines `low` to `high`; no new line takes their line ends along."""
        start, end = self.offsets[low], self.offsets[high] - 1
        if new:
            return start, end, "\n".join(new)
        if end < len(self.text):
            return start, end + 1, ""
        return max(start - 1, 0), end, ""

    def places(self, wanted: Sequence[str], key: Callable[[str], str], low: int = 0) -> list[int]:
        """Every line from `low` on at which all of the wanted lines follow, as compared by the key."""
        keys = [key(line) for line in wanted]
        lines = self.stripped if key is str.strip else [key(line) for line in self.lines]
        size = len(keys)
        return [
            at for at in range(low, len(lines) - size + 1) if lines[at] == keys[0] and lines[at : at + size] == keys
        ]


def match_block(text: str, search: str, replace: str) -> BlockMatch:
    """The one place of `search` in the text, which does not hold it exactly, and the edit merged into the text there.

    Raises `MismatchError` when there is no place or more than one; the message shows the nearest text.
    """
    file = _Lines(text)
    wanted, new = _trimmed(search, replace)
    if not any(line.strip() for line in wanted):
        raise MismatchError("search contains no text")
    try:
        return _match(file, wanted, new)
    except _StaleError as error:
        bare, put = _without_blank_edges(wanted, new)
        if bare == wanted:
            raise MismatchError(f"{error}{nearest_text(file.lines, wanted, new)}") from error
    try:
        return _match(file, bare, put)
    except _StaleError as error:
        raise MismatchError(f"{error}{nearest_text(file.lines, bare, put)}") from error


def _match(file: _Lines, wanted: Sequence[str], new: Sequence[str]) -> BlockMatch:
    for step, key in _KEYS:
        found = file.places(wanted, key)
        if len(found) > 1:
            raise MismatchError(
                f"search differs in white space and then fits {places(found)}; copy it exactly from view_file"
            )
        if found:
            return _merged(file, SimilarWindow(found[0], found[0] + len(wanted), 1.0), wanted, new, step)
    if any(map(_is_elision, wanted)):
        return _elided(file, wanted, new)
    return _similar(file, wanted, new)


def places(lines: Sequence[int]) -> str:
    """How often and where, in words; the lines count from 0."""
    numbers = [str(line + 1) for line in lines[:10]]
    return f"{len(lines)} times (lines {', '.join(numbers)}{', …' if len(lines) > len(numbers) else ''})"


_KEYS: Final[tuple[tuple[MatchStep, Callable[[str], str]], ...]] = (
    ("blanks", str.rstrip),
    ("indentation", str.strip),
    ("characters", folded),
)


def _trimmed(search: str, replace: str) -> tuple[list[str], list[str]]:
    """The lines of both, without the empty ones that both have around them and the file may not have."""
    wanted, new = search.removesuffix("\n").split("\n"), replace.removesuffix("\n").split("\n") if replace else []
    for at in (0, -1):
        while wanted and not wanted[at].strip() and not (new and new[at].strip()):
            del wanted[at]
            if new:
                del new[at]
    return wanted, new


def _without_blank_edges(wanted: Sequence[str], new: Sequence[str]) -> tuple[list[str], list[str]]:
    """The block from its first line of text to its last; what it leaves out goes from the new lines as well."""
    held = [at for at, line in enumerate(wanted) if line.strip()]
    low, high = held[0], held[-1] + 1
    equal = SequenceMatcher(None, wanted, new, autojunk=False).get_matching_blocks()
    gone = {first + nth for at, first, size in equal for nth in range(size) if not low <= at + nth < high}
    return list(wanted[low:high]), [line for at, line in enumerate(new) if at not in gone]


def _is_elision(line: str) -> bool:
    return _ELISION.fullmatch(line) is not None


def _elided(file: _Lines, wanted: Sequence[str], new: Sequence[str]) -> BlockMatch:
    """The parts around elided lines, each at its one place, in order; the lines between them stay."""
    olds, news = _parts(wanted), _parts(new)
    if len(olds) != len(news):
        raise _StaleError(
            f"search elides lines {len(olds) - 1} times and replace {len(news) - 1} times; elide the same lines in both"
        )
    spans: list[Span] = []
    first = last = -1
    for old, put in zip(olds, news, strict=True):
        if not old:
            if put:
                raise _StaleError("replace adds lines where search only elides some; name a line next to them")
            continue
        found = file.places(old, str.strip, max(last, 0))
        if len(found) != 1:
            where = f"fits {places(found)}" if found else "is not found"
            raise _StaleError(f"the part of search from {old[0].strip()[:60]!r} on {where}; write out what is elided")
        match = _merged(file, SimilarWindow(found[0], found[0] + len(old), 1.0), old, put, "elision")
        spans += [span for span in match.spans if file.text[span[0] : span[1]] != span[2]]
        first, last = (first if first >= 0 else match.first - 1), match.last
    if not spans:
        raise _StaleError("search is not found, and its elided lines leave nothing to change")
    return BlockMatch(spans, "elision", first + 1, last)


def _parts(lines: Sequence[str]) -> list[list[str]]:
    """The lines between the elided ones."""
    cuts = [-1, *(at for at, line in enumerate(lines) if _is_elision(line)), len(lines)]
    return [list(lines[low + 1 : high]) for low, high in pairwise(cuts)]


def _similar(file: _Lines, wanted: Sequence[str], new: Sequence[str]) -> BlockMatch:
    """The one place with a few stale lines."""
    if sum(len(line.strip()) for line in wanted) < _LEAST_CHARACTERS or len(wanted) < _LEAST_LINES:
        raise _StaleError("search is not found")
    bare = [line.strip() for line in wanted]
    windows = similar_windows(file.stripped, bare)
    if not windows or windows[0].score < BAR:
        raise _StaleError("search is not found")
    near = [each.low for each in windows if each.score > windows[0].score - MARGIN]
    if len(near) > 1:
        raise MismatchError(f"search is not found; text like it is there {places(sorted(near))}")
    if _anchored(file.stripped, windows[0], bare) < ANCHORED:
        raise _StaleError("search is not found")
    return _merged(file, windows[0], wanted, new, "similar")


def _anchored(lines: Sequence[str], window: SimilarWindow, wanted: Sequence[str]) -> float:
    """How much of what block and window have in common stands nowhere else in the file: a share of its characters."""
    counts = Counter(lines)
    there = Counter(lines[window.low : window.high])
    equal = [line for line in wanted if line in there]
    return sum(len(line) for line in equal if counts[line] == 1) / max(sum(map(len, equal)), 1)


class _Change(NamedTuple):
    """Lines of the block, and what replaces them."""

    low: int
    high: int
    first: int
    last: int


class _Chunk(NamedTuple):
    """A change between two lines on which file and block agree."""

    low: int
    high: int
    """Its lines in the window."""
    block: list[str]
    new: list[str]
    near: list[int]
    """Lines of the block, those around included, by which its indentation is known."""


def _merged(
    file: _Lines, window: SimilarWindow, wanted: Sequence[str], new: Sequence[str], step: MatchStep
) -> BlockMatch:
    """The block's own changes put into the lines of the window; the others stay as the file has them.

    Raises `_StaleError` when a line would go that the block does not hold, or one come that it takes for unchanged,
    or that the file has there already.
    """
    have = file.lines[window.low : window.high]
    kept = _kept(have, wanted)
    plain = slips(file.text, ((have[kept[at]].strip(), wanted[at].strip()) for at in kept))
    if any(line != line.rstrip() for line in wanted) and all(line == line.rstrip() for line in have):
        new = [line.rstrip() for line in new]
    merged: list[str] = []
    done = 0  # lines of the window that are dealt with
    for chunk in _chunks(kept, len(have), wanted, [line.translate(plain) for line in new] if plain else new):
        if chunk.low < done:
            raise _StaleError("search differs from the file between two of its changes")
        merged += have[done : chunk.low]
        merged += _put(have[chunk.low : chunk.high], chunk, _shifts(kept, have, wanted, chunk.near))
        done = chunk.high
    merged += have[done:]
    if _doubled(have, kept, merged):
        raise _StaleError("search is not found: the file already has a line that the edit adds")
    span = file.span(window.low, window.high, merged)
    return BlockMatch([span], step, window.low + 1, window.high)


def _kept(have: Sequence[str], wanted: Sequence[str]) -> dict[int, int]:
    """Line of the block → line of the window that is alike."""
    ours, theirs = [folded(line) for line in have], [folded(line) for line in wanted]
    if ours == theirs:
        return {at: at for at in range(len(wanted))}
    kept: dict[int, int] = {}
    for low, low_have, size in SequenceMatcher(None, theirs, ours, autojunk=False).get_matching_blocks():
        kept |= {low + nth: low_have + nth for nth in range(size)}
    return kept


def _doubled(have: Sequence[str], kept: dict[int, int], merged: Sequence[str]) -> bool:
    """Whether a line of the window that the block does not hold would be there once more; brackets do not count."""
    known = set(kept.values())
    extra = {folded(line) for at, line in enumerate(have) if at not in known}
    before, after = Counter(map(folded, have)), Counter(map(folded, merged))
    return any(_WORD.search(line) and after[line] > before[line] for line in extra)


def _changes(wanted: Sequence[str], new: Sequence[str]) -> Iterator[_Change]:
    """What the block changes, from top to bottom."""
    ours, theirs = [line.rstrip() for line in wanted], [line.rstrip() for line in new]
    for tag, low, high, first, last in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag != "equal":
            yield _Change(low, high, first, last)


def _chunks(kept: dict[int, int], height: int, wanted: Sequence[str], new: Sequence[str]) -> Iterator[_Chunk]:
    """Each change, widened to the next lines on both sides that the file has as well, where its place is in doubt."""
    for change in _changes(wanted, new):
        before = next((at for at in range(change.low - 1, -1, -1) if at in kept), -1)
        after = next((at for at in range(change.high, len(wanted)) if at in kept), len(wanted))
        inside = [at for at in range(change.low, change.high) if at in kept]
        near = [at for at in (before, *inside, after) if at in kept]
        put = new[change.first : change.last]
        low, high = _tight(kept, {-1: -1, len(wanted): height} | kept, change, before, after)
        if low <= high:
            yield _Chunk(low, high, list(wanted[change.low : change.high]), list(put), near)
            continue
        yield _Chunk(
            kept[before] + 1 if before >= 0 else 0,
            kept[after] if after < len(wanted) else height,
            list(wanted[before + 1 : after]),
            [*wanted[before + 1 : change.low], *put, *wanted[change.high : after]],
            near,
        )


def _tight(kept: dict[int, int], ends: dict[int, int], change: _Change, before: int, after: int) -> tuple[int, int]:
    """The lines of the window that are those of the change, neighbours that differ set aside; `(1, 0)` if in doubt.

    The file must have as many lines as the block between the change and the next line on which both agree.
    """
    size = change.high - change.low
    if size:
        low = kept.get(change.low, -1)
        is_whole = low >= 0 and all(kept.get(change.low + nth) == low + nth for nth in range(size))
    else:
        low = ends.get(change.low - 1, -2) + 1
        low = low if low >= 0 else ends.get(change.low, -1)
        is_whole = low >= 0
    is_level = low - ends[before] == change.low - before and ends[after] - low - size == after - change.high
    return (low, low + size) if is_whole and is_level else (1, 0)


def _shifts(
    kept: dict[int, int], have: Sequence[str], wanted: Sequence[str], near: Sequence[int]
) -> Callable[[str], str | None] | None:
    """The shift of the whole block, else that of the lines near a change; None when there is none."""
    pairs = {at: (indent_of(have[kept[at]]), indent_of(wanted[at])) for at in kept if wanted[at].strip()}
    return common_shift(list(pairs.values())) or common_shift([pairs[at] for at in near if at in pairs])


def _put(have: Sequence[str], chunk: _Chunk, shift: Callable[[str], str | None] | None) -> list[str]:
    """What stands in the file after the change, with its own indentation and characters."""
    moved = [shifted(line, shift) for line in chunk.new]
    new = [line for line in moved if line is not None]
    if len(new) < len(moved):
        why = "its indentation differs unevenly from the file's" if chunk.near else _DIFFERENT
        raise _StaleError(f"search is not found: {why}")
    ours, theirs = ([line.translate(FOLDED).rstrip() for line in lines] for lines in (have, new))
    head = _equal(ours, theirs)
    tail = min(_equal(ours[::-1], theirs[::-1]), min(len(ours), len(theirs)) - head)
    gone, come = have[head : len(have) - tail], new[head : len(new) - tail]
    known = _sublist([folded(line) for line in chunk.block], [folded(line) for line in gone])
    there = {folded(line) for line in have}
    stale = {folded(line) for line in chunk.block} - there - {""}
    if known is None or not stale.isdisjoint(map(folded, come)):
        raise _StaleError(f"search is not found: {_DIFFERENT}")
    if len(gone) == len(come):
        block = chunk.block[known : known + len(gone)]
        come = [carried(*lines) for lines in zip(gone, block, come, strict=True)]
    return [*have[:head], *come, *have[len(have) - tail :]]


def _sublist(lines: Sequence[str], part: Sequence[str]) -> int | None:
    """Where the part stands in the lines; None if it does not."""
    return next((at for at in range(len(lines) - len(part) + 1) if lines[at : at + len(part)] == part), None)


def _equal(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """How many lines are equal from the start."""
    return sum(takewhile(bool, map(eq, ours, theirs)))
