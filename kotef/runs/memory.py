"""Failures and notes of earlier runs in this workspace."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from kotef.errors import UsageError, WorkspaceError
from kotef.failures.memory import MAX_RUNS, EarlierAttempt, Memory
from kotef.runs import store
from kotef.runs.result import Result, ResultAttempt
from kotef.sdd.issue import IssueEntry
from kotef.sdd.issue_log import issues_path, read_issues

MAX_TEXT = 300
"""Characters kept per text."""

MAX_RESULT = 4 * 1024 * 1024
"""Largest `result.json`, in bytes, that is read."""

REVIEW = "review"
"""Fingerprint of every refused review; it does not distinguish failures."""


class Remembered(NamedTuple):
    """The newest earlier runs, and what could not be read."""

    memories: tuple[Memory, ...]
    notices: tuple[str, ...] = ()


def remembered(root: Path) -> Remembered:
    """The newest runs, from the run store and, for those whose directory is gone (another clone), the issue log.

    A result that cannot be read is passed over: it is only memory. So is one larger than it can honestly be.
    """
    memories: dict[str, Memory] = {}
    for run in list(store.own_runs(root))[-MAX_RUNS:]:
        if result := _result(run):
            memories[run.run_id] = _of_result(result)
    notices: tuple[str, ...] = ()
    try:
        entries = read_issues(issues_path(root)).entries
    except WorkspaceError as error:
        entries, notices = (), (f"not everything about earlier runs could be read: {error}",)
    for entry in entries:
        memories.setdefault(entry.run_id, _of_entry(entry))
    newest = sorted(memories.values(), key=lambda memory: memory.date)[-MAX_RUNS:]
    return Remembered(tuple(memory for memory in newest if memory.fingerprints), notices)


def _result(run: store.RunDir) -> Result | None:
    try:
        file = run.path / "result.json"
        return run.result() if file.is_file() and file.stat().st_size <= MAX_RESULT else None
    except (OSError, UsageError):
        return None


def _of_result(result: Result) -> Memory:
    return Memory(
        run_id=result.run_id[:MAX_TEXT],
        date=result.finished_at[:MAX_TEXT],
        outcome=result.outcome,
        sentence=result.sentence[:MAX_TEXT],
        fingerprints=_prints(entry.fingerprint for entry in result.failure_history.entries),
        tried=tuple(_tried(attempt) for attempt in result.attempts[-3:]),
    )


def _tried(attempt: ResultAttempt) -> EarlierAttempt:
    return EarlierAttempt(
        visit=attempt.visit,
        what="; ".join(text for text in (attempt.hypothesis, *attempt.steps[:2]) if text)[:MAX_TEXT],
        changed=attempt.changed,
        ended=attempt.verdict[:MAX_TEXT],
    )


def _of_entry(entry: IssueEntry) -> Memory:
    """A run known only from the log: which files it touched, and how it ended."""
    return Memory(
        run_id=entry.run_id,
        date=entry.date,
        outcome=entry.outcome,
        sentence=entry.sentence[:MAX_TEXT],
        fingerprints=_prints(failure.fingerprint for failure in entry.entries),
        tried=(EarlierAttempt(visit=entry.attempts, what="", changed=entry.files_changed[:20]),)
        if entry.attempts
        else (),
    )


def _prints(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name[:40] for name in found if name not in ("", REVIEW)))
