"""Limits for a candidate, derived from what the tests use without it."""

from statistics import median, quantiles
from typing import Final

from kotef.repair.budget import SearchBudget
from kotef.repair.preflight import SearchGround

BLINDLY: Final = 2
"""Failing tests that are run of an edit that makes none of them pass."""
_USUAL: Final = 0.005
"""CPU seconds expected of a test that does not end without an edit."""
_QUICK: Final = 0.015
"""CPU seconds every candidate has, besides five times what the failing tests take without it."""
_TICKS: Final = 3
"""The same in ticks of a clock that is coarse, of which the shortest test took one."""
_LONG: Final = 0.1
"""CPU seconds that are taken for a usual passing test at most."""
_COMPILE: Final = 1.5e-6
"""CPU seconds to compile one byte, generously."""
_OVERHEAD: Final = 0.004
"""CPU seconds that trying any candidate takes."""
_LOOKING: Final = 0.03
"""CPU seconds for failing tests that are run even if the first fails."""


class CandidateLimits:
    """CPU and wall seconds of candidates."""

    def __init__(self, ground: SearchGround, budget: SearchBudget) -> None:
        times = [ground.ran[test] for test in ground.failing]
        usual = median([ground.ran[test].cpu for test in ground.others] or [_USUAL])
        unending = [run for run in times if run.state != "failed"]
        self._failing_cpu = sum(run.cpu for run in times if run.state == "failed") + usual * min(3, len(unending))
        self._failing_wall = sum(run.wall if run.state == "failed" else _USUAL for run in times)
        self.looks = max(1, min(len(times), int(_LOOKING / (self._failing_cpu / len(times) + 0.001))))
        """Failing tests that are run even if the first fails, to see what an edit does fix."""
        passing = [ground.ran[test].cpu for test in ground.others if ground.ran[test].cpu > 0]
        self._allowance = max(_QUICK, _TICKS * min(passing, default=0.0))
        if len(passing) > 1:  # a test that fails at once may take as long as others once it passes
            self._allowance += min(_LONG, quantiles(passing, n=10)[-1]) * min(len(times), self.looks)
        by_wall = self._failing_wall * budget.seconds / budget.wall if budget.wall else 0.0
        self._expected = max(self._failing_cpu, by_wall) * min(1.0, BLINDLY / len(times))
        self._all_cpu = 0.5 + 4 * sum(ground.ran[test].cpu for test in ground.others)
        self.all_wall = 2.0 + 4 * sum(ground.ran[test].wall for test in ground.others)
        """Wall seconds for the tests that pass without an edit."""

    def expected(self, size: int) -> float:
        """What an edit that fixes nothing takes of the budget: it is not run with all the failing tests."""
        return self._expected + _OVERHEAD + _COMPILE / 2 * size

    def of(self, count: int, size: int, factor: float) -> dict[str, float]:
        """Limits of a batch of so many candidates, the largest with so many characters to compile."""
        each = factor * (self._allowance + 5 * self._failing_cpu + _COMPILE * size)
        wall = 1.5 + factor * 4 * self._failing_wall
        return {"each": each, "cpu": each * count + self._all_cpu, "cpu_all": self._all_cpu, "wall": wall}
