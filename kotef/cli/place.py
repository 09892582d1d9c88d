"""Which directory does a command work in?"""

from pathlib import Path

from kotef.errors import UsageError
from kotef.sdd.folder import refuse_misplaced
from kotef.workspace.git import toplevel


def workspace_of(root: str | None) -> Path:
    """The workspace: `--root`, else the git top level, else the current directory.

    Raises `SpecError` if its `.sdd` is a link, or contains a link at a path that kotef writes.
    """
    place = _named(root) if root is not None else _around(Path.cwd())
    refuse_misplaced(place)
    return place


def _named(root: str) -> Path:
    if not Path(root).is_dir():
        raise UsageError(f"--root {root}: no such directory", hint="name an existing directory")
    return Path(root).resolve()


def _around(here: Path) -> Path:
    return toplevel(here) or here
