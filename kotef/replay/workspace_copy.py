"""A copy of a workspace as it was before a run."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from kotef.errors import UsageError, WorkspaceError
from kotef.files import state_dir
from kotef.git import git, run_git
from kotef.sdd.memory import FOLDER
from kotef.workspace import Snapshots, restore_ignored

_ALTERNATES: Final = Path("objects", "info", "alternates")


@contextmanager
def place_for(into: Path | None) -> Iterator[Path]:
    """An empty directory, `into` itself if it is given; without it nothing is left of what is made there.

    UsageError for one that is not empty, or cannot be made.
    """
    if into is not None:
        yield _empty(into)
        return
    place = Path(mkdtemp(prefix="kotef-replay-")).resolve()
    try:
        yield place
    finally:
        shutil.rmtree(state_dir(place), ignore_errors=True)
        shutil.rmtree(place, ignore_errors=True)


def _empty(into: Path) -> Path:
    try:
        into.mkdir(parents=True, exist_ok=True)
        if any(into.iterdir()):
            raise UsageError(f"--into {into}: not empty", hint="name a new or empty directory")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"--into {into}: {reason}", hint="name a directory that can be created") from error
    return into.resolve()


def copy_of(root: Path, tree: str, place: Path) -> Snapshots:
    """The files of a tree of the workspace `root`, with the ignored ones that were kept beside it, in `place`.

    The snapshots of the copy know all that those of the workspace know, and write nothing there. UsageError if the
    tree is gone.
    """
    state = state_dir(root)
    store = state / "store.git"
    gone = UsageError(
        "the state before this run is gone: its snapshot was pruned, or is on another machine",
        hint="`kotef show` still shows the run",
    )
    if not store.is_dir():
        raise gone
    git(["init", "--quiet", "--template=", str(place)], cwd=place)  # as a repository: what it tracks is never ignored
    _same_excludes(root, place)
    copy = Snapshots.open(place)
    (copy.store / _ALTERNATES).parent.mkdir(parents=True, exist_ok=True)
    (copy.store / _ALTERNATES).write_text(f"{store / 'objects'}\n")
    try:
        listed = git(["ls-tree", "-r", "-z", tree], cwd=place, env={"GIT_DIR": str(copy.store)})
        copy.restore(tree, last=copy.take())
    except WorkspaceError as error:
        raise gone from error
    git(["update-index", "-z", "--add", "--index-info"], cwd=place, stdin=listed)
    kept = state / "kept" / tree
    if kept.is_dir():
        copied = [path.relative_to(kept).as_posix() for path in kept.rglob("*") if path.is_symlink() or path.is_file()]
        restore_ignored(place, kept, sorted(copied), ())
    if (root / FOLDER).is_dir() and not (place / FOLDER).exists():
        shutil.copytree(root / FOLDER, place / FOLDER, symlinks=True)
    return copy


def _same_excludes(root: Path, place: Path) -> None:
    """Copy the workspace's own list of ignored files."""
    answer = run_git(["rev-parse", "--git-path", "info/exclude"], cwd=root).stdout  # a worktree has its repository's
    theirs = root / os.fsdecode(answer.removesuffix(b"\n"))
    if theirs.is_file():
        (place / ".git" / "info").mkdir(exist_ok=True)
        shutil.copyfile(theirs, place / ".git" / "info" / "exclude")
