"""Detection of a visit without progress: calls that bring nothing new, or edits that leave the same tests red."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from kotef.failures.loop_detection import Tools, lines_of, without_echo
from kotef.failures.plural import counted
from kotef.failures.quoting import plain
from kotef.failures.tool_calls import ToolUse, argument_text

NUDGE_AFTER: Final = 40
"""Calls without progress after which the model is told so."""
STOP_AFTER: Final = 20
"""Further ones that end the visit."""
EXPLORED: Final = 50
"""Calls that may bring only something not seen before, before they count as calls without progress."""
EXPLORED_RED: Final = 20
"""The same, of calls that fail."""
NUDGE_EDITS: Final = 3
"""Different edits that left the same test red, after which the model is told so."""
STOP_EDITS: Final = 6
"""So many end the visit."""
REWRITES: Final = 12
"""New contents of one file that count as progress while no check improves."""
EDITED: Final = 50
"""New states of the workspace that do."""

StallKind = Literal["calls", "edits"]
State = frozenset[tuple[str, str]]
"""The files that differ from the start of the visit, with their contents; empty at the start."""


class Stall(NamedTuple):
    """A visit that makes no progress, as of its newest call."""

    kind: StallKind
    what: str
    """One line for people and models."""
    number: int
    """Calls without progress, or edits."""
    at: int
    """How many calls the visit has made."""


class StallNudge(NamedTuple):
    """What the model was told before, and when."""

    kind: StallKind
    number: int
    at: int


class CallTally(NamedTuple):
    """Calls of a visit so far."""

    at: int = 0
    """All of them."""
    plain: int = 0
    """Those that showed nothing new."""
    new: int = 0
    """Those that did, and changed nothing."""
    new_red: int = 0
    """The failed ones among those."""

    def since(self, base: "CallTally") -> int:
        """Calls without progress since the last progress, `base`."""
        beyond = max(self.new - base.new - EXPLORED, self.new_red - base.new_red - EXPLORED_RED, 0)
        return self.plain - base.plain + beyond


START: Final[State] = frozenset()


@dataclass(slots=True)
class VisitProgress:
    """The progress of one visit, taken from its calls one by one; the same calls always give the same.

    Progress is a state of the workspace not seen before, or a test that was red and no longer is. What leads back to
    an earlier state undoes the progress made since, unless a check improved. What only shows something new is no
    progress, and for a bounded number of calls it does not count against the visit either.
    """

    tools: Tools = field(default_factory=Tools)
    planned: frozenset[str] = frozenset()
    """Files that the plan names: to look at one for the first time is always worth a call."""
    tally: CallTally = field(default_factory=CallTally)
    base: CallTally = field(default_factory=CallTally)
    """The state at the last progress."""
    improved_at: int = 0
    """The call after which a check was better than before."""
    _start: dict[str, str] = field(default_factory=dict)
    _now: dict[str, str] = field(default_factory=dict)
    _state: State = START
    _bases: dict[State, CallTally] = field(default_factory=lambda: {START: CallTally()})
    _rewrites: dict[str, int] = field(default_factory=dict)
    _lines: set[str] = field(default_factory=set)
    _planned_seen: set[str] = field(default_factory=set)
    _fewest: dict[str, int] = field(default_factory=dict)
    _red_once: dict[str, set[str]] = field(default_factory=dict)
    _gone_once: dict[str, set[str]] = field(default_factory=dict)
    _red_at: dict[str, set[State]] = field(default_factory=dict)

    @property
    def idle(self) -> int:
        """Calls without progress since the last progress."""
        return self.tally.since(self.base)

    def take(self, calls: Iterable[ToolUse]) -> None:
        """Count what is new."""
        for call in calls:
            self._take(call)

    def stall(self, nudges: Collection[StallNudge]) -> tuple[Stall, bool] | None:
        """Why the visit makes no progress, and whether it ends for that; None as long as nothing is to be said."""
        stuck = self._stuck_edits()
        warned = any(nudge.kind == "edits" and nudge.at > self.improved_at for nudge in nudges)
        if len(stuck) >= STOP_EDITS and warned:
            return self._edits(stuck), True
        if len(stuck) >= NUDGE_EDITS and not warned:
            return self._edits(stuck), False
        before = [nudge.number for nudge in nudges if nudge.kind == "calls" and nudge.at > self.base.at]
        if before and self.idle >= before[-1] + STOP_AFTER:
            return self._idle(), True
        return (self._idle(), False) if self.idle >= NUDGE_AFTER and not before else None

    def _take(self, call: ToolUse) -> None:
        self.tally = self._counted(call)
        state = self._moved(call)
        has_moved, self._state = state != self._state, state
        if self._improved(call, state):
            self._forget()
            self.base = self.tally
        elif has_moved and state in self._bases:
            self.base = self._bases[state]
        elif has_moved and self._counts(call):
            self.base = self.tally
        self._bases[state] = self.base

    def _counted(self, call: ToolUse) -> CallTally:
        tally = self.tally._replace(at=self.tally.at + 1)
        is_new = self._is_new(call)
        if self._is_planned(call):
            return tally
        if is_new and not call.changed:
            return tally._replace(new=tally.new + 1, new_red=tally.new_red + call.failed)
        return tally._replace(plain=tally.plain + 1)

    def _moved(self, call: ToolUse) -> State:
        """The state of the workspace after a call."""
        if not call.changed:
            return self._state
        for path, (old, new) in call.changed.items():
            self._start.setdefault(path, old)
            self._now[path] = new
        return frozenset((path, now) for path, now in self._now.items() if now != self._start[path])

    def _counts(self, call: ToolUse) -> bool:
        """Whether a new state is progress: a file can be written in any number of ways that lead nowhere."""
        for path in call.changed:
            self._rewrites[path] = self._rewrites.get(path, 0) + 1
        return len(self._bases) <= EDITED and any(self._rewrites[path] <= REWRITES for path in call.changed)

    def _forget(self) -> None:
        """A check improved: what came before it is no measure any more."""
        self.improved_at = self.tally.at
        self._bases.clear()
        self._rewrites.clear()
        self._red_at.clear()

    def _improved(self, call: ToolUse, state: State) -> bool:
        """Whether a check, run before by the same words, has fewer failures, or not one that it always had."""
        improved = False
        for check, red in call.checks.items():
            units, fewest = set(red), self._fewest.get(check)
            once, gone = self._red_once.setdefault(check, set()), self._gone_once.setdefault(check, set())
            new = once - units - gone
            improved |= fewest is not None and (len(units) < fewest or bool(new))
            self._fewest[check] = min(len(units), fewest if fewest is not None else len(units))
            gone |= new
            once |= units
        for unit in () if improved else (unit for red in call.checks.values() for unit in red):
            edits = self._red_at.setdefault(unit, set())
            edits |= {state} - {START}
        return improved

    def _is_new(self, call: ToolUse) -> bool:
        """Whether a result shows anything not seen before in this visit."""
        lines = lines_of(without_echo(call), exact=call.tool in self.tools.exact)
        new = not lines <= self._lines
        self._lines |= lines
        return new

    def _is_planned(self, call: ToolUse) -> bool:
        """Whether a call looks for the first time at a file that the plan names."""
        path = argument_text(call.arguments.get("path", "")).removeprefix("./")
        if call.changed or call.failed or path not in self.planned or path in self._planned_seen:
            return False
        self._planned_seen.add(path)
        return True

    def _stuck_edits(self) -> Sequence[str]:
        """The test that was red after the most different edits, once for each of them."""
        worst = max(self._red_at, key=lambda unit: len(self._red_at[unit]), default="")
        return [worst] * len(self._red_at.get(worst, ()))

    def _edits(self, stuck: Sequence[str]) -> Stall:
        what = f"{plain(stuck[0], 120)} came back red after {counted(len(stuck), 'different edit')}"
        return Stall("edits", what, len(stuck), self.tally.at)

    def _idle(self) -> Stall:
        made = counted(self.idle, "tool call")
        what = f"{made} changed neither the files nor what is known of the checks, and showed nothing new that matters"
        return Stall("calls", what, self.idle, self.tally.at)
