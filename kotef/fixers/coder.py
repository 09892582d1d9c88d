"""The coder that applies the mechanical fixes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from kotef.checks.types import Check, CommandResult
from kotef.coders.base import Brief, CoderResult
from kotef.deps import RunContext
from kotef.failures.plural import counted
from kotef.files import read_within, write_atomic
from kotef.fixers.table import FailingCheck, Fix, commands, propose
from kotef.fixers.types import Fixer
from kotef.state import Edits, Spent, Usage
from kotef.workspace import LARGEST_FILE

ROUNDS: Final = 12
"""Fixes that are kept in one visit."""
TRIALS: Final = 24
"""Fixes that are tried in one visit; each costs a run of the failing checks."""
FIXER_SECONDS: Final = 120.0
_SHOWN: Final = 160
"""Characters of what a check said."""

Results = dict[str, CommandResult]


@dataclass(slots=True)
class FixersCoder:
    """Tries one small, certain fix after another; each must make the failing checks better, or it is taken back."""

    context: RunContext
    seconds: float = FIXER_SECONDS
    more: Sequence[Fixer] = ()
    """Fixers of extensions."""
    name: str = field(default="fixers", init=False)
    uses_model: bool = field(default=False, init=False)

    def declines(self, brief: Brief) -> str:
        """Without a failing check there is no message to answer."""
        return "" if _failing(brief) else "no failing check: nothing to fix"

    async def work(self, brief: Brief) -> CoderResult:
        """Fix, run what failed, keep what is better; what improves stays, even if it is not enough."""
        checks = _failing(brief)
        deadline = self.context.clock.elapsed() + min(
            self.seconds, self.context.clock.left() - 2 * self.context.executor.reserve()
        )
        kept: list[Fix] = []
        refused: set[tuple[tuple[str, bytes], ...]] = set()
        runs = 0
        results = await self._run(checks, brief, runs)
        while len(kept) < ROUNDS and runs < TRIALS and self.context.clock.elapsed() < deadline:
            fix = next((fix for fix in self._proposals(results, brief) if _key(fix) not in refused), None)
            if fix is None:
                break
            runs += 1
            better = await self._better(fix, checks, results, brief, runs)
            if better is None:
                refused.add(_key(fix))
            else:
                kept.append(fix)
                results = better
        formatted = await self._commands(checks, results, brief, runs)
        return self._work(kept, formatted, brief, runs)

    def _proposals(self, results: Results, brief: Brief) -> list[Fix]:
        """What the table has to say about the newest outputs, best first."""
        failures = [_failure(result) for result in results.values() if not result.passed]
        paths = sorted(
            path for path in self.context.snapshots.paths(self.context.snapshots.take()) if path.endswith(".py")
        )
        proposed = propose(
            self.context.root,
            failures,
            read=self._read,
            paths=paths,
            may_edit=lambda path: brief.guard.may_edit(path) is None,
            more=self.more,
        )
        return list(proposed)

    def _read(self, path: str) -> bytes | None:
        try:
            return read_within(self.context.root, path, largest=LARGEST_FILE)
        except OSError:
            return None

    async def _better(
        self, fix: Fix, checks: Sequence[Check], old: Results, brief: Brief, number: int
    ) -> Results | None:
        """The new results when the fix is an improvement; otherwise None, and the files are as before."""
        before = self.context.snapshots.take()
        for path, content in fix.files.items():
            write_atomic(self.context.root / path, content, root=self.context.root)
        after = self.context.snapshots.take()
        self.context.emit("trying", visit=brief.plan.visit, coder=self.name, what=fix.rationale)
        new = await self._run(checks, brief, number)
        if improves(old, new, fix.evidence):
            return new
        self.context.snapshots.restore(before, last=after, paths=tuple(fix.files))
        return None

    async def _commands(self, checks: Sequence[Check], old: Results, brief: Brief, number: int) -> list[str]:
        """Run the tools that repair what they complain about, where such a tool is a check; keep what made it pass."""
        done: list[str] = []
        for command in commands([_failure(result) for result in old.values() if not result.passed]):
            before = self.context.snapshots.take()
            self.context.emit("trying", visit=brief.plan.visit, coder=self.name, what=command)
            await self.context.executor.run_command(command, None)
            after = self.context.snapshots.take()
            touched = self.context.snapshots.changed(before, after)
            self.context.snapshots.restore(
                before, last=after, paths=[path for path in touched if brief.guard.may_edit(path)]
            )
            new = await self._run(checks, brief, number + 100 + len(done))
            if not touched or _passed(new) <= _passed(old):
                self.context.snapshots.restore(before, last=self.context.snapshots.take(), paths=touched)
                continue
            old = new
            done.append(command)
        return done

    async def _run(self, checks: Sequence[Check], brief: Brief, number: int) -> Results:
        return {
            check.name: await self.context.executor.try_check(
                check, f"visit-{brief.plan.visit}-fixers-{number}-{check.name}"
            )
            for check in checks
        }

    def _work(self, kept: Sequence[Fix], formatted: Sequence[str], brief: Brief, runs: int) -> CoderResult:
        rationale = "; ".join([*(fix.rationale for fix in kept), *(f"ran `{command}`" for command in formatted)])
        edits = Edits(
            visit=brief.plan.visit,
            coder=self.name,
            stopped_by="finished",
            summary=rationale[:2000],
            rationale=rationale[:2000],
            evidence=(*_evidence(kept, runs), *(f"`{command}` made its own check pass" for command in formatted)),
            detail="" if rationale else "no fix applies to this failure",
        )
        spent = Usage(by_call={f"{brief.plan.visit}/fixers/commands": Spent(commands=runs + 1)})
        return CoderResult(edits, spent, found=bool(rationale))


def improves(old: Results, new: Results, evidence: str) -> bool:
    """Whether a fix made the failing checks better and none worse.

    Better: more checks pass, or fewer tests fail, or the very line that called for the fix is gone. Worse: fewer tests
    run than before.
    """
    if any((new[name].tests_executed or 0) < (old[name].tests_executed or 0) for name in old):
        return False
    passed = _passed(new) - _passed(old)
    red = sum(len(result.red_ids) for result in new.values()) - sum(len(result.red_ids) for result in old.values())
    has_evidence = any(evidence in result.stdout + result.stderr for result in new.values())
    return passed > 0 or (passed == 0 and (red < 0 or not has_evidence))


def _evidence(kept: Sequence[Fix], runs: int) -> Iterator[str]:
    """What called for each fix, once, and how they were chosen."""
    if kept:
        yield f"{counted(runs, 'fix', 'fixes')} tried, {len(kept)} kept: the failing checks got better with each"
    for line in dict.fromkeys(_without_prefix(fix.evidence) for fix in kept):
        yield f"the check reported: {line}"


def _without_prefix(line: str) -> str:
    """A line of an output without what a runner put before it: `E   NameError: …` → `NameError: …`."""
    plain = " ".join(re.sub(r"^(?:[\s|+]|E\s{2,})+", "", line).split())
    return plain if len(plain) <= _SHOWN else f"{plain[: _SHOWN - 1]}…"


def _passed(results: Results) -> int:
    return sum(result.passed for result in results.values())


def _failing(brief: Brief) -> list[Check]:
    names = {check.name for check in brief.judged.checks if not (check.satisfied or check.advisory)}
    return [check for check in brief.task.checks if check.name in names]


def _failure(result: CommandResult) -> FailingCheck:
    return FailingCheck(
        command=result.command,
        output=f"{result.stdout}\n{result.stderr}",
        kind=result.kind or "unknown",
        detail=result.detail,
    )


def _key(fix: Fix) -> tuple[tuple[str, bytes], ...]:
    return tuple(sorted(fix.files.items()))
