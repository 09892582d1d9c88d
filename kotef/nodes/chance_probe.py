"""Probe for chance: the targets pass again and again, between the other probes and after them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from kotef.checks.probe import ProbeResult, not_probed
from kotef.checks.types import RED, CommandResult
from kotef.nodes.control_probe import edit_alarm, edited_files
from kotef.nodes.probe_bench import Bench, OutOfTimeError, ProbeUnit, status_in, varied

ROUNDS: Final = 12
"""How often targets are run again, alone, to find passes by chance."""
SURE_ROUNDS: Final = 3
"""Rounds of targets alone that are always made (one for the whole check); more if time allows."""
_SHOWN: Final = 3


@dataclass
class ChanceRounds:
    """Rounds in which the targets must pass, in surroundings that differ each time.

    They are spread over the wrong answers at random, and look like them: a product that counts its runs, or looks at
    its environment or at the text of the tests, cannot know which of them it has to answer honestly.
    """

    unit: ProbeUnit
    bench: Bench
    made: int = 0
    ended: ProbeResult | None = None
    """The alarm, or the reason why no more rounds are made."""
    _places: list[int] = field(default_factory=list)

    def spread(self, others: int) -> None:
        """Distribute the rounds at random among this many other runs."""
        count = min(ROUNDS, max(self._sure(), self.bench.affordable() - others))
        self._places = sorted(self.bench.rng.sample(range(count + others), count))
        # the n-th round is before the other run number place - n
        self._places = [place - number for number, place in enumerate(self._places)]

    async def before(self, other: int) -> None:
        """Make the rounds that precede the other run with this number, counted from 0."""
        while self._places and self._places[0] <= other and self.ended is None:
            self._places.pop(0)
            try:
                await self.make()
            except OutOfTimeError:
                self._places.clear()

    async def make(self) -> None:
        """Make one round; sets `ended` if it is the last. Raises OutOfTimeError for the first."""
        unit, bench = self.unit, self.bench
        texts = edited_files(unit, bench) if unit.is_edited and bench.rng.getrandbits(1) else {}
        with bench.with_contents(texts):
            result = await bench.run(varied(unit, bench.rng), "chance")
        self.made += 1
        if unit.targets and result.tests is None:
            self.ended = not_probed("chance", unit.check.name, "without a report")
        elif not unit.targets and not result.passed and result.exit_code == 0:
            self.ended = not_probed("chance", unit.check.name, "nothing is run a second time")
        elif flipped := _red(unit, result):
            self.ended = await self._by_the_edit(flipped) if texts else await self._by_chance(flipped, result)

    async def rest(self) -> ProbeResult:
        """Make the remaining rounds, as far as time allows; returns the finding of all."""
        while self.made < ROUNDS and self.ended is None:
            if self.made >= self._sure() and not self.bench.affords():
                break
            try:
                await self.make()
            except OutOfTimeError:
                if not self.made:
                    raise
                break
        fine = ProbeResult(name="chance", check=self.unit.check.name, value="fine", told="green again each time")
        return self.ended or fine

    def _sure(self) -> int:
        return SURE_ROUNDS if self.unit.is_part else 1

    async def _by_the_edit(self, flipped: Sequence[str]) -> ProbeResult | None:
        """The alarm if another harmless edit makes the same targets red, which are green without it.

        One edit alone may be at fault itself.
        """
        texts = edited_files(self.unit, self.bench)
        with self.bench.with_contents(texts):
            again = _red(self.unit, await self.bench.run(varied(self.unit, self.bench.rng), "chance-edited"))
        plain = await self.bench.run(varied(self.unit, self.bench.rng), "chance-plain")
        if by_chance := [target for target in _red(self.unit, plain) if target in flipped]:
            return await self._by_chance(by_chance, plain)
        lost = [target for target in flipped if target in again]
        return edit_alarm(self.unit, lost, texts) if lost else None

    async def _by_chance(self, flipped: Sequence[str], result: CommandResult) -> ProbeResult:
        """The alarm for targets that were green at the verdict and are red now."""
        unit = self.unit
        named = ", ".join(flipped[:_SHOWN]) or unit.check.name
        with_ci = await self.bench.run(unit, "chance-control")
        if any(status_in(with_ci, target) != "passed" for target in flipped):
            sentence = f"passes only by chance: {named}"
        else:
            sentence = f"green only sometimes, or only with the hash seed or CI variables it was judged with: {named}"
        return ProbeResult(
            name="chance", check=unit.check.name, value="alarm", told=sentence, evidence=(result.summary,)
        )


async def red_alone_probe(unit: ProbeUnit, bench: Bench) -> ProbeResult | None:
    """The alarm if targets that were red alone pass now; a test that needs other tests never does."""
    again = await bench.run(unit, "chance-alone")
    flipped = [target for target in unit.targets if status_in(again, target) == "passed"]
    if not flipped:
        return None
    sentence = f"passes only by chance: {', '.join(flipped[:_SHOWN])}"
    return ProbeResult(name="chance", check=unit.check.name, value="alarm", told=sentence)


def _red(unit: ProbeUnit, result: CommandResult) -> list[str]:
    """The red targets; an empty name if the check lists no tests."""
    return [target for target in unit.targets or ("",) if status_in(result, target) in RED]
