"""Restoration of installed environments before judging; what cannot be restored is named."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final

from kotef.checks.failure_entries import INSTALLED
from kotef.checks.verification import Verification
from kotef.deps import RunContext
from kotef.files import move_out, remove_within
from kotef.nodes.untracked_files import replaced
from kotef.state import Task
from kotef.workspace import (
    HIDDEN_FILES,
    LINK,
    EnvironmentChanges,
    InstalledEnvironments,
    Restored,
    UntrackedFiles,
    altered_environments,
    read_untracked,
    was_environment_link,
    write_entry,
)

_NONE: Final = Restored((), ())
_CONFINING: Final = frozenset({"bwrap", "strict"})
"""Levels at which the sandbox makes protected environments read-only."""


def commands_may_write(context: RunContext) -> bool:
    """Whether commands could write environments, so that these must be compared."""
    return context.confined not in _CONFINING


def close_off_environments(verification: Verification, context: RunContext) -> None:
    """Make the environments that existed at the baseline read-only for commands, if the sandbox can."""
    known = read_untracked(context.snapshots, verification.unheld)
    if known is None:
        return
    context.executor.close_off(known.environments)
    if known.environments.open:
        names = ", ".join(sorted(known.environments.open)[:5])
        text = f"the checks themselves install into {names}: commands can write there, and the checks trust it"
        context.emit("notice", text=text)


def put_environments_back(
    task: Task, baseline: Verification, trees: Mapping[int, str], visit: int, context: RunContext
) -> Restored:
    """Move away what the run installed and put back what it changed. Without that being possible, no run is green.

    With `--allow-install` nothing is compared: the person trusts what commands install.
    """
    known = read_untracked(context.snapshots, baseline.unheld) if baseline.unheld and not task.allow_install else None
    if known is None:
        return _NONE
    held = context.snapshots.paths(trees[0])
    writable = commands_may_write(context)
    found = altered_environments(context.snapshots, held, known.environments, since=known.since, writable=writable)
    stuck = [path for path in found.caches if not _removed(path, context)] if writable else []
    mine = context.snapshots.paths(trees[visit])
    new = [path for path in found.new if not any(one.startswith(f"{path}/") for one in mine)]
    moved = [path for path in new if _move_away(path, context)]
    undone = list(_undone(found, known, context))
    others = {*new, *found.changed, *found.gone, *stuck} - {*moved, *undone}
    return Restored(
        tuple(f"{path} {INSTALLED}; moved to {HIDDEN_FILES}/ of the run)" for path in moved)
        + tuple(f"{path} {INSTALLED})" for path in undone),
        tuple(sorted(f"{path} {INSTALLED})" for path in others)),
    )


def _undone(found: EnvironmentChanges, known: UntrackedFiles, context: RunContext) -> Iterator[str]:
    """The changed and deleted paths that could be put back."""
    environments = known.environments
    for path in (*found.changed, *found.gone):
        if path in environments.places and was_environment_link(environments, path):
            if _link_again(path, environments, context):
                yield path
        elif kept := environments.copies.get(path):
            content = context.snapshots.blob(kept)
            if content is not None and replaced(path, content, known.since, context):
                yield path


def _link_again(path: str, environments: InstalledEnvironments, context: RunContext) -> bool:
    """Restore an environment that was a link to another place."""
    with suppress(OSError):
        if os.path.lexists(context.root / path) and not _move_away(path, context):
            return False
        write_entry(context.root, path, LINK, os.fsencode(environments.places[path][2]))
        return True
    return False


def _removed(path: str, context: RunContext) -> bool:
    """Remove a cache that a command wrote; False if that fails, because a check would use it."""
    try:
        remove_within(context.root, path)
    except OSError:
        return False
    return True


def _move_away(path: str, context: RunContext) -> bool:
    """Move a file or a whole folder out of the workspace, into the run directory."""
    try:
        move_out(context.root, path, context.run_dir / HIDDEN_FILES / path)
    except OSError:
        return False
    return not os.path.lexists(context.root / path)
