"""Restoration of installed environments before judging; what cannot be restored is named."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final

from kotef.checks.failure_entries import INSTALLED
from kotef.checks.verification import Verification
from kotef.deps import Deps, JudgeDeps
from kotef.files import move_out, remove_within
from kotef.nodes.untracked_files import replaced
from kotef.state import Task
from kotef.workspace.file_entry import LINK, write_entry
from kotef.workspace.file_swap_journal import HIDDEN
from kotef.workspace.installed_environments import Alteration, Installed, altered, was_link
from kotef.workspace.snapshots import Restored
from kotef.workspace.untracked_scan import Unheld, recall

_NONE: Final = Restored((), ())
_CONFINING: Final = frozenset({"bwrap", "strict"})
"""Levels at which the sandbox makes protected environments read-only."""


def commands_may_write(deps: JudgeDeps) -> bool:
    """Whether commands could write environments, so that they have to be compared."""
    return deps.confined not in _CONFINING


def close_off_environments(verification: Verification, deps: JudgeDeps) -> None:
    """Make the environments that existed at the baseline read-only for commands, if the sandbox can."""
    known = recall(deps.snapshots, verification.unheld)
    if known is None:
        return
    deps.close_off(known.environments)
    if known.environments.open:
        names = ", ".join(sorted(known.environments.open)[:5])
        text = f"the checks themselves install into {names}: commands can write there, and the checks trust it"
        deps.emit("notice", text=text)


def put_environments_back(
    task: Task, baseline: Verification, trees: Mapping[int, str], visit: int, deps: Deps
) -> Restored:
    """Move away what the run installed and put back what it changed. Without that being possible, no run is green.

    With `--allow-install` nothing is compared: the person trusts what commands install.
    """
    known = recall(deps.snapshots, baseline.unheld) if baseline.unheld and not task.allow_install else None
    if known is None:
        return _NONE
    held = deps.snapshots.paths(trees[0])
    writable = commands_may_write(deps)
    found = altered(deps.snapshots, held, known.environments, since=known.since, writable=writable)
    stuck = [path for path in found.caches if not _removed(path, deps)] if writable else []
    mine = deps.snapshots.paths(trees[visit])
    new = [path for path in found.new if not any(one.startswith(f"{path}/") for one in mine)]
    moved = [path for path in new if _move_away(path, deps)]
    undone = list(_undone(found, known, deps))
    others = {*new, *found.changed, *found.gone, *stuck} - {*moved, *undone}
    return Restored(
        tuple(f"{path} {INSTALLED}; moved to {HIDDEN}/ of the run)" for path in moved)
        + tuple(f"{path} {INSTALLED})" for path in undone),
        tuple(sorted(f"{path} {INSTALLED})" for path in others)),
    )


def _undone(found: Alteration, known: Unheld, deps: Deps) -> Iterator[str]:
    """The changed and deleted paths that could be put back."""
    environments = known.environments
    for path in (*found.changed, *found.gone):
        if path in environments.places and was_link(environments, path):
            if _link_again(path, environments, deps):
                yield path
        elif kept := environments.copies.get(path):
            content = deps.snapshots.blob(kept)
            if content is not None and replaced(path, content, known.since, deps):
                yield path


def _link_again(path: str, environments: Installed, deps: Deps) -> bool:
    """Restore an environment that was a link to another place."""
    with suppress(OSError):
        if os.path.lexists(deps.root / path) and not _move_away(path, deps):
            return False
        write_entry(deps.root, path, LINK, os.fsencode(environments.places[path][2]))
        return True
    return False


def _removed(path: str, deps: Deps) -> bool:
    """Remove a cache that a command wrote; False where that cannot be done, and a check would believe it."""
    try:
        remove_within(deps.root, path)
    except OSError:
        return False
    return True


def _move_away(path: str, deps: Deps) -> bool:
    """Move a file or a whole folder out of the workspace, into the run directory."""
    try:
        move_out(deps.root, path, deps.run_dir / HIDDEN / path)
    except OSError:
        return False
    return not os.path.lexists(deps.root / path)
