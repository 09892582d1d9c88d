"""The loop that feeds candidates to the worker and evaluates its answers."""

import asyncio
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Final

from kotef.repair.batch_verdicts import Screening
from kotef.repair.budget import SearchBudget
from kotef.repair.candidates import Candidate, first_order, left_over, needed, pairs
from kotef.repair.differential import COMPARED, Compared, disagreements
from kotef.repair.fault_localization import runs
from kotef.repair.hints import hints_of
from kotef.repair.limits import BLINDLY, CandidateLimits
from kotef.repair.near_misses import NearMisses
from kotef.repair.options import cpu_seconds
from kotef.repair.plausibility import RIVAL, Plausibility
from kotef.repair.preflight import SearchGround
from kotef.repair.rank import as_patch, ranked
from kotef.repair.session import WorkerAnswer, WorkerSession
from kotef.repair.swallowed_errors import raising
from kotef.repair.types import Ending, Patch, SearchResult
from kotef.repair.wire_format import is_undoable, size_of, units_of

_BATCH: Final = 24
_BATCH_CPU: Final = 0.25
"""CPU seconds one batch should take, or what counts as so many where its tests wait."""
_LADDER: Final = 8.0
"""How much longer those get in the end that ran out of time."""
_LONGEST: Final = 8.0
"""Seconds that comparing may take."""
_COMPARING: Final = 5.0
"""Seconds kept for comparing what passes, if that is not more than the part of the time below."""
_SHARE_OF_COMPARING: Final = 0.25
_AFTER: Final = 1.5
"""Once something passes, the search continues for this many CPU seconds, or as long as it took, if that is longer."""
_MORE: Final = 500
"""Candidates tried after the first that passes, in three times that time at most: rivals shall not depend on load."""
_LIKELY: Final = 2.0
"""Cost up to which an edit is a usual one."""
_PATIENCE: Final = 3
"""How much longer the search continues where only unusual edits pass."""
_BLIND: Final = 80
"""Cheapest edits that are paired among themselves when nothing else is left."""
_PARTNERS: Final = 400
_SHARE: Final = 60
"""Candidates of one kind before the other kind has its turn."""
_APART: Final = 0.25
"""Share of the time for edits that need a process of their own, as long as there are others."""
_UNBEGUN: Final = 2
"""Rounds that may end before their first candidate; after that each candidate gets a process of its own."""
_UNSTEADY: Final = 40
"""Tests that may turn out to fail only after others, or only at times."""
_LATE: Final = 16
"""Edits out of time that are judged again because they are at least as plausible as what passed."""
_TURN: Final = 0.4
"""Part of the time after which pairs get their turn, if single edits have brought near misses only."""


class Hunt:
    """One search over a surveyed ground."""

    def __init__(
        self, session: WorkerSession, ground: SearchGround, budget: SearchBudget, *, jobs: int, stop_after: int
    ) -> None:
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
        self._plausibility = Plausibility(ground.sources, ground.evaluated, ground.in_traceback)
        self._near = NearMisses(ground.failing)
        self._slow: list[Candidate] = []
        self._unsteady: set[int] = set()
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
        self._blindly = BLINDLY
        self._cheap: list[Candidate] = []
        self._compared = Compared(0, [])
        self._rivals = 0
        self._limits = CandidateLimits(ground, budget)
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
            await self._judge_late()
            await self._compare()

    async def _judge_late(self) -> None:
        """Give more time to edits that ran out of it, if they are about as plausible as the best that passed.

        Being late is a matter of load as well, which must not decide between two edits.
        """
        best = min(self._plausibility.cost(candidate) for candidate in self._passing)
        late = sorted(self._slow, key=self._plausibility.cost)[:_LATE]
        for candidate in late:
            if self._budget.over or self._plausibility.cost(candidate) > best + RIVAL:
                return
            await self._try(candidate, _LADDER)

    def outcome(self) -> SearchResult:
        """What was found up to now."""
        passing = self._ranked()
        if not self.plausible:
            more, whole = left_over(self._edits)
            self._space = (self._singles + more, whole)
        ground = self._ground
        patches: list[Patch] = [
            as_patch(candidate, ground.sources, ground.traces, doubt=self._plausibility.doubt(candidate))
            for candidate in passing[:COMPARED]
        ]
        return SearchResult(
            patches=tuple(patches),
            plausible=len(passing),
            tried=self._tried,
            close=self._rivals,
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
            hints=hints_of(ground, self._near),
            disagreements=tuple(self._compared.differing),
            first_cpu_seconds=self._first_cpu,
        )

    def _ending(self) -> Ending:
        if self.plausible:
            return "found"
        return "exhausted" if self._exhausted else "budget"

    def _ranked(self) -> list[Candidate]:
        """What passed, best first, each program once."""
        return sorted(ranked(self._passing, self._ground.sources), key=self._plausibility.cost)

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
            while self._slow:
                yield self._slow.pop(0)
            self._factor = 1.0
            yield from early
            yield from self._near.with_others(self._partners())
            yield from pairs(self._cheap[:_BLIND], self._cheap[:_BLIND])

    def _looked_at_again(self) -> Iterator[Candidate]:
        """The cheapest edits, now with more of the failing tests; then the pairs that this brought."""
        self._blindly = self._limits.looks
        if self._blindly > BLINDLY:
            yield from [each for each in self._cheap if each not in self._near and each not in self._slow]
        self._blindly = BLINDLY
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
        usual = [candidate for candidate in self._passing if candidate.cost <= _LIKELY]
        patience = 1 if any(not self._plausibility.doubt(candidate) for candidate in usual) else _PATIENCE
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
            expected += self._limits.expected(size_of(units))
        if not batch and self._apart:
            return [self._apart.popleft()]
        return batch

    async def _screen(self, batch: list[Candidate]) -> None:
        ground = self._ground
        units = [units_of(candidate, self._ground.sources) for candidate in batch]
        size = max(size_of(made) for made in units)
        request = {"do": "screen", "candidates": units, "failing": list(ground.failing), **self._looking()}
        request |= {"modules": list(ground.modules), "control": ground.control}
        answer = await self._session.ask({**request, **self._limits.of(len(batch), size, self._factor)})
        screening = Screening(answer, len(batch))
        self._unbegun += screening.unbegun
        if screening.polluted or self._unbegun > _UNBEGUN:
            self._single = True
        self._again.extend(batch[number] for number in screening.repeat)
        for number in screening.done:
            self._tried += 1
            self._note(batch[number], answer, number)
            if number in screening.late and screening.all_passed(number):
                await self._try(batch[number], _LADDER)
            elif number in screening.late and self._factor == 1.0:
                self._slow.append(batch[number])
        for number in screening.promising:
            await self._try(batch[number], self._factor)

    async def _try_alone(self, candidate: Candidate) -> None:
        before = self._session.cpu
        await self._try(candidate, self._factor)
        if not is_undoable(units_of(candidate, self._ground.sources)):
            self._apart_cpu += self._session.cpu - before

    async def _try(self, candidate: Candidate, factor: float) -> None:
        answer = await self._judged(candidate, factor)
        self._tried += 1
        if _is_plausible(answer):
            self._passing += await needed(candidate, self._passes)
            if self._first_cpu is None:
                self._first, self._tried_first = self._budget.elapsed, self._tried
                self._first_cpu = cpu_seconds() + self._session.cpu
            return
        if answer.ended == "time" and factor == 1.0:
            self._slow.append(candidate)
        if ["fixed"] not in answer.words:
            self._note(candidate, answer, 0)

    async def _judged(self, candidate: Candidate, factor: float) -> WorkerAnswer:
        """What the tests say. One that fails, passes alone, and is not known to run the edit, judges no more."""
        answer = await self._trial(candidate, factor, self._others(candidate))
        while ["fixed"] in answer.words and len(self._unsteady) < _UNSTEADY:
            broken = [word[2] for word in answer.words if word[0] == "failed"][-1:]
            if not broken or broken[0] in self._ground.traces.whole:
                break
            if not _is_plausible(await self._trial(candidate, factor, broken)):
                break
            self._unsteady.update(broken)
            answer = await self._trial(candidate, factor, self._others(candidate))
        return answer

    async def _trial(self, candidate: Candidate, factor: float, others: list[int]) -> WorkerAnswer:
        ground = self._ground
        units = units_of(candidate, ground.sources)
        request = {"do": "try", "units": units, "failing": list(ground.failing), "others": others}
        limits = self._limits.of(1, size_of(units), factor)
        wall = limits["wall"] + self._limits.all_wall
        return await self._session.ask({**request, **limits, **self._looking(), "wall": wall})

    def _others(self, candidate: Candidate) -> list[int]:
        """Passing tests that an edit can break: those seen in the function, then those not watched to their end."""
        traces, units = self._ground.traces, [unit for unit in candidate.units if unit is not None]
        others = [test for test in self._ground.others if test not in self._unsteady]
        if len(units) < len(candidate.units):
            return others
        entering = [test for test in others if any(runs(traces.lines.get(test, {}), unit) for unit in units)]
        known = traces.whole.union(entering)
        return [*entering, *(test for test in others if test not in known)]

    async def _passes(self, candidate: Candidate) -> bool:
        """Whether every test passes with it, with the time that a slow edit gets."""
        self._tried += 1
        return _is_plausible(await self._judged(candidate, _LADDER))

    def _looking(self) -> dict[str, int]:
        return {"looks": self._limits.looks, "blind": self._blindly}

    def _note(self, candidate: Candidate, answer: WorkerAnswer, number: int) -> None:
        """Keep it if it makes some of the failing tests pass, or lets one come further."""
        passed = {word[2] for word in answer.words if word[0] == "passed" and word[1] == number}
        further = sum(
            1
            for word in answer.words
            if word[0] == "failed" and word[1] == number and word[3] > self._baseline_lines.get(word[2], 1 << 30)
        )
        self._near.add(candidate, frozenset(passed), further)

    async def _compare(self) -> None:
        """Look for what distinguishes the likeliest edits; those that only raise an error do not rival the others."""
        seconds = min(_LONGEST, 0.8 * self._budget.left)
        closest = self._plausibility.closest(self._ranked())[:COMPARED]
        self._plausibility.note_raising(await raising(self._session, self._ground, closest, seconds=seconds / 4))
        rivals = self._plausibility.closest(self._ranked())[:COMPARED]
        self._compared = await disagreements(self._session, self._ground, rivals, seconds=seconds)
        self._rivals = len(rivals)


def _is_plausible(answer: WorkerAnswer) -> bool:
    return ["plausible"] in answer.words and answer.ended == "done"


def _test_line(ground: SearchGround, test: int) -> int:
    path = ground.tests[test].partition("::")[0]
    return next((line for file, line in ground.ran[test].frames if file == path), 0)
