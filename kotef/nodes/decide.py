"""The decision whether a run is over, and how it ended."""

from typing import Final, NamedTuple

from kotef.failures.outcomes import Outcome
from kotef.failures.visit_history import stalled
from kotef.sdd.follow_up import AMBIGUOUS
from kotef.sdd.ticket import open_lines
from kotef.settings import MAX_ATTEMPTS
from kotef.state import AgentState, StoppedBy, over_budget

NEEDS_REVIEW: Final = "needs_review"
"""`Verification.detail` of a green verification that only an accepting review can turn into `verified`."""

REPORTED: Final = "reported_contradiction"
"""The reason of a run whose coder reported that the task cannot be done honestly."""

NUDGED: Final = 2
"""Consecutive visits without progress that make a run stuck: one that causes the nudge, and one that received it."""


class Ending(NamedTuple):
    """The outcome, its machine reason, and one sentence for people."""

    outcome: Outcome
    reason: str
    sentence: str


def decide(state: AgentState) -> Ending | None:
    """The ending this state calls for; None to continue. Pure; the order of the rows is the agreement.

    `interrupted` is not here: a signal ends the process from outside, and the state stays resumable.
    A planner that says `blocked` comes after every rule here; see `nodes/planner.py`.
    """
    return (
        _ambiguous(state)
        or _none_is_right(state)
        or _verified(state)
        or _environment_broken(state)
        or _contradiction(state)
        or _budget_exceeded(state)
        or _attempts_exceeded(state)
        or _stuck(state)
        or _model_unavailable(state)
    )


def _ambiguous(state: AgentState) -> Ending | None:
    """Green, but other green edits disagree with it: only a person knows which is right."""
    edits, result = state.get("edits"), state.get("test_results")
    if edits is None or result is None or not edits.question or state["task"].accept_ambiguous:
        return None
    if result.visit != edits.visit or not result.passed:
        return None
    return Ending("blocked", AMBIGUOUS, edits.question)


def _none_is_right(state: AgentState) -> Ending | None:
    """A person was asked which of the passing edits is right, and said that none is."""
    edits = state.get("edits")
    if edits is None or edits.stopped_by != "none_is_right":
        return None
    return Ending("blocked", "none_is_right", f"none of the passing edits is right: {edits.detail}")


def _verified(state: AgentState) -> Ending | None:
    result = state.get("test_results")
    task = state["task"]
    if result is None or result.environment:
        return None
    if result.visit == 0:
        if task.checks and result.green and not task.goal and not open_lines(task.ticket):
            return Ending("verified", "already_green", "every check was green before the run; nothing to do")
        return None
    if not task.checks:
        return Ending(
            "unverified", "no_checks", "no check exists here; the edits are unjudged, as --allow-unverified permits"
        )
    if result.passed and result.detail != NEEDS_REVIEW:
        return Ending("verified", "verified", result.summary.partition("\n")[0])
    return None


def _environment_broken(state: AgentState) -> Ending | None:
    result = state.get("test_results")
    if result is None or result.visit > 0 or not result.environment:
        return None
    return Ending("environment_broken", result.environment, result.summary)


def _contradiction(state: AgentState) -> Ending | None:
    """The coder reported what cannot be done honestly, and code could not disprove it."""
    edits = state.get("edits")
    if edits is None or edits.contradiction is None:
        return None
    return Ending("blocked", REPORTED, edits.contradiction.words)


_CAPS: Final[dict[StoppedBy, str]] = {
    "tokens": "max_tokens",
    "calls": "max_calls",
    "money": "max_cost",
    "time": "max_time",
    "call_time": "max_call_time",
    "commands": "max_commands",
    "written": "max_written",
}


def _budget_exceeded(state: AgentState) -> Ending | None:
    edits = state.get("edits")
    if over := over_budget(state["usage"].total, state["task"].limits):
        return Ending("budget_exceeded", _CAPS[over[0]], over[1])
    if edits is not None and edits.stopped_by in _CAPS:
        return Ending("budget_exceeded", _CAPS[edits.stopped_by], edits.detail)
    return None


def _attempts_exceeded(state: AgentState) -> Ending | None:
    history, limits = state["failure_history"], state["task"].limits
    if history.attempts < limits.max_attempts:
        return None
    refused = [entry for entry in history.last if entry.detail == "review_refused"]
    if refused:
        return Ending(
            "bounded_attempts_exceeded", "review_refused", f"checks green, review refused: {refused[0].summary}"
        )
    used = "the only attempt" if limits.max_attempts == 1 else f"all {limits.max_attempts} attempts"
    why = _idle(state)
    return Ending("bounded_attempts_exceeded", "bounded_attempts_exceeded", f"{used} failed verification{why}")


def _idle(state: AgentState) -> str:
    """What to add where no attempt changed anything: what the newest did instead."""
    spent = state["failure_history"].spent
    visits = [visit for number, visit in sorted(state["visits"].items()) if number in spent]
    if not visits or any(visit.changed for visit in visits) or not visits[-1].idle:
        return ""
    which = "it changed nothing" if len(visits) == 1 else "none changed anything"
    return f"; {which}: {visits[-1].idle}"


def no_progress(state: AgentState) -> str:
    """Why the newest spent visit made no progress, as one sentence for a nudge; empty if it did."""
    spent = state["failure_history"].spent
    return stalled(state["visits"], max(spent)) if spent else ""


def _stuck(state: AgentState) -> Ending | None:
    """Two consecutive visits without progress, so that the nudge had an attempt; never before the default limit."""
    edits, judged = state.get("edits"), state.get("test_results")
    if edits is not None and edits.stopped_by == "search_time":
        return Ending("stuck", "search_time_over", f"nothing was found: {edits.detail}")
    if edits is not None and edits.stopped_by == "exhausted":
        sentence = "no coder could do anything"
        if judged is not None and judged.green and not state["task"].model:
            sentence = f"every check is already green, and without a model only failures can be worked on; {sentence}"
        return Ending("stuck", "nothing_left_to_try", f"{sentence}: {edits.detail}")
    spent = sorted(state["failure_history"].spent)
    fresh = [visit for visit in spent if visit > state["task"].resumed_after]
    if len(spent) < MAX_ATTEMPTS or len(fresh) < NUDGED:
        return None
    reasons = [stalled(state["visits"], visit) for visit in spent[-NUDGED:]]
    if all(reasons):
        return Ending("stuck", "stuck", f"no progress after a nudge: {reasons[-1].rstrip('.')}")
    return None


def _model_unavailable(state: AgentState) -> Ending | None:
    edits = state.get("edits")
    if edits is None or edits.stopped_by not in ("model_error", "login_refused"):
        return None
    return Ending("model_unavailable", edits.fault or edits.stopped_by, edits.detail)
