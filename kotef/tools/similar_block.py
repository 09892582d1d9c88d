"""Windows of a text that resemble a block of lines, the most similar first."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache
from typing import Final, NamedTuple

from kotef.failures.plural import counted
from kotef.tools.text import clip_line

_TRIED: Final = 24
"""Windows that are compared with the block, at most."""
_COMMON: Final = 40
"""A line that stands more often in a text says little about where a block is."""
_SLACK: Final = 3
"""Lines that the file may have more than the block on each side of where it is looked for."""
_LONGEST: Final = 300
"""Characters of a line that are compared."""
_LOOKED_AT: Final = 2000
"""Lines that are compared one by one, at most."""
_WORD: Final = re.compile(r"\w{3,}")
_NUMBERED: Final = re.compile(r"\s*\d+\t")
"""How view_file begins a line."""
_LEAST_LIKE: Final = 0.3
"""Likeness below which a text is no help."""
_SHOWN: Final = 24
_WIDTH: Final = 160
_AROUND: Final = 2


class SimilarWindow(NamedTuple):
    """A range of lines, from 0, and its likeness to a block."""

    low: int
    high: int
    score: float
    """0 to 1: the share of characters in lines that are alike."""


def similar_windows(lines: Sequence[str], wanted: Sequence[str]) -> list[SimilarWindow]:
    """Windows that do not overlap, the most similar first; both are stripped of white space at the ends of lines.

    Bounded: lines that are everywhere are not looked at, and a text in which too many places are alike gives those
    with the most equal lines only.
    """
    starts = _starts(lines, wanted)
    found = sorted((_window(lines, wanted, start) for start in starts), key=lambda each: (-each.score, each.low))
    apart: list[SimilarWindow] = []
    for each in found:
        if each.high > each.low and all(each.high <= other.low or each.low >= other.high for other in apart):
            apart.append(each)
    return apart


def _starts(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where the block could begin, by the lines that are equal, else by the words of its longest line."""
    sought: dict[str, list[int]] = defaultdict(list)
    for at, line in enumerate(wanted):
        if line:
            sought[line].append(at)
    at_lines: dict[str, list[int]] = defaultdict(list)
    for at, line in enumerate(lines):
        if line in sought:
            at_lines[line].append(at)
    votes: Counter[int] = Counter()
    for line, places in at_lines.items():
        if len(places) <= _COMMON:
            for place in places:
                for at in sought[line]:
                    votes[place - at] += len(line)
    votes.update(_by_words(lines, wanted))
    if not votes:
        votes.update(_by_looks(lines, wanted))
    best = [start for start, _ in votes.most_common(4 * _TRIED)]
    taken: list[int] = []
    for start in best:
        if all(abs(start - other) > _SLACK for other in taken):
            taken.append(start)
    return taken[:_TRIED]


def _by_words(lines: Sequence[str], wanted: Sequence[str]) -> Counter[int]:
    """Starts by the words that the longest lines of the block share with lines of the text, and how much they share."""
    votes: Counter[int] = Counter()
    longest = sorted(range(len(wanted)), key=lambda at: -len(wanted[at]))[:3]
    for at in longest:
        words = set(_WORD.findall(wanted[at][:_LONGEST]))
        shared: Counter[int] = Counter()
        for place, line in enumerate(lines):
            if len(line) > len(wanted[at]) // 2:
                shared[place] = sum(len(word) for word in words if word in line)
        for place, much in shared.most_common(_TRIED):
            if much:
                votes[place - at] += much // 2
    return votes


def _by_looks(lines: Sequence[str], wanted: Sequence[str]) -> Counter[int]:
    """Starts by the lines that look like the longest of the block, where they share no word."""
    at = max(range(len(wanted)), key=lambda nth: len(wanted[nth]))
    size = len(wanted[at])
    texts: dict[str, int] = {}
    for place, line in enumerate(lines):
        if size <= 2 * len(line) <= 4 * size and len(texts) < _LOOKED_AT:
            texts.setdefault(line[:_LONGEST], place)
    close = get_close_matches(wanted[at][:_LONGEST], texts, n=3, cutoff=0.5)
    return Counter({texts[text] - at: size for text in close})


def _window(lines: Sequence[str], wanted: Sequence[str], start: int) -> SimilarWindow:
    """The lines around a start that resemble the block most."""
    low, high = max(start - _SLACK, 0), min(max(start, 0) + len(wanted) + _SLACK, len(lines))
    have = lines[low:high]
    alike = extra = 0.0
    first, last = len(have), 0
    for part in _parts(have, wanted, max(start, 0) - low):
        if part.low == part.high:
            continue
        ours, theirs = have[part.low : part.high], wanted[part.first : part.last]
        alike += _size(ours) if part.is_equal else _likeness(ours, theirs)
        extra += _size(ours) - _size(theirs)
        first, last = min(first, part.low), max(last, part.high)
    total = _size(wanted)
    if last <= first or not total:
        return SimilarWindow(start, start, 0.0)
    return SimilarWindow(low + first, low + last, alike / (total + max(extra, 0.0)))


class _AlignedPart(NamedTuple):
    """Lines of a window, and the lines of the block they stand for."""

    low: int
    high: int
    first: int
    last: int
    is_equal: bool


def _parts(have: Sequence[str], wanted: Sequence[str], begin: int) -> Iterator[_AlignedPart]:
    """The window piece by piece; at its edges only as many lines as the block has there count.

    A window without an equal line begins at `begin`.
    """
    matcher = SequenceMatcher(None, have, wanted, autojunk=False)
    for tag, low, high, first, last in matcher.get_opcodes():
        if tag == "equal":
            yield _AlignedPart(low, high, first, last, is_equal=True)
            continue
        stale = last - first
        if stale == len(wanted):
            yield _AlignedPart(begin, min(begin + stale, len(have)), first, last, is_equal=False)
            continue
        start = max(low, high - stale) if first == 0 else low
        end = min(high, start + stale) if last == len(wanted) else high
        yield _AlignedPart(start, end, first, last, is_equal=False)


def _size(lines: Sequence[str]) -> int:
    return sum(map(len, lines))


def _likeness(have: Sequence[str], wanted: Sequence[str]) -> float:
    """Characters of the wanted lines that are in those of the text, line by line."""
    return sum(map(_line_likeness, have, wanted))


@lru_cache(maxsize=4096)
def _line_likeness(have: str, wanted: str) -> int:
    """Characters that two lines share in order, pieces of one character left out."""
    matcher = SequenceMatcher(None, have[:_LONGEST], wanted[:_LONGEST], autojunk=False)
    return sum(size for _, _, size in matcher.get_matching_blocks() if size > 1)


def nearest_text(lines: Sequence[str], wanted: Sequence[str], new: Sequence[str]) -> str:
    """The end of the message to the model for a block that is not in the text: what may have been meant."""
    bare = [line.strip() for line in lines]
    if all(_NUMBERED.match(line) for line in wanted if line.strip()):
        return "; it seems to contain the line numbers of view_file; leave them out"
    if at := _place_of(bare, [line.strip() for line in new]):
        return f", but the text of replace already exists at line {at}; view the file before the next edit"
    windows = similar_windows(bare, [line.strip() for line in wanted])
    if not windows or windows[0].score < _LEAST_LIKE:
        return f", nor anything like it, in {counted(len(lines), 'line')}; look with view_file first"
    best = windows[0]
    others = [f"{each.low + 1}" for each in windows[1:4] if each.score > best.score - 0.1]
    also = f" (others like it at lines {', '.join(others)})" if others else ""
    shown = _difference(lines[best.low : best.high], best.low + 1, wanted)
    percent = f"{min(best.score, 0.99):.0%}"
    return f"; the nearest text, {percent} alike{also} (- the file, + your search):\n{shown}"


def _place_of(lines: Sequence[str], wanted: Sequence[str]) -> int:
    """The line, from 1, at which a block of some length stands once; 0 when it does not."""
    if sum(map(len, wanted)) < 20:  # noqa: PLR2004  a shorter one may stand there by chance
        return 0
    size = len(wanted)
    found = [
        at + 1
        for at in range(len(lines) - size + 1)
        if lines[at] == wanted[0] and list(lines[at : at + size]) == list(wanted)
    ]
    return found[0] if len(found) == 1 else 0


def _difference(have: Sequence[str], first: int, wanted: Sequence[str]) -> str:
    """The file's lines with numbers; where they differ, the searched ones below. What is equal is left out."""
    shown: list[str] = []
    groups = list(SequenceMatcher(None, have, wanted, autojunk=False).get_grouped_opcodes(_AROUND))
    for nth, group in enumerate(groups):
        shown += ["…"] if nth else []
        for tag, low, high, low_new, high_new in group:
            mark = " " if tag == "equal" else "-"
            shown += [f"{mark}{first + at}\t{clip_line(have[at], _WIDTH)}" for at in range(low, high)]
            if tag != "equal":
                shown += [f"+\t{clip_line(line, _WIDTH)}" for line in wanted[low_new:high_new]]
    return "\n".join(shown[:_SHOWN] + (["…"] if len(shown) > _SHOWN else []))
