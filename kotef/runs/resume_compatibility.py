"""Compatibility of a run with this version of kotef, and differences since the run stopped."""

import sqlite3
from contextlib import closing
from typing import Final

from kotef import __version__
from kotef.errors import UsageError
from kotef.runs.store import RunDir
from kotef.state import SCHEMA_VERSION, Task
from kotef.workspace import Snapshots, changed_since_last_tree

_NAMED: Final = 10

_AS_IT_WAS: Final = "nothing was changed; `kotef diff` and `kotef undo` still work on it, `kotef run` starts a new one"


def must_be_current(run: RunDir, task: Task) -> None:
    """UsageError if the run keeps its state in an older schema; its directory is left as it is."""
    if task.schema_version >= SCHEMA_VERSION:
        return

    schemas = (
        f"its state has schema {task.schema_version}, and this kotef {__version__} resumes schema {SCHEMA_VERSION}"
    )
    able = "the version that started it can resume it"
    if task.kotef_version:
        able = f"kotef {task.kotef_version}, which started it, can resume it"
    problem = f"run {run.run_id} cannot be resumed: {schemas}; {able}"
    raise UsageError(problem, hint=_AS_IT_WAS)


def must_fit(run: RunDir) -> None:
    """UsageError if the checkpoints of a run cannot be read; its directory is left as it is."""
    if not run.checkpoints.exists():
        return
    try:
        with closing(sqlite3.connect(run.checkpoints)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            for table in ("checkpoints", "writes"):
                connection.execute(f"SELECT thread_id, checkpoint_ns, checkpoint_id FROM {table} LIMIT 1").fetchone()  # noqa: S608  two names of ours
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):  # killed before its first checkpoint
            return
        raise _unreadable(run, error) from error
    except sqlite3.DatabaseError as error:
        raise _unreadable(run, error) from error


def not_as_left(run: RunDir, task: Task, snapshots: Snapshots) -> tuple[str, ...]:
    """A line for each thing a person should know before the run continues here."""
    notices = []
    if task.kotef_version not in ("", __version__):
        notices.append(f"run {run.run_id} was started by kotef {task.kotef_version}; this is {__version__}")
    since = changed_since_last_tree(run.path, snapshots)
    if since.changed:
        rest = len(since.changed) - _NAMED
        names = ", ".join(since.changed[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
        who = "by someone else, or by the command that was interrupted" if since.in_doubt else "not by the run itself"
        notices.append(f"the workspace has changed since run {run.run_id} last saw it, {who}: {names}")
    return tuple(notices)


def _unreadable(run: RunDir, error: sqlite3.Error) -> UsageError:
    return UsageError(f"the checkpoints of run {run.run_id} cannot be read: {error}", hint=_AS_IT_WAS)
