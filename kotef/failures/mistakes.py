"""Consecutive mistakes of a model, and whether it was warned."""

from collections.abc import Iterable, Sequence
from itertools import groupby, takewhile
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from kotef.failures.tool_calls import MistakeKind, ToolUse

THRESHOLD: Final = 3
"""Failed calls in a row, of whatever kinds, that call for an answer: first a nudge, the next time the end."""


class MistakeRecovery(BaseModel):
    """The event `mistake_recovery`, for its writer and its readers alike; never part of a model request."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    failure_kinds: tuple[MistakeKind, ...]
    """Kinds of the consecutive failures, in order."""
    count: int
    """How many they were."""
    escalated: bool
    """False: guidance was injected; True: the visit was stopped."""
    can_continue: bool
    """Whether the visit continues."""


class Mistakes(BaseModel):
    """Failed calls since the last success or the last nudge, as they are after a whole turn."""

    model_config = ConfigDict(frozen=True)

    kinds: tuple[MistakeKind, ...] = ()
    nudged: bool = False
    """Whether a nudge was given since the last success."""

    @property
    def verdict(self) -> Literal["nudge", "stop"] | None:
        """What to do before the next request; None: continue."""
        if len(self.kinds) < THRESHOLD:
            return None
        return "stop" if self.nudged else "nudge"

    def after(self, turn: Iterable[ToolUse]) -> "Mistakes":
        """The count after one more turn; a success clears it, and a due nudge counts as given."""
        now = Mistakes(nudged=True) if self.verdict else self
        for call in turn:
            if call.mistake:
                now = Mistakes(kinds=(*now.kinds, call.mistake), nudged=now.nudged)
            elif not call.failed:  # a command that ended red is neither
                now = Mistakes()
        return now

    @property
    def event(self) -> MistakeRecovery:
        """The same as an event."""
        stop = self.verdict == "stop"
        return MistakeRecovery(failure_kinds=self.kinds, count=len(self.kinds), escalated=stop, can_continue=not stop)


def judge(calls: Sequence[ToolUse]) -> Mistakes:
    """The state of a visit after these calls. Pure; the same for one or several calls per turn."""
    since = list(takewhile(lambda call: call.failed, reversed(calls)))[::-1]  # a success clears all before it
    made = Mistakes()
    for _, turn in groupby(since, key=lambda call: call.turn):
        made = made.after(turn)
    return made
