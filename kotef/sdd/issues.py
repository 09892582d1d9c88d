"""Which runs left something to do, and how is that written down exactly once?"""

import re
from pathlib import Path
from typing import Final, Literal

from filelock import FileLock, Timeout

from kotef.errors import WorkspaceError
from kotef.sdd.follow_up import follow_up
from kotef.sdd.issue import IssueEntry, IssueFailure, IssueLog, parse_issues, read_span, render, spans
from kotef.workspace.paths import os_fault, write_atomic

__all__ = ["IssueEntry", "IssueFailure", "IssueLog", "follow_up", "has_entry", "parse_issues", "record", "render"]

HEADER: Final = """\
# Issues

Runs of kotef that did not succeed, one entry each, oldest first. An entry is rewritten when its run is resumed; what
stands between the entries is yours. `kotef issues` lists them.
"""

LOCK_SECONDS: Final = 30.0
"""How long a writer waits for another one; each holds the lock for one write."""


def has_entry(path: Path, run_id: str) -> bool:
    """Whether this log has a readable entry of this run; False when there is no log.

    Raises `WorkspaceError` when the log cannot be read.
    """
    return any(entry.run_id == run_id for entry in parse_issues(_text(path) or "").entries)


def record(path: Path, entry: IssueEntry) -> Literal["added", "updated", "unchanged"]:
    """Make sure that this log has this entry, and no other of the same run; every other byte stays as it is.

    Safe to repeat and safe among processes: under a lock (`runs/issues.lock` beside the log) the log is read, the
    entry of the run is rewritten in place, or appended if there is none, and the file is replaced as a whole.

    Raises `NoSpaceError` when the disk is full, `WorkspaceError` when the log cannot be read, locked or written.
    """
    lock = path.parent / "runs" / "issues.lock"
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock, timeout=LOCK_SECONDS):
            return _record(path, entry)
    except Timeout as error:
        raise WorkspaceError(
            lock, "another process holds it", hint="end that process, then `kotef resume --last`"
        ) from error
    except OSError as error:
        raise os_fault(path, error) from error


def _record(path: Path, entry: IssueEntry) -> Literal["added", "updated", "unchanged"]:
    found = _text(path)
    text = HEADER if found is None else found
    newline = "\r\n" if re.match(r"[^\n]*\r\n", text) else "\n"
    new = render(entry).replace("\n", newline)
    mine = [span for span in spans(text) if span.run_id == entry.run_id and span.stored]
    if mine:
        if read_span(mine[0])[0] == entry:
            return "unchanged"
        changed = text[: mine[0].start] + new.removesuffix(newline) + text[mine[0].end :]
    else:
        changed = text + _gap(text, newline) + new
    write_atomic(path, changed.encode("utf-8", "surrogateescape"))
    return "updated" if mine else "added"


def _gap(text: str, newline: str) -> str:
    """What has to stand between a text and an entry behind it: the end of its line and a blank one."""
    if not text:
        return ""
    return newline if text.endswith("\n") else newline * 2


def _text(path: Path) -> str | None:
    """The log as text, each byte that is not UTF-8 as a surrogate; None when there is none."""
    if path.is_symlink():
        raise WorkspaceError(path, "is a symbolic link", hint="put a plain file in its place")
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise os_fault(path, error) from error
