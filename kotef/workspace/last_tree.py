"""The workspace tree that a run saw last, and the files it wrote since."""

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from kotef.errors import WorkspaceError
from kotef.workspace.snapshots import Snapshots

_NAME: Final = "seen.json"


class Since(NamedTuple):
    """Changes since a run last looked, except those of its file tools."""

    changed: tuple[str, ...]
    """Sorted."""
    in_doubt: bool
    """A command of the run was at work when it was killed: what it wrote is among them."""


def note_last_tree(run_dir: Path, tree: str, *, wrote: Iterable[str] = (), at_work: bool = False) -> None:
    """Note that the workspace is as in `tree`, except for the files that the run `wrote`.

    `at_work`: a command is about to change it. Where nothing can be noted, nothing is known at a resume.
    """
    noted = {"tree": tree, "wrote": sorted(wrote), "at_work": at_work}
    with suppress(OSError):
        (run_dir / _NAME).write_text(json.dumps(noted), encoding="utf-8")


def forget_last_tree(run_dir: Path) -> None:
    """From now on the run changes the workspace without noting it."""
    with suppress(OSError):
        (run_dir / _NAME).unlink(missing_ok=True)


def read_last_tree(run_dir: Path) -> str:
    """The tree the run saw last; empty where that is not on record, or it has written since."""
    try:
        noted = json.loads((run_dir / _NAME).read_bytes())
        return "" if noted["wrote"] or noted["at_work"] else str(noted["tree"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def changed_since_last_tree(run_dir: Path, snapshots: Snapshots) -> Since:
    """Changes since the run last looked; empty if that is not recorded."""
    try:
        noted = json.loads((run_dir / _NAME).read_bytes())
        changed = snapshots.changed(noted["tree"], snapshots.take())
        return Since(tuple(sorted(set(changed) - set(noted["wrote"]))), bool(noted["at_work"]))
    except (OSError, ValueError, KeyError, TypeError, WorkspaceError):
        return Since((), in_doubt=False)
