"""The form of a rule about a tool's output, and its application."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from kotef.classification.kinds import FailureKind, OutputFinding
from kotef.classification.output_lines import Output

MAX_HITS: Final = 100
"""Lines with a rule's literal that are tried, half of them from the end: bounds the work on hostile output."""


class Rule(NamedTuple):
    """One thing a tool prints, and what it means. The tables of rules are read top to bottom, first match wins."""

    tool: str
    hint: str
    """A literal that every matching line holds; most rules are ruled out by its absence alone."""
    pattern: str
    """Searched in the line; anchored with `^` wherever the tool starts a line with it."""
    kind: FailureKind
    detail: str
    source: str
    """Where the tool prints it."""


class Hit(NamedTuple):
    """A rule and the line that it matched."""

    rule: Rule
    line: str
    at: int
    """Index of the line in the output."""

    def finding(self, *more: str) -> OutputFinding:
        """What the rule concludes, from its line and `more`."""
        return OutputFinding(self.rule.kind, self.rule.detail, (self.line, *more), (self.line, *more))


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile at first use: an import of this package must not pay for patterns no one needs."""
    return re.compile(pattern)


def lines_with(output: Output, hint: str) -> Iterator[tuple[int, str]]:
    """Lines that hold the literal, with their index, at most `MAX_HITS`."""
    if hint not in output.text:
        return
    found = [(index, line) for index, line in enumerate(output.lines) if hint in line]
    if len(found) > MAX_HITS:
        found = [*found[: MAX_HITS // 2], *found[-MAX_HITS // 2 :]]
    yield from found


MERE_WARNING: Final = re.compile(r"\s*(?:\[?(?:warning|warn|WARNING|WARN|Warning|notice|NOTICE|info|INFO)\b)")


def first_hit(rules: Sequence[Rule], output: Output, *, ignored: re.Pattern[str] | None = None) -> Hit | None:
    """The first rule, in the order of the table, that some line matches; no line that starts like `ignored` counts.

    A rule whose pattern speaks of a warning itself is about one.
    """
    text = output.text
    for rule in rules:
        if rule.hint not in text:  # most rules end here, without the cost of a generator
            continue
        skipped = None if "arning" in rule.pattern else ignored
        for index, line in lines_with(output, rule.hint):
            if compiled(rule.pattern).search(line) and not (skipped and skipped.match(line)):
                return Hit(rule, line, index)
    return None


def last_line(hit: Hit, output: Output) -> int:
    """Index of the last line that the rule of a hit matches."""
    pattern = compiled(hit.rule.pattern)
    return max(
        (index for index, line in enumerate(output.lines) if hit.rule.hint in line and pattern.search(line)),
        default=hit.at,
    )
