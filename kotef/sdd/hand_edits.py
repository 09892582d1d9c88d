"""Preservation of hand-written text in files that code rewrites."""

from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from typing import TypeVar

Line = TypeVar("Line", bound=Hashable)


def keep_hand_edits(base: Sequence[Line], mine: Sequence[Line], new: Sequence[Line]) -> list[Line]:
    """The lines of `new` with a person's changes from `base` to `mine`: a three-way merge. Pure.

    Lines a person added, changed or deleted stay so where code left the same lines alone. Where both changed them,
    both stand, the person's first, or one where they are alike: nothing a person wrote is ever dropped.
    """
    stays: dict[int, int] = {}
    for old, now, size in SequenceMatcher(None, base, new, autojunk=False).get_matching_blocks():
        stays |= zip(range(old, old + size), range(now, now + size), strict=True)
    lines = list(new)
    for tag, first, end, start, stop in reversed(SequenceMatcher(None, base, mine, autojunk=False).get_opcodes()):
        if tag == "equal":
            continue
        where = [stays.get(at, -1) for at in range(first, end)]
        if where and where[0] >= 0 and where == list(range(where[0], where[0] + len(where))):
            lines[where[0] : where[0] + len(where)] = mine[start:stop]
            continue

        # code changed these lines too, or nothing stands here: what it wrote alike stands once
        low = next((stays[at] + 1 for at in range(first - 1, -1, -1) if at in stays), 0)
        high = next((stays[at] for at in range(end, len(base)) if at in stays), len(new))
        alike = set(new[low:high])
        lines[low:low] = [line for line in mine[start:stop] if line not in alike]
    return lines
