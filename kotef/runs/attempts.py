"""Attempts of a run: what each tried, and what came of it."""

from collections.abc import Sequence
from typing import Any, Final, get_args

from kotef.events import CoderFinishedEvent, PlannedEvent, VerifiedEvent
from kotef.runs.result import ResultAttempt
from kotef.runs.run_history import RunHistory, VisitEvents
from kotef.state import CUT_SHORT, StoppedBy

MAX_ITEMS: Final = 20
"""Steps, files or tests kept per attempt."""

MAX_TEXT: Final = 300
"""Characters kept per text of an attempt."""

MAX_SAID: Final = 400
"""Characters kept of the coder's last words."""


def attempts_of(history: RunHistory) -> tuple[ResultAttempt, ...]:
    """The recorded visits, in order; the last record if a kill made a visit start twice."""
    return tuple(_attempt(visit) for visit in history.visits if visit.visit and _was_worked_on(visit))


def _was_worked_on(visit: VisitEvents) -> bool:
    """Whether the visit has anything that makes it an attempt."""
    return bool(visit.refusal) or any(visit.all(kind) for kind in (PlannedEvent, CoderFinishedEvent, VerifiedEvent))


def _attempt(visit: VisitEvents) -> ResultAttempt:
    facts: dict[str, Any] = {"visit": visit.visit}
    visit = visit.since_plan
    if plan := visit.last(PlannedEvent):
        facts |= {"hypothesis": _clip(plan.hypothesis), "steps": _items(plan.steps)}
    if edits := visit.last(CoderFinishedEvent):
        known = edits.stopped_by in get_args(StoppedBy)  # an unknown word is of another version
        facts |= {"changed": _items(edits.changed), "stopped_by": edits.stopped_by if known else None}
        facts |= {"said": _clip(edits.summary, MAX_SAID)}
        facts["why_stopped"] = _clip(edits.detail) if edits.stopped_by in CUT_SHORT else ""
    if verdict := visit.last(VerifiedEvent):
        facts |= {"passed": verdict.passed, "verdict": _clip(verdict.summary)}
        facts |= {"fixed": _items(verdict.fixed), "broken": _items(verdict.broken)}
    if refusal := visit.refusal:
        facts |= {"passed": False, "verdict": _clip(f"review refused: {refusal.reason}")}
    return ResultAttempt(**facts)


def _items(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(_clip(text) for text in texts[:MAX_ITEMS])


def _clip(text: str, most: int = MAX_TEXT) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
