"""Progress between two failure sets: fewer, more, or different failures."""

from dataclasses import dataclass
from typing import Literal

Direction = Literal["equal", "subset", "superset", "other"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Comparison of current and earlier failures; counts are of tests, or of what was compared."""

    name: Direction
    """`equal`: the same fail; `subset`: some pass now and none is new; `superset`: all still fail and some are new;
    `other`: some pass now and some are new."""
    before: int
    """How many failed before."""
    still: int
    """How many of these fail now."""
    new: int
    """How many fail now and did not before."""

    @property
    def gone(self) -> int:
        """How many failed before and do not now."""
        return self.before - self.still

    @property
    def now(self) -> int:
        """How many fail now."""
        return self.still + self.new

    def __str__(self) -> str:
        """In words: `2 of 5 still fail, none new`."""
        new = f"{self.new} new" if self.new else "none new"
        if not self.before:
            return f"none failed, {new}"
        if not self.still:
            return f"none of {self.before} still fails, {new}"
        which = f"{self.still} of" if self.gone or self.before == 1 else "all"
        return f"{which} {self.before} still fail{'s' if self.still == 1 else ''}, {new}"


def compare(before: frozenset[str], now: frozenset[str]) -> Progress:
    """What failed before and what fails now, as sets of ids. Pure and total; two empty sets are equal."""
    name: Direction = "other"
    if now == before:
        name = "equal"
    elif now < before:
        name = "subset"
    elif now > before:
        name = "superset"
    return Progress(name, before=len(before), still=len(before & now), new=len(now - before))
