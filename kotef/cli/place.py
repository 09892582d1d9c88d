"""Which directory does a command work in?"""

from pathlib import Path

from kotef.errors import UsageError
from kotef.workspace.git import inspect


def workspace_of(root: str | None) -> Path:
    """The workspace: `--root`, else the git top level, else the current directory."""
    if root is not None:
        if not Path(root).is_dir():
            raise UsageError(f"--root {root}: no such directory", hint="name an existing directory")
        return Path(root).resolve()
    here = Path.cwd()
    return inspect(here).toplevel or here
