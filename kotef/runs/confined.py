"""In which sandbox do the commands of a workspace run, and what should the person know of it?"""

import os
from collections.abc import Sequence
from pathlib import Path

from kotef.errors import UsageError
from kotef.workspace.environment import child_environment
from kotef.workspace.git import run_git
from kotef.workspace.listing import split
from kotef.workspace.paths import state_dir
from kotef.workspace.sandbox.confinement import confine
from kotef.workspace.sandbox.probe import choose
from kotef.workspace.sandbox.sandbox import OFF, Sandbox, Wanted


def sandbox_of(root: Path, wanted: Wanted, *, network: bool, reads: Sequence[str]) -> tuple[Sandbox, tuple[str, ...]]:
    """The sandbox, tried out, and a line for each thing that is not as one would expect.

    `reads` are folders outside the workspace that commands may read. Raises `SandboxError` where what is wanted is
    not to be had, `UsageError` for a folder that does not exist.
    """
    granted = [Path(name).expanduser().absolute() for name in reads]
    for path in granted:
        if not path.exists():
            raise UsageError(f"--read {path}: there is no such file or folder", hint="name one that exists")
    if wanted == "off":
        return OFF, ()
    env = child_environment(os.environ)
    place = state_dir(root) / "sandbox"
    confinement = confine(root, place, env, network=network, reads=granted, public=_tracked(root))
    sandbox, said = choose(wanted, confinement, env, ci=bool(os.environ.get("CI")))
    return sandbox, (said,) if said else ()


def _tracked(root: Path) -> frozenset[str]:
    """What git tracks in the workspace: nobody's secret any more."""
    if not (root / ".git").exists():
        return frozenset()
    listed = run_git(["ls-files", "-z"], cwd=root)
    return frozenset(split(listed.stdout)) if listed.returncode == 0 else frozenset()
