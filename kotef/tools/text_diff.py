"""Short description of the difference between two texts."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from operator import eq
from typing import Final

from kotef.failures.plural import counted
from kotef.tools.text import clip_line

MAX_LINES: Final = 80
"""Lines of a diff that are shown to the model."""
_WIDTH: Final = 300
_CONTEXT: Final = 2


@dataclass(frozen=True, slots=True)
class TextDiff:
    """Counts of lines, and hunks for reading."""

    added: int
    removed: int
    hunks: str
    """A unified diff without file names, bounded."""

    @property
    def stat(self) -> str:
        """`+3 -1` lines."""
        return f"+{self.added} -{self.removed} lines"


def compare(old: str, new: str) -> TextDiff:
    """Compare by lines; equal lines at both ends are set aside first, so one edit in a long file is quick."""
    before, after = old.split("\n"), new.split("\n")
    same = _equal(before, after)
    short = min(len(before), len(after)) - same
    tail = min(_equal(reversed(before), reversed(after)), short)
    start, rest = max(same - _CONTEXT, 0), max(tail - _CONTEXT, 0)
    ours, theirs = before[start : len(before) - rest], after[start : len(after) - rest]
    matcher = difflib.SequenceMatcher(None, ours, theirs)
    added = removed = 0
    shown: list[str] = []
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        shown.append(f"@@ line {start + group[0][3] + 1} @@")
        for tag, low, high, low_new, high_new in group:
            if tag == "equal":
                shown += [f" {line}" for line in ours[low:high]]
                continue
            removed, added = removed + high - low, added + high_new - low_new
            shown += [f"-{line}" for line in ours[low:high]]
            shown += [f"+{line}" for line in theirs[low_new:high_new]]
    more = [f"[{counted(len(shown) - MAX_LINES, 'more line')} of diff]"] if len(shown) > MAX_LINES else []
    return TextDiff(added, removed, "\n".join([clip_line(line, _WIDTH) for line in shown[:MAX_LINES]] + more))


def added_lines(text: str) -> str:
    """A new file as a diff."""
    return compare("", text.replace("\r\n", "\n")).hunks


def _equal(ours: Iterable[str], theirs: Iterable[str]) -> int:
    """How many lines are equal from the start."""
    return sum(takewhile(bool, map(eq, ours, theirs)))
