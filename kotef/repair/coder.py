"""The coder that runs the search for a repair."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kotef.checks.types import Check
from kotef.checks.verification import CheckVerdict
from kotef.coders.base import NO_TIME, Brief, CoderResult
from kotef.coders.chain import SEARCH_SECONDS, longer
from kotef.deps import Option, RunContext
from kotef.failures.plural import counted
from kotef.files import write_atomic
from kotef.repair.budget import wall_seconds
from kotef.repair.preflight import named_files
from kotef.repair.question import narrowed, question_of
from kotef.repair.search import Hints, Patch, SearchResult, interpreter_of, repair
from kotef.shell import role_of
from kotef.state import Edits, Spent, Usage
from kotef.workspace import ActivityLog

REPAIR_SECONDS: Final = SEARCH_SECONDS

CONFIRMED: Final = 3
"""Patches that are tried with the real check command, best first, before the search counts as having found nothing."""

CANDIDATES: Final = 4
"""Edits that a model is shown where it has to find out which is meant."""

LEFT_OPEN: Final = "left open"

NEITHER: Final = "none of these is right"
"""The answer beside those that the edits give."""


@dataclass(frozen=True, slots=True)
class SearchCoder:
    """Generate and validate: candidates live in forked children; only what passes there is written, and run for real.

    Source of the method: generate-and-validate repair with spectrum-based localisation (Ochiai), as in GenProg, PAR
    and their successors; passing the tests is not being right, so what else passed is part of the evidence.
    """

    context: RunContext
    activity: ActivityLog
    """Records that candidates are tried, so that files the tests write are attributed to checks."""
    seconds: float = REPAIR_SECONDS
    name: str = field(default="search", init=False)
    uses_model: bool = field(default=False, init=False)

    def declines(self, brief: Brief) -> str:
        """Without a failing Python test there is nothing a candidate could pass."""
        if _target(brief) is None:
            return _no_target(brief)
        if self._wall() < 1:
            return f"{NO_TIME} for a search"
        return ""

    async def work(self, brief: Brief) -> CoderResult:
        """Search, then confirm the best patches with the real command on the written file."""
        verdict = _target(brief)
        assert verdict is not None, "a coder that declines is skipped"
        check = next(check for check in brief.task.checks if check.name == verdict.name)
        environment, wall = self.context.executor.environment(), self._wall()
        seconds = min(self.seconds, wall)
        what = f"searching for up to {seconds:.0f} s of CPU time"
        self.context.emit("trying", visit=brief.plan.visit, coder=self.name, what=what)
        with self.activity.noted("check"):
            found = await repair(
                self.context.root,
                command=check.command,
                failing=_ids(verdict.red, check),
                python=interpreter_of(check.command, self.context.root, environment),
                env=environment,
                sandbox=self.context.executor.coder_sandbox(),
                seconds=seconds,
                wall=wall,
                jobs=os.cpu_count() or 1,
                protected=lambda path: brief.guard.may_edit(path) is not None,
            )
        spent = Usage(by_call={f"{brief.plan.visit}/search/commands": Spent(commands=1)})
        answer = await self._answered(found, brief)
        if answer.refused:
            return CoderResult(self._unmeant(answer, brief), spent)
        if answer.question and brief.model_follows and not brief.task.accept_ambiguous:
            edits = self._handed_on(answer, brief)
            return CoderResult(edits, spent, found=False, hints=_as_candidates(answer))
        for patch in answer.patches[:CONFIRMED]:
            if await self._confirmed(patch, check, brief):
                return CoderResult(self._edits(patch, found, answer, brief), spent)
        return CoderResult(self._nothing(found, seconds, brief), spent, found=False, hints=_as_hints(found.hints))

    def _wall(self) -> float:
        """Wall seconds for the search: its own bound, or what is left when the edit is confirmed and then judged."""
        return min(wall_seconds(self.seconds), self.context.clock.left() - 2 * self.context.executor.reserve())

    async def _confirmed(self, patch: Patch, check: Check, brief: Brief) -> bool:
        """Write the patch and run the real command in a fresh process; a patch that fails there leaves no trace."""
        before = self.context.snapshots.take()
        for path, content in patch.files.items():
            write_atomic(self.context.root / path, content, root=self.context.root)
        after = self.context.snapshots.take()
        self.context.emit("trying", visit=brief.plan.visit, coder=self.name, what=patch.rationale)
        result = await self.context.executor.try_check(check, f"visit-{brief.plan.visit}-search-{check.name}")
        red = set(_ids(brief.judged.preexisting, check))
        if result.passed or (result.red_ids and result.red_ids <= red):
            return True
        self.context.snapshots.restore(before, last=after, paths=tuple(patch.files))
        return False

    async def _answered(self, found: SearchResult, brief: Brief) -> "_RepairAnswer":
        """The patches as they are, or those that do what a person says, who is asked until the rest agree."""
        notes: tuple[str, ...] = ()
        while (question := question_of(found)) is not None:
            chosen = None
            if self.context.ask is not None and not brief.task.accept_ambiguous:
                options = [Option(answer, patches[0].diff) for answer, patches in question.options.items()]
                self.context.emit("asked", visit=brief.plan.visit, question=question.text)
                with self.context.clock.standing():
                    chosen = await self.context.ask(question.text, [*options, Option(NEITHER, "")])
                if chosen is None:
                    self.context.emit("answered", visit=brief.plan.visit, question=question.text, answer=LEFT_OPEN)
            if chosen is None:
                return _RepairAnswer(found.patches, question.text, notes, rivals=question.rivals)
            if chosen == len(question.options):
                self.context.emit("answered", visit=brief.plan.visit, question=question.text, answer=NEITHER)
                return _RepairAnswer((), said=notes, refused=f"a person's answer: {question.refusal}")
            answer = list(question.options)[chosen]
            self.context.emit("answered", visit=brief.plan.visit, question=question.text, answer=answer)
            notes = (*notes, f"a person's answer: {question.about} is {answer}")
            if not found.disagreements:
                return _RepairAnswer(question.options[answer], said=notes)
            found = narrowed(found, answer)
            if not found.disagreements:
                break
        return _RepairAnswer(found.patches, said=notes)

    def _edits(self, patch: Patch, found: SearchResult, answer: "_RepairAnswer", brief: Brief) -> Edits:
        differing, unknown = found.rivals(patch)
        ran = counted(patch.covering_tests, "test runs", "tests run")
        evidence = [
            *answer.rivals,
            f"{_tried(found)}; {_others(found, differing, unknown)}",
            _slowly(found) or f"{ran} the edited line",
            "passing tests does not make an edit right: read the diff",
            *answer.said,
        ]
        if patch.doubt:
            evidence.append(f"doubtful: {patch.doubt}")
        return Edits(
            visit=brief.plan.visit,
            coder=self.name,
            stopped_by="finished",
            summary=patch.rationale,
            rationale=patch.rationale,
            evidence=tuple(evidence),
            alternatives=tuple(other.diff for other in (*differing, *unknown)[:3]),
            question=answer.question,
        )

    def _unmeant(self, answer: "_RepairAnswer", brief: Brief) -> Edits:
        return Edits(visit=brief.plan.visit, coder=self.name, stopped_by="none_is_right", detail=answer.refused)

    def _handed_on(self, answer: "_RepairAnswer", brief: Brief) -> Edits:
        """Nothing changed: which of the edits is meant is the next coder's to find out."""
        detail = f"{answer.question} The model is asked."
        return Edits(visit=brief.plan.visit, coder=self.name, stopped_by="finished", detail=detail)

    def _nothing(self, found: SearchResult, seconds: float, brief: Brief) -> Edits:
        """Why nothing was found; where the time ended it, whose limit that was and what gives it more."""
        slowly = f" ({_slowly(found)})" if found.slow_because and not found.declined else ""
        unread = f"; not searched, because it cannot be parsed: {named_files(found.unread)}" if found.unread else ""
        text = f"{_ended(found)}{self._limit(found, seconds)}" if found.late else _ended(found)
        return Edits(
            visit=brief.plan.visit,
            coder=self.name,
            stopped_by="search_time" if found.late else "finished",
            detail=f"{text}{slowly}{unread}{_left_out(found)}",
        )

    def _limit(self, found: SearchResult, seconds: float) -> str:
        """The limit that ended the search, and how to raise it."""
        if seconds < self.seconds:
            return f"; --max-time left this search {seconds:.0f} s"
        more = f"search:{longer(self.seconds):g}s searches longer"
        wall = f" or {found.seconds:.0f} s in all, which the tests or the machine used up" if found.waited else ""
        return f"; this search had {seconds:g} s of CPU time{wall} (--coder search:{self.seconds:g}s; {more})"


def _ids(tests: Iterable[str], check: Check) -> list[str]:
    """The ids that pytest knows: a test that two checks run is judged as `check: id`."""
    return [test.removeprefix(f"{check.name}: ") for test in tests]


def _target(brief: Brief) -> CheckVerdict | None:
    """The first failing check that runs Python tests; other languages are not searched."""
    failing = [check for check in brief.judged.checks if not (check.satisfied or check.advisory)]
    return next((check for check in failing if role_of(check.command) == "test" and _is_python(check.command)), None)


def _is_python(command: str) -> bool:
    return any(word in command for word in ("pytest", "unittest", "doctest", "tox", "nox"))


def _no_target(brief: Brief) -> str:
    """Why none of the failing checks can be searched."""
    failing = [check.command for check in brief.judged.checks if not (check.satisfied or check.advisory)]
    tests = [command for command in failing if role_of(command) == "test"]
    if tests:
        return f"language not covered: `{tests[0]}` is not known to run Python tests, and the search edits Python only"
    if failing:
        return f"no failing test: the search needs one to pass, and `{failing[0]}` is not a test"
    return "no failing test: nothing to search for"


def _left_out(found: SearchResult) -> str:
    """Which f-strings were not searched in all their parts."""
    if not found.left_out:
        return ""
    return f"; not searched completely, because positions inside f-strings are unknown: {named_files(found.left_out)}"


def _tried(found: SearchResult) -> str:
    return f"{counted(found.tried, 'candidate')} tried in {found.cpu_seconds:.1f} s of CPU time"


def _ended(found: SearchResult) -> str:
    """Which of the honest reasons it was, and how far the search came."""
    if found.declined:
        why = {"budget": "out of budget", "exhausted": "search exhausted"}.get(found.ending, "cannot be run here")
        tried = "; no candidate was tried" if found.late else ""
        return f"{why}: {found.declined}{tried}"
    if found.patches:
        return f"{_tried(found)}, {found.plausible} pass in memory, but none with the real check"
    if found.late:
        return f"out of budget: {_tried(found)}, {_share(found)}, none passes every test"
    return f"search exhausted: {_tried(found)}, none passes every test, and nothing is left to try"


def _share(found: SearchResult) -> str:
    """How much of the space was tried."""
    if found.space and found.counted and found.singles >= found.space:
        return f"among them all {counted(found.space, 'single edit')}"
    if not found.space:
        return "the rest was not counted"
    percent = 100 * min(found.singles, found.tried) / found.space
    edits = f"{found.space:,} single edits"
    return f"{percent:.0f} % of {edits}" if found.counted else f"less than {max(1, percent):.0f} % of over {edits}"


def _slowly(found: SearchResult) -> str:
    text = f"slow mode ({found.slow_because}): every candidate was a run of the check on a copy of the workspace"
    return text if found.slow_because else ""


def _others(found: SearchResult, differing: Sequence[Patch], unknown: Sequence[Patch]) -> str:
    """What else passes: only what behaves differently counts, and what may, because it was not compared."""
    more = found.plausible - len(found.patches) + len(unknown)
    if found.plausible == 1:
        return "no other edit passes every test as well"
    parts = []
    if differing:
        parts.append(counted(len(differing), "other that behaves differently", "others that behave differently"))
    if more:
        parts.append(counted(more, "other that was not compared with it", "others that were not compared with it"))
    if not parts:
        return "others pass every test, and behaved the same where they were compared"
    return f"{' and '.join(parts)} {'pass' if len(differing) + more > 1 else 'passes'} every test as well"


def _as_candidates(answer: "_RepairAnswer") -> tuple[str, ...]:
    """The edits that pass, for a coder who can find out which is meant."""
    advice = "Find out from the task, the documentation and the callers which is intended; perhaps none is."
    diffs = (f"passes every test:\n{patch.diff}" for patch in answer.patches[:CANDIDATES])
    return (f"{answer.question} {advice}", *answer.rivals, *diffs)


def _as_hints(hints: Hints) -> tuple[str, ...]:
    lines = [
        f"suspicious ({score:.2f}): {path}:{line}: {source.strip()}"
        for path, line, score, source, _ in hints.suspicious
    ]
    near = [
        f"this edit fixes {fixed} of {counted(total, 'failing test')}:\n{diff}"
        for diff, fixed, total in hints.near_misses[:3]
    ]
    return (*lines[:5], *near)


class _RepairAnswer(NamedTuple):
    patches: tuple[Patch, ...]
    question: str = ""
    """What is still open; empty when nothing is."""
    said: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    """What each answer to the question stands for."""
    refused: str = ""
    """What a person says of all the edits: that none is right. Empty otherwise."""
