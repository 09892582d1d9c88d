"""The issue log: exactly one entry for each run that left something to do."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from filelock import FileLock, Timeout

from kotef.errors import UsageError, WorkspaceError
from kotef.files import append_within, os_fault, read_within, write_within
from kotef.sdd.duplicate_issues import opened, resolved
from kotef.sdd.follow_up import follow_up
from kotef.sdd.issue import IssueEntry, IssueFailure, IssueLog, Sighting, State, one_line
from kotef.sdd.issue_log_text import HEADER, Change, marked, recorded, settled, standing
from kotef.sdd.issue_markdown import parse_issues, render

__all__ = [
    "HEADER",
    "IssueEntry",
    "IssueFailure",
    "IssueLog",
    "Sighting",
    "find_entry",
    "follow_up",
    "has_entry",
    "issues_path",
    "mark",
    "parse_issues",
    "read_issues",
    "record",
    "render",
    "settle",
    "timestamp",
    "written_text",
]

LOCK_SECONDS: Final = 30.0
"""Seconds a writer waits for another one; each holds the lock for one write."""

A_PERSON: Final = "a person"
"""The resolver of an entry that no run resolved."""

LARGEST: Final = 64 * 1024 * 1024
"""Bytes of an issue log; a larger one is not read."""

_NAMED: Final = 8

T = TypeVar("T")


def issues_path(root: Path) -> Path:
    """The issue log of a workspace."""
    return root / ".sdd" / "issues.md"


def read_issues(path: Path) -> IssueLog:
    """The entries of a log, and its problems; empty if there is no log.

    Raises `WorkspaceError` when the log itself cannot be read.
    """
    return parse_issues(_text(path) or "", f"{path.parent.name}/{path.name}")


def timestamp() -> str:
    """The current time in UTC, ISO 8601 to the second."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def written_text(path: Path, run_id: str) -> str:
    """The readable part of this run's entry, with people's notes; empty if there is none.

    Raises `WorkspaceError` when the log cannot be read.
    """
    text = _text(path) or ""
    found = next((text[span.start : span.end] for span, entry in standing(text) if entry.run_id == run_id), "")
    return "\n".join(found.splitlines()[1:-1])  # the first and the last line are for kotef


def has_entry(path: Path, run_id: str) -> bool:
    """Whether this log contains this run: as an entry of its own, or as a line of another one.

    Raises `WorkspaceError` when the log cannot be read.
    """
    return any(run_id in entry.runs for entry in read_issues(path).entries)


def find_entry(log: IssueLog, wanted: str) -> IssueEntry:
    """The entry that contains this run; a unique prefix of the id is enough.

    Raises `UsageError` naming the candidates.
    """
    exact = [entry for entry in log.entries if wanted == entry.run_id]
    exact = exact or [entry for entry in log.entries if wanted in entry.runs]
    begun = [entry for entry in log.entries if wanted and any(run.startswith(wanted) for run in entry.runs)]
    found = exact or begun
    if len(found) == 1:
        return found[0]
    shown = one_line(wanted, 80)
    candidates = (found or log.entries)[::-1]
    names = ", ".join(entry.run_id for entry in candidates[:_NAMED]) + (", …" if candidates[_NAMED:] else "")
    if found:
        raise UsageError(f"'{shown}' is ambiguous: {names}", hint="use a longer prefix of the id")
    problems = f"; {len(log.problems)} cannot be read" if log.problems else ""
    raise UsageError(
        f"no issue '{shown}'", hint=f"the issues are {names}{problems}" if names else f"there is none{problems}"
    )


def record(path: Path, entry: IssueEntry) -> Change:
    """Make sure that this log reports this run, once; every byte outside the touched entries stays as it is.

    Safe to repeat and safe among processes: under a lock (`runs/issues.lock` beside the log) the log is read, changed
    as `issue_log_text.recorded` says, and the file is replaced as a whole.

    Raises `NoSpaceError` when the disk is full, `WorkspaceError` when the log cannot be read, locked or written, also
    when a person took away the permission to write it.
    """
    return _changed(path, lambda text: recorded(text, entry))


def settle(path: Path, entry: IssueEntry) -> tuple[str, ...]:
    """Resolve the entries that this verified run settles (`issue_log_text.settled`); returns their ids.

    Raises as `record` does.
    """
    return _changed(path, lambda text: settled(text or "", entry))


def mark(path: Path, run_id: str, state: State, *, date: str) -> IssueEntry:
    """Mark the entry of this run as resolved or open; returns the changed entry.

    Raises as `record` does, and `UsageError` when the entry is gone.
    """

    def change(entry: IssueEntry) -> IssueEntry:
        if entry.state == state:
            return entry
        return resolved(entry, A_PERSON, date) if state == "resolved" else opened(entry)

    def edit(text: str | None) -> tuple[str, IssueEntry]:
        new = marked(text or "", run_id, change)
        return new, find_entry(parse_issues(new), run_id)

    return _changed(path, edit)


def _changed(path: Path, edit: Callable[[str | None], tuple[str, T]]) -> T:
    """Read, edit and replace the log under its lock; nothing is written when nothing changes."""
    lock = path.parent / "runs" / "issues.lock"
    try:
        append_within(path.parent.parent, f"{path.parent.name}/runs/{lock.name}", b"")  # creates it if it is missing
        with FileLock(lock, timeout=LOCK_SECONDS):
            before = _text(path)
            after, result = edit(before)
            if after != (before or ""):
                _must_be_writable(path)
                write_within(*_below(path), after.encode("utf-8", "surrogateescape"))
            return result
    except Timeout as error:
        raise WorkspaceError(
            lock, "another process holds it", hint="end that process, then `kotef resume --last`"
        ) from error
    except OSError as error:
        raise os_fault(path, error) from error


def _below(path: Path) -> tuple[Path, str]:
    """The log as a path relative to the workspace: neither `.sdd` nor the log itself may be a link."""
    return path.parent.parent, f"{path.parent.name}/{path.name}"


def _must_be_writable(path: Path) -> None:
    """Refuse a read-only log: replacing it would not need the permission, but its removal was intended."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not mode & 0o222:
        raise WorkspaceError(path, "is read-only", hint="`chmod u+w` lets kotef write it")


def _text(path: Path) -> str | None:
    """The log as text, each byte that is not UTF-8 as a surrogate; None when there is none."""
    if path.is_symlink():
        raise WorkspaceError(path, "is a symbolic link", hint="put a plain file in its place")
    try:
        return read_within(*_below(path), largest=LARGEST).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise os_fault(path, error) from error
