"""The lock on a workspace."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from kotef.errors import BusyError
from kotef.files import os_fault, state_dir
from kotef.workspace.process_tree import start_of


class Holder(NamedTuple):
    """A process that holds a workspace; its number and its start together name it, and no other."""

    pid: int
    started: int
    """Clock ticks since boot."""
    run: str
    """The run (or the command) it works on."""


@contextmanager
def workspace_lock(root: Path, run_id: str) -> Iterator[None]:
    """Hold the workspace: one writer at a time, whichever process or thread it is in.

    The kernel lets go of it when the holder dies, however it dies, and no child inherits it: there is no stale lock to
    take over, and a number that another process has by now means nothing. The file itself stays.

    Raises `BusyError` naming the holder, `WorkspaceError` where files cannot be locked.
    """
    path = state_dir(root) / "lock"
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise os_fault(path, error) from error
    try:
        _acquire(file, path, root, run_id)
        try:
            yield
        finally:
            with suppress(OSError):
                os.ftruncate(file, 0)
    finally:
        os.close(file)


def at_work(root: Path) -> str | None:
    """The run (or the command) that holds the workspace now; None when no one is known to."""
    found = holder_of(root)
    return found.run if found else None


def holder_of(root: Path) -> Holder | None:
    """The process that holds the workspace now; None when no one is known to.

    The lock is not touched. Who it names holds it while a process of that number and that start lives: a number alone
    is soon another's.
    """
    try:
        holder = json.loads((state_dir(root) / "lock").read_bytes())
        found = Holder(int(holder["pid"]), int(holder["started"]), str(holder["run"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if start_of(found.pid) == found.started else None


def _acquire(file: int, path: Path, root: Path, run_id: str) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(file, 0)
        os.write(file, json.dumps({"pid": os.getpid(), "started": start_of(os.getpid()), "run": run_id}).encode())
    except BlockingIOError as error:
        pid, run = _holder(path)
        raise BusyError(root, pid=pid, run=run) from error
    except OSError as error:
        raise os_fault(path, error, hint="set XDG_STATE_HOME to a local disk") from error


def _holder(path: Path) -> tuple[int | None, str | None]:
    """Process number and run id of the holder; None for what it has not written yet."""
    try:
        holder = json.loads(path.read_bytes())
        return int(holder["pid"]), str(holder["run"])
    except (OSError, ValueError, KeyError, TypeError):
        return None, None
