"""The snitch node: the issue entry of a run that did not succeed."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from langgraph.runtime import Runtime

from kotef.deps import CHECKPOINTS, Deps, RunContext
from kotef.errors import NoSpaceError, WorkspaceError
from kotef.failures.history import FailureEntry, FailureHistory
from kotef.failures.outcomes import RESUMABLE
from kotef.files import remove_within, write_atomic
from kotef.nodes.decide import Ending
from kotef.nodes.next_step_advice import way_out
from kotef.nodes.restore_best import leave_baseline, leave_best
from kotef.redaction import redactor
from kotef.sdd.follow_up import AMBIGUOUS, follow_up
from kotef.sdd.issue import IssueEntry, IssueFailure
from kotef.sdd.issue_log import issues_path, record, timestamp
from kotef.sdd.issue_log_text import Change
from kotef.sdd.issue_markdown import render
from kotef.state import VISIT_CAPS, AgentState, Edits, StateUpdate

SHOWN_ENTRIES = 5

ASIDE = "issue.md"
"""File in the run's directory for its entry, if the issue log cannot be written."""


async def snitch(state: AgentState, runtime: Runtime[Deps]) -> StateUpdate:
    """Leave the tree at its best visit, then write the one entry of this run; no model is asked."""
    context = runtime.context.run
    outcome = state.get("outcome")
    assert outcome is not None  # noqa: S101  the only edge to here is taken with an outcome
    if state.get("reason") == AMBIGUOUS:
        leave_baseline(state, context)
    elif outcome != "unverified":  # unjudged edits are what was asked for; none is better than another
        leave_best(state, context)
    write_entry(state, Ending(outcome, state.get("reason", ""), state.get("sentence", "")), context)
    return {}


class IssuePlace(NamedTuple):
    """The place of a run's entry."""

    path: str
    """Path relative to the workspace."""
    trouble: str = ""
    """Why it is beside the run's result instead of in the issue log; empty if it is in the log."""


def write_entry(state: AgentState, ending: Ending, context: RunContext) -> IssuePlace:
    """Write or update the entry of this run; in its own directory if the log cannot be written.

    When the disk is full, what cached logs of this run can be spared makes room, and it is tried again.
    """
    path, aside = issues_path(context.root), context.run_dir / ASIDE
    entry = entry_of(state, ending, context)
    try:
        change = _recorded(path, entry, context)
    except WorkspaceError as error:
        write_atomic(aside, render(entry).encode())
        shown = f"{context.shown}/{ASIDE}"
        context.emit("issue", path=shown, change="kept_aside")
        return IssuePlace(shown, str(error))
    aside.unlink(missing_ok=True)
    context.emit("issue", path=str(path), change=change)
    return IssuePlace(str(path.relative_to(context.root)))


def _recorded(path: Path, entry: IssueEntry, context: RunContext) -> Change:
    """The result of writing the log; on a full disk, try once more after deleting the logs of this run."""
    try:
        return record(path, entry)
    except NoSpaceError:
        for log in (context.run_dir / "logs").glob("*.log"):
            log.unlink()
        with suppress(OSError):  # only the copy below `.sdd/runs` takes space on the workspace's disk
            remove_within(context.root, f"{context.shown}/logs")
        return record(path, entry)


def entry_of(state: AgentState, ending: Ending, context: RunContext) -> IssueEntry:
    """The entry for this ending, without secrets."""
    task, history = state["task"], state["failure_history"]
    failures = _shown_failures(history)
    judged, edits = state.get("test_results"), state.get("edits")
    entry = IssueEntry(
        run_id=task.run_id,
        date=timestamp(),
        outcome=ending.outcome,
        reason=ending.reason,
        sentence=ending.sentence,
        goal=task.ticket.title if task.ticket else task.goal,
        ticket=task.ticket.id if task.ticket else None,
        checks=tuple(check.command for check in task.checks),
        attempts=history.attempts,
        max_attempts=task.limits.max_attempts,
        entries=failures,
        last_error_kinds=history.last_error_kinds,
        last_command=history.last_commands[-1] if history.last_commands else "",
        files_changed=_touched(state, context)[:50],
        files_read=edits.files.read[:50] if edits else (),
        run_dir=context.shown,
        patches=tuple(f"{context.shown}/{path.name}" for path in sorted(context.run_dir.glob("visit-*.patch"))),
        follow_up=next_step(state, ending, context),
        resume=_resume(state, ending, context),
        notes=(
            *_reported(edits),
            *_last_words(state),
            *(f"put back before judging: {path}" for path in (judged.put_back if judged else ())[:20]),
        ),
    )
    return redactor().whole(entry)


def next_step(state: AgentState, ending: Ending, context: RunContext) -> str:
    """What the entry for this ending advises; without the hints that need snapshots if these are lost."""
    failures = _shown_failures(state["failure_history"])
    try:
        return way_out(state, ending, failures, context.snapshots)
    except WorkspaceError:
        return follow_up(ending.outcome, ending.sentence, failures, reason=ending.reason)


def _resume(state: AgentState, ending: Ending, context: RunContext) -> str:
    """The resume command; empty if the state it needs is gone, because an unconfined command can delete it."""
    task = state["task"]
    hint = resume_hint(ending, task.run_id, task.limits.max_attempts, state.get("edits"))
    return hint if hint and (context.run_dir / CHECKPOINTS).exists() else ""


def _shown_failures(history: FailureHistory) -> tuple[IssueFailure, ...]:
    """The newest failures that tell something, as an entry holds them."""
    return tuple(
        IssueFailure(
            visit=entry.visit,
            command=entry.command,
            exit_code=entry.exit_code,
            kind=entry.kind,
            detail=entry.detail,
            summary=entry.summary,
            fingerprint=entry.fingerprint,
            tests=entry.tests,
        )
        for entry in _telling(history)[-SHOWN_ENTRIES:]
    )


def _telling(history: FailureHistory) -> tuple[FailureEntry, ...]:
    """The failures of the attempts; those of the baseline only if there was no attempt."""
    return tuple(entry for entry in history.entries if entry.visit) or history.entries


def _reported(edits: Edits | None) -> Iterator[str]:
    """The full report of the coder, because the sentence of an entry may be cut."""
    if edits is not None and edits.contradiction is not None:
        claim = edits.contradiction
        yield f"the coder's words on {claim.place} (a claim): {claim.why}"


def _last_words(state: AgentState) -> Iterator[str]:
    """Why a guard or a limit ended an attempt, with the coder's last words; also if nothing changed."""
    for number, visit in sorted(state["visits"].items()):
        if visit.stopped:
            yield f"attempt {number} stopped by: {visit.stopped}"
        if visit.said and (visit.stopped or not visit.changed):
            yield f"attempt {number}, the coder's last words (a claim): {visit.said}"
        if visit.idle:
            yield f"attempt {number} changed nothing: {visit.idle}"


def _touched(state: AgentState, context: RunContext) -> tuple[str, ...]:
    """Every file that an attempt changed, whether or not the change was kept."""
    trees = state["snapshots"]
    touched = {path for visit in trees if visit for path in context.snapshots.changed(trees[0], trees[visit])}
    return tuple(sorted(touched))


def resume_hint(ending: Ending, run_id: str, max_attempts: int, edits: Edits | None = None) -> str | None:
    """The command that continues after this ending; None if the run cannot continue."""
    outcome = ending.outcome
    if ending.reason == AMBIGUOUS:
        return f"kotef resume {run_id} --accept-ambiguous"
    if ending.reason in ("nothing_left_to_try", "search_time_over"):
        return None
    if outcome in ("bounded_attempts_exceeded", "stuck"):
        if edits is not None and edits.stopped_by in VISIT_CAPS and max_attempts < 20:  # noqa: PLR2004  as below
            return f"kotef resume {run_id} --continue"
        return f"kotef resume {run_id} --max-attempts {min(20, max_attempts + 2)}" if max_attempts < 20 else None  # noqa: PLR2004
    if outcome == "budget_exceeded":
        limit = ending.reason.replace("_", "-") if ending.reason.startswith("max_") else "max-time"
        return f"kotef resume {run_id} --{limit} N  # N above the limit that was reached"
    return f"kotef resume {run_id}" if outcome in RESUMABLE else None
