"""The bench of the probes: the tests they run, the tree they change for a moment, and the time they may take."""

import random
from collections.abc import Awaitable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Final, Protocol

from kotef.checks.probe import ProbeName, ProbeResult, not_probed
from kotef.checks.single_test_command import alone
from kotef.checks.types import Check, CommandResult, TestStatus
from kotef.checks.verdict import Results
from kotef.checks.verification import Verification
from kotef.deps import RunContext
from kotef.errors import KotefError
from kotef.nodes.file_swap import standing_in

MAX_TARGETS: Final = 20
"""Targets probed per check; if there are more, a sample."""

MANY: Final = 1000
"""A number above any number of runs."""
ALWAYS: Final = 6
"""Runs that are always made while the run has time, also on a loaded machine."""


SHORT: Final = 6.0
"""Seconds that the optional runs may take even where the tests are faster."""
PART: Final = 0.6
"""Fraction of the tests' time that probe runs may take; preparing them needs the rest."""


class Workbench(Protocol):
    """A tree whose files can have other contents for a moment, and the checks that judge it."""

    rng: random.Random

    def affords(self) -> bool:
        """Whether there is time for one more optional run."""
        ...

    def alone(self, check: Check, targets: Sequence[str]) -> str | None:
        """The command line for these tests of a check; None if there is none."""
        ...

    async def run(self, unit: "ProbeUnit", what: str) -> CommandResult:
        """Judge the unit on the current tree. Raises OutOfTimeError."""
        ...

    def with_contents(self, texts: Mapping[str, bytes]) -> AbstractContextManager[None]:
        """Other contents for some files."""
        ...

    def read(self, path: str) -> bytes | None:
        """A file of the tree; None if there is none."""
        ...

    def paths(self) -> frozenset[str]:
        """Files of the tree."""
        ...


@dataclass(frozen=True, slots=True)
class ProbeUnit:
    """Targets of one check, and the command that judges them."""

    check: Check
    targets: tuple[str, ...]
    """Ids from the check's report; empty if it lists no tests: the check itself is the target."""
    command: str
    """The command for the targets alone, or the check's own."""
    is_part: bool
    red_alone: tuple[str, ...] = ()
    """Targets that are red when run alone; then the unit is the whole check."""
    is_edited: bool = False
    """Whether a harmless edit of the tests was seen to leave them green; then all that is tried looks like one."""
    is_varied: bool = False
    """Whether each run has different surroundings, see `varied`."""

    def whole(self) -> "ProbeUnit":
        """The same targets, judged by the whole check."""
        return replace(self, command=self.check.command, is_part=False)

    def only(self, targets: Collection[str], bench: Workbench) -> "ProbeUnit":
        """The unit for some of the targets."""
        kept = tuple(target for target in self.targets if target in targets)
        command = bench.alone(self.check, kept) if self.is_part else None
        return replace(self, targets=kept, command=command or self.command)


class OutOfTimeError(Exception):
    """The time for probes is used up."""


async def guarded(name: ProbeName, check: str, act: Awaitable[ProbeResult]) -> ProbeResult:
    """The finding of the probe; a crash is not a finding."""
    try:
        return await act
    except OutOfTimeError:
        return not_probed(name, check, "the time for probes was used up")
    except (KotefError, OSError, ValueError, RecursionError) as error:
        return not_probed(name, check, f"{type(error).__name__}: {error}"[:100])


@dataclass
class Bench:
    """The tree of a green verification, on which probes are run one after the other."""

    context: RunContext
    verification: Verification
    before: str
    """The tree before the run."""
    tree: str
    """The tree that was judged."""
    seconds: float
    """Seconds that all probes together may take."""
    usual: float
    """What the tests took: runs that only add to what is proved are made while all runs took clearly less."""
    rng: random.Random
    without_change: list[CommandResult] = field(default_factory=list[CommandResult], init=False)
    """What the counter-proofs ran without the change, or a part of it."""
    _runs: int = field(default=0, init=False)
    _spent: float = field(default=0.0, init=False)

    def affords(self) -> bool:
        """Whether one more run of average length keeps the total within the limits; see `affordable`."""
        return self.affordable() >= 1

    def affordable(self) -> int:
        """How many more runs of average length keep the total within `PART` of the tests' time, or within `SHORT`."""
        if not self._spent:
            return MANY
        left = max(SHORT, PART * self.usual) - self._spent
        return min(MANY, max(0, int(left / (self._spent / self._runs))))

    def alone(self, check: Check, targets: Sequence[str]) -> str | None:
        """The command line for these tests of a check."""
        return alone(check.command, targets, exists=lambda path: (self.context.root / path).exists())

    def unit(self, check: Check, targets: Sequence[str]) -> ProbeUnit:
        """The smallest unit there is for these targets."""
        chosen = list(targets)
        if len(chosen) > MAX_TARGETS:
            chosen = self.rng.sample(sorted(chosen), MAX_TARGETS)
        command = self.alone(check, chosen) if chosen else None
        return ProbeUnit(check, tuple(chosen), command or check.command, is_part=command is not None)

    async def run(self, unit: ProbeUnit, what: str) -> CommandResult:
        """Judge the unit on the current tree. Raises OutOfTimeError."""
        usual = next((check.seconds for check in self.verification.checks if check.name == unit.check.name), 0.0)
        used_up = self.seconds <= 0 and self._runs >= ALWAYS
        if used_up or self.context.clock.left() < (1.0 if unit.is_part else usual):
            raise OutOfTimeError
        check, name = self._named(unit, what)
        return self.book(await self.context.executor.run_check(check, name))

    async def run_in_copy(self, unit: ProbeUnit, what: str, *, before: str | None) -> CommandResult:
        """Judge the unit in a copy of the workspace, see `IgnoredFiles`. Raises OutOfTimeError."""
        if self.seconds <= 0:
            raise OutOfTimeError
        check, name = self._named(unit, what)
        return self.book(await self.context.surroundings.run(check, name, before))

    def book(self, result: CommandResult) -> CommandResult:
        """The result; its seconds are deducted from the remaining time."""
        self._runs += 1
        self.seconds -= result.seconds
        self._spent += result.seconds
        return result

    def _named(self, unit: ProbeUnit, what: str) -> tuple[Check, str]:
        """The check with the unit's command, and the name of its log."""
        check = unit.check
        if unit.command != check.command:
            check = check.model_copy(update={"command": unit.command})
        return check, f"visit-{self.verification.visit}-{unit.check.name}-probe-{self._runs + 1}-{what}"

    @contextmanager
    def with_contents(self, texts: Mapping[str, bytes]) -> Iterator[None]:
        """Other contents for some files."""
        with standing_in(self.context, tree=self.tree, other=self.tree, paths=(), texts=texts):
            yield

    @contextmanager
    def as_before(self, paths: Collection[str]) -> Iterator[None]:
        """Some files as they were before the run."""
        with standing_in(self.context, tree=self.tree, other=self.before, paths=paths):
            yield

    def read(self, path: str) -> bytes | None:
        """A file of the tree that was judged."""
        return self.context.snapshots.read(self.tree, path) if path in self.paths() else None

    def paths(self) -> frozenset[str]:
        """Files of the tree that was judged."""
        return self.context.snapshots.paths(self.tree)


def varied(unit: ProbeUnit, rng: random.Random) -> ProbeUnit:
    """The unit with another hash seed, other memory addresses, and without the variables of a CI service."""
    addresses = rng.choice(("", " PYTHONMALLOC=malloc"))
    seed = rng.randrange(1, 4_000_000_000)
    prefix = f"unset CI GITHUB_ACTIONS && export PYTHONHASHSEED={seed}{addresses}"
    return replace(unit, command=f"{prefix} && {unit.command}")


def status_in(result: CommandResult, target: str) -> TestStatus | None:
    """The status of the target; None if the report does not list it. Without a report, the status of the command."""
    if result.tests is None or not target:
        return "passed" if result.passed else "failed"
    return result.tests.get(target)


def seed_of(results: Results, tree: str) -> int:
    """A number that nothing that ran could know, and that a replay gets again: it is made of how long the checks took.

    Their seconds have digits down to microseconds and are known only after they have ended.
    """
    timings = [f"{check.name} {result.seconds!r}" for check, result in results]
    return int.from_bytes(sha256("\n".join([tree, *timings]).encode()).digest()[:8])
