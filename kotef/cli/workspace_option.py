"""The option that chooses the directory a command works in."""

from pathlib import Path

from kotef.errors import UsageError
from kotef.git import toplevel
from kotef.sdd.folder import refuse_misplaced


def workspace_of(root: str | None) -> Path:
    """The workspace: `--root`, else the git top level, else the current directory.

    Raises `SpecError` if its `.sdd` is a link, or contains a link at a path that kotef writes.
    """
    if root is None:
        here = Path.cwd()
        place = toplevel(here) or here
    elif Path(root).is_dir():
        place = Path(root).resolve()
    else:
        raise UsageError(f"--root {root}: no such directory", hint="name an existing directory")
    refuse_misplaced(place)
    return place
