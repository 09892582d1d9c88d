"""Spans of whole numbers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """From `low` up to, not including, `high`."""

    low: int
    high: int

    @property
    def length(self):
        return max(self.high - self.low, 0)

    def touches(self, other):
        """They overlap or one begins where the other ends."""
        return self.low <= other.high and other.low <= self.high

    def join(self, other):
        """The smallest span that holds both; ValueError if there is a gap between them."""
        if not self.touches(other):
            raise ValueError("there is a gap")
        return Span(min(self.low, other.low), max(self.high, other.high))


def joined(spans):
    """As few spans as possible, in order, covering the same numbers."""
    result = []
    for span in sorted(spans, key=lambda s: (s.low, s.high)):
        if result and result[-1].touches(span):
            result[-1] = result[-1].join(span)
        else:
            result.append(span)
    return result
