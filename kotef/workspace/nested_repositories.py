"""Repositories inside the workspace: submodules, linked worktrees, clones; and copies of their git folders."""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from kotef.errors import WorkspaceError
from kotef.files import copy_in, copy_out, make_folder_within, read_within, write_within
from kotef.git import run_git
from kotef.workspace.snapshot_scope import REBUILT_FOLDERS

MOST: Final = 50
"""Repositories that are kept; any others are only named."""
_MOST_FOLDERS: Final = 50_000
"""Folders of the workspace that are searched for repositories."""
_MOST_FILES: Final = 20_000
"""Files of one git folder; `git gc` reduces their number."""
_POINTER: Final = 4096
"""Bytes of a `.git` file, which contains one path."""
_OWN_COMMITS: Final = ("HEAD", "--branches", "--glob=refs/stash", "--not", "--remotes", "--tags")


class Repositories(NamedTuple):
    """Folders inside the workspace with their own `.git`, outer ones before inner ones."""

    kept: tuple[str, ...] = ()
    clean: tuple[str, ...] = ()
    """Ignored by git and without work of their own (all is committed and pushed). They are not kept."""


def repositories(root: Path) -> Repositories:
    """The repositories inside the workspace as it is now, except those in dependencies and caches."""
    found = sorted(_found(root))
    if not found:
        return Repositories()
    outermost = [path for path in found if not any(path.startswith(f"{other}/") for other in found)]
    ignored = {path for path in _ignored(root, outermost) if not holds_work(root / path)}
    kept = [path for path in found if not any(path == other or path.startswith(f"{other}/") for other in ignored)]
    return Repositories(tuple(kept), tuple(sorted(ignored)))


def holds_work(repository: Path) -> bool:
    """Whether deleting it would lose work; True if git cannot know."""
    try:
        status = run_git(["status", "--porcelain", "--untracked-files=normal"], cwd=repository)
        own = run_git(["rev-list", "-1", *_OWN_COMMITS], cwd=repository)
    except WorkspaceError:
        return True
    return bool(status.returncode or own.returncode or status.stdout or own.stdout)


def refs_of(repository: Path) -> dict[str, str]:
    """Name → id of HEAD, branches, tags and stash, and a hash of the index; empty if git fails."""
    try:
        listed = run_git(["for-each-ref", "--format=%(refname) %(objectname)"], cwd=repository)
        head = run_git(["rev-parse", "--verify", "--quiet", "HEAD"], cwd=repository)
        index = run_git(["ls-files", "--stage", "-z"], cwd=repository)
    except WorkspaceError:
        return {}
    names = dict(line.rsplit(" ", 1) for line in listed.stdout.decode("utf-8", "replace").splitlines() if " " in line)
    names["index"] = hashlib.sha256(index.stdout).hexdigest()
    return names | ({"HEAD": head.stdout.decode().strip()} if not head.returncode else {})


class GitFolder:
    """The `.git` of one repository, and a copy of it. Objects are hard links, because they take the most space."""

    def __init__(self, root: Path, repository: str, copy: Path) -> None:
        """`copy` is a folder of kotef's, if possible on the file system of the workspace."""
        self._root, self._name, self._copy = root, f"{repository}/.git", copy
        self._git = root / self._name

    def keep(self) -> bool:
        """Copy the git folder; False if it has too many files, or is a link. Raises `OSError`."""
        shutil.rmtree(self._copy, ignore_errors=True)
        self._copy.mkdir(mode=0o700, parents=True)
        kind = self._git.lstat().st_mode
        if stat.S_ISREG(kind):
            (self._copy / "pointer").write_bytes(read_within(self._root, self._name, largest=_POINTER))
            return True
        if not stat.S_ISDIR(kind):
            return False
        files = list(_files(self._git))
        if len(files) > _MOST_FILES:
            return False
        for name in files:
            is_object = "objects" in name.split("/")[:-1]
            with suppress(FileNotFoundError):  # a lock file, or an object that git has packed since
                copy_out(self._root, f"{self._name}/{name}", self._copy / "folder" / name, link=is_object)
        return True

    def bring_back(self) -> bool:
        """Restore the git folder if it is gone or no longer a repository; add missing objects. Raises `OSError`.

        Returns whether it was gone. Other changes in it stay, since git's own commands may have made them.
        """
        pointer, folder = self._copy / "pointer", self._copy / "folder"
        if pointer.is_file():
            if os.path.lexists(self._git):
                return False
            write_within(self._root, self._name, pointer.read_bytes())
            return True
        in_the_way = self._git.exists() and not self._git.is_dir()
        if in_the_way or not folder.is_dir() or _through_link(self._root, self._name):
            return False
        gone = not self._is_repository()
        for name in _files(folder):
            is_object = "objects" in name.split("/")[:-1]
            if (gone or is_object) and not os.path.lexists(self._git / name):
                copy_in(folder / name, self._root, f"{self._name}/{name}", link=is_object)
        for name in ("objects", "refs") if gone else ():
            make_folder_within(self._root, f"{self._name}/{name}")
        return gone

    def _is_repository(self) -> bool:
        refs = (self._git / "refs").is_dir() or (self._git / "reftable").is_dir()
        return refs and (self._git / "HEAD").is_file() and (self._git / "objects").is_dir()


def _found(root: Path) -> Iterator[str]:
    """Every folder below the root that contains a `.git`, except dependencies and caches."""
    seen = 0
    for place, folders, files in os.walk(root):
        seen += 1
        here = os.path.relpath(place, root)
        if seen > _MOST_FOLDERS or "CACHEDIR.TAG" in files or "pyvenv.cfg" in files:
            folders.clear()
            continue
        if here != "." and (".git" in files or ".git" in folders):
            yield here
        folders[:] = [name for name in folders if name not in REBUILT_FOLDERS and name != ".git"]
        if here == ".sdd":
            folders[:] = [name for name in folders if name != "runs"]


def _ignored(root: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """The paths that the surrounding repository ignores."""
    names = b"".join(os.fsencode(path) + b"\0" for path in paths)
    answer = run_git(["check-ignore", "-z", "--stdin"], cwd=root, stdin=names, user_config=True)
    return tuple(os.fsdecode(name) for name in answer.stdout.split(b"\0") if name) if not answer.returncode else ()


def _files(folder: Path) -> Iterator[str]:
    """Regular files of a git folder, except lock files."""
    for place, _, files in os.walk(folder):
        below = os.path.relpath(place, folder)
        for name in files:
            path = name if below == "." else f"{below}/{name}"
            if not name.endswith(".lock") and stat.S_ISREG(os.lstat(folder / path).st_mode):
                yield path


def _through_link(root: Path, path: str) -> bool:
    return any((root / parent).is_symlink() for parent in (Path(path), *Path(path).parents))
