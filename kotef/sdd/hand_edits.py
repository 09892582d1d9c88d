"""Preservation of hand-written text in files that code rewrites."""

from collections.abc import Sequence
from difflib import SequenceMatcher


def keep_hand_edits(base: Sequence[str], mine: Sequence[str], new: Sequence[str]) -> list[str]:
    """The lines of `new`, with what a person did between `base` and `mine`; a three-way merge. Pure.

    Lines a person added, changed or deleted stay so where code left the same lines alone. Where both changed them,
    both stand, the person's first: nothing a person wrote is ever dropped.
    """
    stays: dict[int, int] = {}
    for old, now, size in SequenceMatcher(None, base, new, autojunk=False).get_matching_blocks():
        stays |= zip(range(old, old + size), range(now, now + size), strict=True)
    lines = list(new)
    for tag, first, end, start, stop in reversed(SequenceMatcher(None, base, mine, autojunk=False).get_opcodes()):
        if tag == "equal":
            continue
        where = [stays.get(at, -1) for at in range(first, end)]
        alone = bool(where) and where[0] >= 0 and where == list(range(where[0], where[0] + len(where)))
        begin = where[0] if alone else next((stays[at] + 1 for at in range(first - 1, -1, -1) if at in stays), 0)
        lines[begin : begin + len(where) if alone else begin] = mine[start:stop]
    return lines
