"""The commit from which a repository's settings are read."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kotef.files import state_dir, write_atomic
from kotef.git import run_git

SETTINGS: Final = (
    ".sdd/kotef.toml",
    ".sdd/agents.md",
    ".sdd/architect.md",
    ".sdd/mcp.json",
    ".sdd/prompts",
    ".mcp.json",
    "pyproject.toml",
)
"""Paths of the repository's settings: configuration, roles, servers, prompts, and checks."""
_LARGEST: Final = 1024 * 1024
_FILES: Final = frozenset({"100644", "100755"})
"""git's modes of regular files, without links."""


def settings_place(root: Path, env: Mapping[str, str] = os.environ) -> tuple[Path, tuple[str, ...]]:
    """Where the settings of a workspace are read: in it, or in a CI job for a pull request in a copy of the base's.

    Then whoever opens the request has written the workspace, and cannot say how it is to be judged. Where the base
    cannot be read there is a place without settings. With a line that says which it is, unless it is the workspace.
    """
    is_request, base = _base_of(env)
    if not is_request:
        return root, ()
    place = state_dir(root) / "base-settings"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(mode=0o700)
    ref = f"refs/remotes/origin/{base}^{{commit}}"
    found = run_git(["rev-parse", "--verify", "--quiet", "--end-of-options", ref], cwd=root, user_config=True)
    commit = found.stdout.decode().strip()
    if not base or found.returncode or not commit:
        reason = (
            f"its base branch origin/{base} is missing here (git fetch origin {base})" if base else "no base is named"
        )
        return place, (f"this is a pull request, and {reason}: settings of the repository are ignored",)
    _copy(root, commit, place)
    return place, (f"this is a pull request: settings of the repository are those of origin/{base}, {commit[:12]}",)


def _base_of(env: Mapping[str, str]) -> tuple[bool, str]:
    """Whether this is a job for a pull request, and its base branch, according to the CI service."""
    if env.get("GITHUB_EVENT_NAME", "").startswith("pull_request"):
        return True, env.get("GITHUB_BASE_REF", "")
    target = env.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "")
    return bool(target), target


def _copy(root: Path, commit: str, place: Path) -> None:
    """Write the settings of the commit; paths start at the workspace, which may be a subfolder."""
    listed = run_git(["ls-tree", "-r", "-l", "-z", commit, "--", *SETTINGS], cwd=root, user_config=True)
    for line in listed.stdout.split(b"\0")[:-1]:
        facts, _, path = line.partition(b"\t")
        mode, _, blob, size = facts.decode().split()
        if mode in _FILES and int(size) <= _LARGEST:
            content = run_git(["cat-file", "blob", blob], cwd=root, user_config=True).stdout
            file = place / os.fsdecode(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(file, content)
