"""Runs that were killed and never resumed, and their issue entries."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, get_args

from kotef.errors import KotefError, WorkspaceError
from kotef.failures.history import FailureKind
from kotef.failures.outcomes import Outcome
from kotef.runs.attempts import attempts_of
from kotef.runs.ending_text import killed
from kotef.runs.events import read_events
from kotef.runs.run_history import RunHistory
from kotef.runs.store import RunDir, own_runs
from kotef.sdd.follow_up import follow_up
from kotef.sdd.issue import IssueEntry, IssueFailure
from kotef.sdd.issue_log import issues_path, record, timestamp
from kotef.state import Task

NOTED: Final = "aborted"
"""File in the directory of such a run once its entry is written, so that a deleted entry does not come back."""

KILLED: Final = "killed"
"""The machine reason of such an ending."""

_OUTCOME: Final[Outcome] = "interrupted"
_MOST_FAILURES: Final = 5
_MOST_FILES: Final = 50


def note_aborted(root: Path) -> tuple[str, ...]:
    """Write the entry of every run here that has no ending, once each; a line for each of them.

    The caller holds the workspace, so none of them is at work. A resume that ends rewrites the entry of its run.
    """
    return tuple(note for run in _aborted(root) if (note := _noted(root, run)))


def _aborted(root: Path) -> Iterator[RunDir]:
    for run in own_runs(root):
        if not ((run.path / "result.json").exists() or (run.path / NOTED).exists()):
            yield run


def _noted(root: Path, run: RunDir) -> str:
    try:
        task = run.task()
    except KotefError:
        return ""  # of another version: `kotef runs` says so
    if task is None:
        return ""  # it crashed before it started, so nothing was run
    try:
        record(issues_path(root), _entry(run, task))
    except WorkspaceError as error:
        return f"run {run.run_id} was killed and not resumed; its issue entry cannot be written: {error}"
    with suppress(OSError):  # then the entry is written again, in its place
        (run.path / NOTED).touch()
    return (
        f"run {run.run_id} was killed and not resumed: `kotef resume {run.run_id}` continues it; "
        "its entry is in .sdd/issues.md"
    )


def _entry(run: RunDir, task: Task) -> IssueEntry:
    """The entry for a run, from its events."""
    history = RunHistory.of(read_events(run.events))
    attempts, failures = attempts_of(history), _failures(history)
    sentence = killed(attempts[-1].visit if attempts else 0)
    return IssueEntry(
        run_id=run.run_id,
        date=timestamp(),
        outcome=_OUTCOME,
        reason=KILLED,
        sentence=f"{sentence}, and not resumed",
        goal=task.ticket.title if task.ticket else task.goal,
        ticket=task.ticket.id if task.ticket else None,
        checks=tuple(check.command for check in task.checks),
        attempts=sum(attempt.passed is False for attempt in attempts),
        max_attempts=task.limits.max_attempts,
        entries=failures,
        last_error_kinds=tuple(dict.fromkeys(failure.kind for failure in failures)),
        last_command=failures[-1].command if failures else "",
        files_changed=tuple(sorted({path for attempt in attempts for path in attempt.changed})[:_MOST_FILES]),
        run_dir=run.shown,
        patches=tuple(f"{run.shown}/{path.name}" for path in sorted(run.path.glob("visit-*.patch"))),
        follow_up=follow_up(_OUTCOME, sentence, failures),
        resume=f"kotef resume {run.run_id}",
    )


def _kind(named: str | None) -> FailureKind:
    """The kind that an event names; `unknown` if it names none, or one of another version."""
    return next((kind for kind in get_args(FailureKind) if kind == named), "unknown")


def _failures(history: RunHistory) -> tuple[IssueFailure, ...]:
    """The checks that failed in the newest visit in which one did."""
    return tuple(
        IssueFailure(
            visit=event.visit,
            command=command,
            exit_code=event.exit_code,
            kind=_kind(event.kind),
            summary=event.summary,
        )
        for command, event in history.last_failures()[:_MOST_FAILURES]
    )
