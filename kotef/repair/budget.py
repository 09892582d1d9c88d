"""CPU seconds of one search, and the wall time that bounds them."""

import os
import time
from collections.abc import Callable
from typing import Final, Self

_WALL: Final = 3.0
"""Wall seconds for each CPU second on a machine that has nothing else to do: tests may wait for something."""
_BUSY: Final = 4.0
"""How many times as many on a busy machine at most."""


def wall_seconds(cpu: float) -> float:
    """Wall seconds that may pass while so many CPU seconds are used: more where other programs take the processors."""
    try:
        busy = os.getloadavg()[0] / (os.cpu_count() or 1)
    except (AttributeError, OSError):  # the system does not say
        busy = 1.0
    return _WALL * cpu * min(_BUSY, max(1.0, busy))


class SearchBudget:
    """What a search, or one phase of it, may use from now on.

    CPU seconds are its measure, so that the result does not depend on what else the machine does. Where the wall time
    runs out sooner (the tests wait, or other programs take the processor), that counts instead.
    """

    def __init__(self, seconds: float, *, wall: float, used: Callable[[], float]) -> None:
        self.seconds = max(0.0, seconds)
        """CPU seconds."""
        self.wall = max(0.0, wall)
        """Wall seconds."""
        self._used = used
        self._cpu = used()
        self._began = time.monotonic()

    @property
    def elapsed(self) -> float:
        """CPU seconds used; where the wall time runs out sooner, the same share of them."""
        return max(self._by_cpu(), self._by_wall())

    @property
    def waited(self) -> bool:
        """Whether the wall time runs out sooner than the CPU seconds."""
        return self._by_wall() > self._by_cpu()

    @property
    def left(self) -> float:
        """CPU seconds that are left; 0 when it is over."""
        return max(0.0, self.seconds - self.elapsed)

    @property
    def wall_left(self) -> float:
        """Wall seconds that are left."""
        return max(0.0, self.wall - (time.monotonic() - self._began))

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0

    def part(self, share: float) -> Self:
        """A budget of its own for one phase: a share of what is left."""
        return type(self)(share * self.left, wall=share * self.wall_left, used=self._used)

    def _by_cpu(self) -> float:
        return self._used() - self._cpu

    def _by_wall(self) -> float:
        wall = time.monotonic() - self._began
        return self.seconds * wall / self.wall if self.wall else self.seconds
