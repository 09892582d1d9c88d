"""Patches: what one changes, and the tree it makes of another."""

import tempfile
from pathlib import Path
from typing import NamedTuple

from kotef.git.commands import git, run_git


class PatchChange(NamedTuple):
    """One file of a patch."""

    path: str
    added: int | None
    """Lines; None for a binary file."""
    removed: int | None


def patch_changes(patch: bytes, store: Path) -> tuple[PatchChange, ...]:
    """The files of a patch of `Snapshots.patch`, in its order; `store` is any repository, which is not looked at.

    Raises `WorkspaceError` when git cannot read the patch.
    """
    if not patch.strip():
        return ()
    answer = git(["apply", "--numstat", "-z", "-"], cwd=store, env={"GIT_DIR": str(store)}, stdin=patch)
    rows = [row.split(b"\t", 2) for row in answer.split(b"\0") if row]
    return tuple(PatchChange(path.decode("utf-8", "surrogateescape"), _lines(a), _lines(r)) for a, r, path in rows)


def _lines(count: bytes) -> int | None:
    return None if count == b"-" else int(count)


def patched_tree(tree: str, patch: bytes, store: Path, *, reverse: bool = False) -> str | None:
    """The tree that a patch makes of `tree` in a bare repository, or was made from; None when it does not fit.

    No file of a workspace is touched, and contents are taken byte for byte.
    """
    if not patch.strip():
        return tree
    with tempfile.TemporaryDirectory(dir=store, prefix="patched-") as scratch:
        env = {"GIT_DIR": str(store), "GIT_INDEX_FILE": str(Path(scratch) / "index")}
        git(["read-tree", tree], cwd=store, env=env)
        options = ("--cached", "--whitespace=nowarn", *(("--reverse",) if reverse else ()))
        if run_git(["apply", *options, "-"], cwd=store, env=env, stdin=patch).returncode:
            return None
        return git(["write-tree"], cwd=store, env=env).decode().strip()
