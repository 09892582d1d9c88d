"""How are candidates fed to the worker, and what is made of its answers?"""

import asyncio
import re
import time
from collections import deque
from collections.abc import Iterator
from itertools import islice
from statistics import median, quantiles
from typing import Final

from kotef.coders.repair.budget import Budget
from kotef.coders.repair.candidates import Candidate, first_order, needed, pairs
from kotef.coders.repair.disagree import COMPARED, Compared, disagreements
from kotef.coders.repair.model import Ending, Hints, Patch, Repair
from kotef.coders.repair.near import NearMisses
from kotef.coders.repair.rank import as_patch, cost, diff_of, ranked
from kotef.coders.repair.request import cpu_seconds
from kotef.coders.repair.scope import Types
from kotef.coders.repair.session import Answer, Session
from kotef.coders.repair.survey import Ground
from kotef.coders.repair.units import is_undoable, size_of, units_of

_BATCH: Final = 24
_BATCH_CPU: Final = 0.25
"""CPU seconds one batch should take, or what counts as so many where its tests wait."""
_USUAL: Final = 0.005
"""CPU seconds expected of a test that does not end without an edit."""
_QUICK: Final = 0.015
"""CPU seconds every candidate has, besides five times what the failing tests take without it."""
_TICKS: Final = 3
"""The same in ticks of a clock that is coarse, of which the shortest test took one."""
_LONG: Final = 0.1
"""CPU seconds that are taken for a usual passing test at most."""
_LADDER: Final = 8.0
"""How much longer those get in the end that ran out of time."""
_COMPILE: Final = 1.5e-6
"""CPU seconds to compile one byte, generously."""
_KEPT: Final = 10
_COUNTING: Final = 0.5
"""Seconds for counting the edits that were not tried."""
_LONGEST: Final = 8.0
"""Seconds that comparing may take."""
_COMPARING: Final = 5.0
"""Seconds kept for comparing what passes, if that is not more than the part of the time below."""
_SHARE_OF_COMPARING: Final = 0.25
_RIVAL: Final = 0.4
"""A plausible edit that costs this much more than the best is no serious rival."""
_AWAY: Final = 0.8
"""Cost, next to its rivals, of an edit in a function that is not evaluated where the tests fail."""
_AFTER: Final = 1.5
"""Once something passes, the search goes on for this many CPU seconds, or as long as it took, if that is longer."""
_MORE: Final = 500
"""Candidates tried after the first that passes, in three times that time at most: rivals shall not depend on load."""
_LIKELY: Final = 2.0
"""Cost up to which an edit is a usual one."""
_PATIENCE: Final = 3
"""How much longer the search goes on where only unusual edits pass."""
_BLIND: Final = 80
"""Cheapest edits that are paired among themselves when nothing else is left."""
_PARTNERS: Final = 400
_SHARE: Final = 60
"""Candidates of one kind before the other kind has its turn."""
_BLINDLY: Final = 2
"""Failing tests that are run of an edit that makes none of them pass."""
_APART: Final = 0.25
"""Share of the time for edits that need a process of their own, as long as there are others."""
_UNBEGUN: Final = 2
"""Rounds that may end before their first candidate; after that each candidate gets a process of its own."""
_TURN: Final = 0.4
"""Part of the time after which pairs get their turn, if single edits have brought near misses only."""


class Hunt:
    """One search over a surveyed ground."""

    def __init__(self, session: Session, ground: Ground, budget: Budget, *, jobs: int, stop_after: int) -> None:
        self._session = session
        self._ground = ground
        self._budget = budget
        self._start = budget.elapsed
        self._most = budget.seconds - min(_COMPARING, _SHARE_OF_COMPARING * budget.left)
        self._edits = first_order(ground.suspects)
        self._singles = 0
        self._space = (0, False)
        self._jobs = max(1, jobs)
        self._stop_after = stop_after
        self._passing: list[Candidate] = []
        self._near = NearMisses(ground.failing)
        self._slow: list[Candidate] = []
        self._tried = 0
        self._first = 0.0
        self._first_cpu: float | None = None
        self._tried_first = 0
        self._exhausted = False
        self._again: deque[Candidate] = deque()
        self._single = False
        self._unbegun = 0
        self._apart: deque[Candidate] = deque()
        """Edits of whole modules, which cannot be undone."""
        self._apart_cpu = 0.0
        self._factor = 1.0
        self._blindly = _BLINDLY
        self._cheap: list[Candidate] = []
        self._compared = Compared(0, [])
        self._rivals = 0
        times = [ground.ran[test] for test in ground.failing]
        usual = median([ground.ran[test].cpu for test in ground.others] or [_USUAL])
        unending = [run for run in times if run.state != "failed"]
        self._failing_cpu = sum(run.cpu for run in times if run.state == "failed") + usual * min(3, len(unending))
        self._failing_wall = sum(run.wall if run.state == "failed" else _USUAL for run in times)
        passing = [ground.ran[test].cpu for test in ground.others if ground.ran[test].cpu > 0]
        self._allowance = max(_QUICK, _TICKS * min(passing, default=0.0))
        if len(passing) > 1:  # a test that fails at once may take as long as others once it passes
            self._allowance += min(_LONG, quantiles(passing, n=10)[-1]) * min(len(times), self._looks())
        by_wall = self._failing_wall * budget.seconds / budget.wall if budget.wall else 0.0
        self._expected = max(self._failing_cpu, by_wall) * min(1.0, _BLINDLY / len(times))
        """What an edit that fixes nothing takes of the budget: it is not run with all the failing tests."""
        self._all_cpu = 0.5 + 4 * sum(ground.ran[test].cpu for test in ground.others)
        self._all_wall = 2.0 + 4 * sum(ground.ran[test].wall for test in ground.others)
        failed_lines = {test: _test_line(ground, test) for test in ground.failing}
        self._baseline_lines = {test: line for test, line in failed_lines.items() if line}

    @property
    def plausible(self) -> bool:
        """Whether anything passed."""
        return bool(self._passing)

    async def run(self) -> None:
        """Search until enough passes or nothing is left to try; to be cancelled when time is up."""
        await self._session.set_jobs(self._jobs)
        source = self._ordered()
        workers = [asyncio.create_task(self._work(source)) for _ in range(self._jobs + 1)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        if self.plausible:
            await self._compare()

    def outcome(self) -> Repair:
        """What was found up to now."""
        passing = self._ranked()
        if not self.plausible:
            self._space = self._counted()
        ground = self._ground
        patches: list[Patch] = [as_patch(candidate, ground.sources, ground.traces) for candidate in passing[:COMPARED]]
        return Repair(
            patches=tuple(patches),
            plausible=len(passing),
            tried=self._tried,
            compared=self._rivals if self._compared.asked else 0,
            ending=self._ending(),
            singles=self._singles,
            space=self._space[0],
            counted=self._space[1],
            unread=ground.unread,
            left_out=tuple(
                dict.fromkeys(
                    f"{suspect.scope.source.path}:{line}"
                    for suspect in ground.suspects
                    for line in suspect.scope.unplaced
                    if line in suspect.lines
                )
            ),
            hints=self._hints(),
            disagreements=tuple(self._compared.differing),
            first_cpu_seconds=self._first_cpu,
        )

    def _ending(self) -> Ending:
        if self.plausible:
            return "found"
        return "exhausted" if self._exhausted else "budget"

    def _counted(self) -> tuple[int, bool]:
        """How many single edits there are, and whether that is all: counting must not take long either."""
        last, count = time.monotonic() + _COUNTING, self._singles
        for _ in self._edits:
            count += 1
            if time.monotonic() > last:
                return count, False
        return count, True

    def _ranked(self) -> list[Candidate]:
        """What passed, best first, each program once."""
        return sorted(ranked(self._passing, self._ground.sources), key=self._cost)

    def _cost(self, candidate: Candidate) -> float:
        """How unlikely an edit is next to others that pass: by its kind, its size, and where it stands."""
        return cost(candidate, self._ground.sources) + self._distance(candidate)

    def _ordered(self) -> Iterator[Candidate]:
        """Single edits and pairs that cure everything between them, by cost; then other pairs, and what was too slow.

        Near misses bring pairs forward, by turns with single edits.
        """
        turn = self._start + _TURN * (self._most - self._start)
        early: Iterator[Candidate] = iter(())
        for number, candidate in enumerate(self._edits):
            self._singles = number + 1
            if len(self._cheap) < _PARTNERS:
                self._cheap.append(candidate)
            yield from self._near.complete(candidate.cost)
            yield candidate
            if turn and self._budget.elapsed > turn and not self.plausible:
                turn = 0.0
                yield from self._looked_at_again()
                early = self._near.with_others(self._partners())
            if number % _SHARE == 0:
                yield from islice(early, _SHARE)
        if not self.plausible:
            yield from self._near.complete(float("inf"))
            self._factor = _LADDER
            yield from self._slow
            self._factor = 1.0
            yield from early
            yield from self._near.with_others(self._partners())
            yield from pairs(self._cheap[:_BLIND], self._cheap[:_BLIND])

    def _looked_at_again(self) -> Iterator[Candidate]:
        """The cheapest edits, now with more of the failing tests; then the pairs that this brought."""
        self._blindly = self._looks()
        if self._blindly > _BLINDLY:
            yield from [each for each in self._cheap if each not in self._near and each not in self._slow]
        self._blindly = _BLINDLY
        yield from self._near.complete(float("inf"))

    def _partners(self) -> list[Candidate]:
        """Second edits, cheapest first; among them some on lines that only run once the first is made."""
        dormant = list(islice(first_order(self._ground.dormant), _PARTNERS // 2))
        return sorted([*self._cheap, *dormant], key=lambda candidate: candidate.cost)

    def _over(self) -> bool:
        now = self._budget.elapsed
        if now >= self._most or len(self._passing) >= self._stop_after:
            return True
        if not self.plausible:
            return False
        patience = 1 if min(candidate.cost for candidate in self._passing) <= _LIKELY else _PATIENCE
        after = patience * max(_AFTER, self._first - self._start)
        enough = self._tried >= self._tried_first + patience * _MORE or now > self._first + 3 * after
        return now > self._first + after and enough

    async def _work(self, source: Iterator[Candidate]) -> None:
        while not self._over():
            batch = self._next_batch(source)
            if not batch:
                self._exhausted = True
                return
            if len(batch) == 1:
                await self._try_alone(batch[0])
            else:
                await self._screen(batch)

    def _next_batch(self, source: Iterator[Candidate]) -> list[Candidate]:
        """The next candidates that are undone in turn; or one that needs a process of its own, which takes long."""
        if self._apart and self._apart_cpu <= _APART * (self._budget.elapsed - self._start):
            return [self._apart.popleft()]
        batch: list[Candidate] = []
        most, expected = 1 if self._single else _BATCH, 0.0
        while len(batch) < most and expected < _BATCH_CPU:
            candidate = self._again.popleft() if self._again else next(source, None)
            if candidate is None:
                break
            units = units_of(candidate, self._ground.sources)
            if not is_undoable(units):
                self._apart.append(candidate)
                continue
            batch.append(candidate)
            expected += self._expected + 0.004 + _COMPILE / 2 * size_of(units)
        if not batch and self._apart:
            return [self._apart.popleft()]
        return batch

    def _limits(self, count: int, size: int, factor: float) -> dict[str, float]:
        each = factor * (self._allowance + 5 * self._failing_cpu + _COMPILE * size)
        wall = 1.5 + factor * 4 * self._failing_wall
        return {"each": each, "cpu": each * count + self._all_cpu, "cpu_all": self._all_cpu, "wall": wall}

    async def _screen(self, batch: list[Candidate]) -> None:
        ground = self._ground
        units = [units_of(candidate, self._ground.sources) for candidate in batch]
        size = max(size_of(made) for made in units)
        request = {"do": "screen", "candidates": units, "failing": list(ground.failing), **self._looking()}
        request |= {"modules": list(ground.modules), "control": ground.control}
        answer = await self._session.ask({**request, **self._limits(len(batch), size, self._factor)})
        told = _Screened(answer, len(batch))
        self._unbegun += told.unbegun
        if told.polluted or self._unbegun > _UNBEGUN:
            self._single = True
        self._again.extend(batch[number] for number in told.repeat)
        for number in told.done:
            self._tried += 1
            self._note(batch[number], answer, number)
            if number in told.late and told.all_passed(number):
                await self._try(batch[number], _LADDER)
            elif number in told.late and self._factor == 1.0:
                self._slow.append(batch[number])
        for number in told.promising:
            await self._try(batch[number], self._factor)

    async def _try_alone(self, candidate: Candidate) -> None:
        before = self._session.cpu
        await self._try(candidate, self._factor)
        if not is_undoable(units_of(candidate, self._ground.sources)):
            self._apart_cpu += self._session.cpu - before

    async def _try(self, candidate: Candidate, factor: float) -> None:
        answer = await self._trial(candidate, factor)
        self._tried += 1
        if _is_plausible(answer):
            self._passing += await needed(candidate, self._passes)
            if self._first_cpu is None:
                self._first, self._tried_first = self._budget.elapsed, self._tried
                self._first_cpu = cpu_seconds() + self._session.cpu
        elif ["fixed"] not in answer.told:
            self._note(candidate, answer, 0)
            if answer.ended == "time" and factor == 1.0:
                self._slow.append(candidate)

    async def _trial(self, candidate: Candidate, factor: float) -> Answer:
        ground = self._ground
        units = units_of(candidate, ground.sources)
        request = {"do": "try", "units": units, "failing": list(ground.failing), "others": list(ground.others)}
        limits = self._limits(1, size_of(units), factor)
        wall = limits["wall"] + self._all_wall
        return await self._session.ask({**request, **limits, **self._looking(), "wall": wall})

    async def _passes(self, candidate: Candidate) -> bool:
        """Whether every test passes with it, with the time that a slow edit gets."""
        self._tried += 1
        return _is_plausible(await self._trial(candidate, _LADDER))

    def _looking(self) -> dict[str, int]:
        return {"looks": self._looks(), "blind": self._blindly}

    def _looks(self) -> int:
        """Failing tests that are run even if the first fails, to see what an edit does fix."""
        return max(
            1, min(len(self._ground.failing), int(0.03 / (self._failing_cpu / len(self._ground.failing) + 0.001)))
        )

    def _note(self, candidate: Candidate, answer: Answer, number: int) -> None:
        """Keep it if it makes some of the failing tests pass, or lets one come further."""
        passed = {word[2] for word in answer.told if word[0] == "passed" and word[1] == number}
        further = sum(
            1
            for word in answer.told
            if word[0] == "failed" and word[1] == number and word[3] > self._baseline_lines.get(word[2], 1 << 30)
        )
        self._near.add(candidate, frozenset(passed), further)

    def _hints(self) -> Hints:
        ground = self._ground
        places = [
            (score, suspect.scope.source, line, suspect.scope.types)
            for suspect in ground.suspects
            if suspect.scope.unit is not None
            for line, score in suspect.lines.items()
        ]
        places.sort(key=lambda place: -place[0])
        suspicious = tuple(
            (source.path, line, round(score, 3), source.line_text(line), _types_on(source.line_text(line), types))
            for score, source, line, types in places[:_KEPT]
        )
        total = len(ground.failing)
        near = [(diff_of(candidate, ground.sources), cured, total) for candidate, cured in self._near.best(5)]
        return Hints(suspicious, tuple(near))

    def _distance(self, candidate: Candidate) -> float:
        """What an edit is less plausible by, next to others that pass, for standing away from where the tests fail."""
        near = self._ground.evaluated
        away = any(unit is not None and unit not in near for unit in candidate.units)
        return _AWAY if near and away else 0.0

    async def _compare(self) -> None:
        best = self._ranked()[:COMPARED]
        costs = [self._cost(candidate) for candidate in best]
        rivals = [candidate for candidate, each in zip(best, costs, strict=True) if each <= costs[0] + _RIVAL]
        seconds = min(_LONGEST, 0.8 * self._budget.left)
        self._compared = await disagreements(self._session, self._ground, rivals, seconds=seconds)
        self._rivals = len(rivals)


class _Screened:
    """Who in a batch was judged, and who has to be run again."""

    def __init__(self, answer: Answer, count: int) -> None:
        self._words = words = answer.told
        self.done = [word[1] for word in words if word[0] in {"end", "invalid"}]
        self.late = {word[1] for word in words if word[0] == "time"}
        """Out of time; what ended its process counts too."""
        begun = [word[1] for word in words if word[0] == "begin"]
        stopped = next((word[1] for word in words if word[0] == "stop"), count - 1)
        self.polluted = ["control", False] in words or (answer.ended != "done" and begun[-1:] == [count])
        if answer.ended != "done" and begun and begun[-1] not in self.done:
            stopped = begun[-1]
            self.done.append(stopped)
            self.late |= {stopped} if answer.ended == "time" else set()
        self.unbegun = answer.ended != "done" and not begun
        """Whether it did not even come to the first: no candidate is to blame."""
        if self.unbegun:
            stopped = -1
        self.promising = [number for number in self.done if number not in self.late and self.all_passed(number)]
        self.done = [number for number in self.done if number not in self.promising]
        self.repeat = list(range(stopped + 1, count))
        if self.polluted:
            self.done, self.promising, self.repeat = [], [], list(range(count))

    def all_passed(self, number: int) -> bool:
        """Whether a failing test passed with it, and none failed that was run."""
        own = [word[0] for word in self._words if word[0] in {"passed", "failed"} and word[1] == number]
        return bool(own) and "failed" not in own


def _is_plausible(answer: Answer) -> bool:
    return ["plausible"] in answer.told and answer.ended == "done"


def _test_line(ground: Ground, test: int) -> int:
    path = ground.tests[test].partition("::")[0]
    return next((line for file, line in ground.ran[test].frames if file == path), 0)


def _types_on(text: str, types: Types) -> str:
    names = dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text))
    return ", ".join(f"{name}: {' | '.join(sorted(types[name]))}" for name in names if types.get(name))
