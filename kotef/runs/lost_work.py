"""Uncommitted work from before a run that the run removed, and how to get it back."""

import os
import shlex
from pathlib import Path
from typing import Final

from kotef.git import run_git
from kotef.workspace import Snapshots

_NAMED: Final = 10


def lost_work(snapshots: Snapshots, before: str, now: str, *, undo: str) -> str:
    """A line that names lost work and how to restore it; empty if nothing is lost.

    Work is lost where a file that was untracked, or not as in HEAD, is deleted or as in HEAD now, and its content
    stands nowhere else. `undo` is a command line that brings everything back; empty if none does.
    """
    was, here = snapshots.ids(before), snapshots.ids(now)
    changed = [path for path in snapshots.changed(before, now) if path in was and not path.startswith(".sdd/")]
    if not changed:
        return ""
    committed, standing = _committed(snapshots.root), set(here.values())
    lost = [
        path
        for path in changed
        if was[path] != committed.get(path)
        and here.get(path) in (None, committed.get(path))
        and was[path] not in standing
    ]
    if not lost:
        return ""
    rest = len(lost) - _NAMED
    names = ", ".join(lost[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
    way = f"`git --git-dir={shlex.quote(str(snapshots.store))} cat-file -p {before}:PATH` shows each"
    all_back = f", and `{undo}` restores everything" if undo else ""
    return f"uncommitted work from before the run is gone from {names}; {way}{all_back}"


def _committed(root: Path) -> dict[str, str]:
    """Path → blob id in HEAD; empty without git or a commit."""
    listed = run_git(["ls-tree", "-r", "-z", "HEAD"], cwd=root, user_config=True)
    lines = listed.stdout.split(b"\0") if not listed.returncode else []
    found = {}
    for line in filter(None, lines):
        facts, _, path = line.partition(b"\t")
        found[os.fsdecode(path)] = facts.split()[2].decode()
    return found
