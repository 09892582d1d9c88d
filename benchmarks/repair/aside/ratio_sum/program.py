"""Ratios of whole numbers."""

from dataclasses import dataclass


def common_divisor(a, b):
    while b:
        a, b = b, a % b
    return abs(a)


@dataclass(frozen=True)
class Ratio:
    """top : bottom, in lowest terms and with a positive bottom if made by `of`."""

    top: int
    bottom: int

    @classmethod
    def of(cls, top, bottom):
        if bottom == 0:
            raise ZeroDivisionError("a ratio to nothing")
        shared = common_divisor(top, bottom)
        return cls(top // shared, bottom // shared)

    def plus(self, other):
        return Ratio.of(self.top * other.bottom + other.top, self.bottom * other.bottom)

    def less_than(self, other):
        return self.top * other.bottom < other.top * self.bottom


def total(pairs):
    """The sum of (top, bottom) pairs."""
    result = Ratio.of(0, 1)
    for top, bottom in pairs:
        result = result.plus(Ratio.of(top, bottom))
    return result
