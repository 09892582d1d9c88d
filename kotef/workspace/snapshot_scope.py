"""Files of the workspace that a snapshot contains, and files that it leaves out."""

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

from kotef.files import TEMPORARY, is_below
from kotef.git import git, run_git

LARGEST_FILE: Final = 5 * 1024 * 1024
"""Bytes of the largest file a snapshot holds."""

REBUILT_FOLDERS: Final = frozenset(
    {
        "node_modules",
        "bower_components",
        ".venv",
        "venv",
        ".tox",
        ".nox",
        ".eggs",
        ".direnv",
        "__pycache__",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".pytype",
        ".hypothesis",
        ".ipynb_checkpoints",
        ".gradle",
        ".parcel-cache",
        ".turbo",
    }
)
"""Directories that are dependencies, environments or caches wherever they stand, and never someone's work."""

EXCLUDES: Final = tuple(f"--exclude={name}/" for name in sorted(REBUILT_FOLDERS))


class FileMark(NamedTuple):
    """File system data of one file; a file with the same mark has almost certainly not changed."""

    mode: int
    size: int
    device: int
    inode: int
    modified: int
    """Nanoseconds since the epoch, and so is the next."""
    changed: int
    """A command can set a file's modification time, but not this one."""

    @classmethod
    def of(cls, found: os.stat_result) -> "FileMark":
        """The mark of a file that was looked at."""
        return cls(found.st_mode, found.st_size, found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns)


class Listing:
    """Lists the workspace through the user's git, or without one through a bare repository of our own."""

    def __init__(self, root: Path, store: Path) -> None:
        self._root = root
        self._own_env = {
            "GIT_DIR": str(store),
            "GIT_WORK_TREE": str(root),
            "GIT_INDEX_FILE": str(store / "no-index"),  # never made: to our own git every file is untracked
        }
        self._top = f"{root}/"
        self._state = f"{store.parent}/".removeprefix(self._top)
        """The folder of kotef's state, relative to the workspace; absolute where it is elsewhere."""
        self.size = 0
        """Bytes of the regular files that `held` looked at last."""
        self.marks: dict[str, FileMark] = {}
        """Path → what the file system says of the files that `held` looked at last."""
        self._in_git = _is_worked_on_with_git(root)

    def held(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """The files a snapshot holds (tracked, or untracked and not ignored), and the names it leaves out.

        Left out are nested repositories, special files, what cannot be read and what is too large; what kotef
        writes itself is neither.
        """
        listed = self._ask("-c", "-o")
        is_directory = _real_directories(self._root)
        self.size, self.marks = 0, {}
        held: set[str] = set()
        left_out: set[str] = set()
        for path in listed:
            if self._is_kotefs_own(path) or not is_directory(path.rpartition("/")[0]):
                continue
            verdict = self._verdict(path)
            if verdict is not None:
                (held if verdict else left_out).add(path)
        return frozenset(held), tuple(sorted(left_out))

    def ignored(self) -> Iterable[str]:
        """Ignored files and, with a slash at the end, directories ignored as a whole; nothing that is rebuilt."""
        for path in self._ask("-o", "-i", "--directory"):
            if not self._is_kotefs_own(path) and not REBUILT_FOLDERS.intersection(path.split("/")):
                yield path

    def unfinished(self) -> Iterable[str]:
        """Files that kotef was about to put in place when it was killed; those in `.sdd` may be another command's."""
        for path in self._ask("-o"):
            if TEMPORARY.fullmatch(path.rpartition("/")[2]) and not path.startswith(".sdd/"):
                yield path

    def _ask(self, *options: str) -> set[str]:
        """Paths from git; once the user's git fails (`.git` broken or gone), ours answers."""
        command = ["ls-files", "-z", "--exclude-standard", *EXCLUDES, *options]
        if self._in_git:
            found = run_git(command, cwd=self._root, user_config=True)
            if not found.returncode:
                return {
                    name for name in split_names(found.stdout) if is_below(name)
                }  # an index may hold what git never adds
        return split_names(git(command, cwd=self._root, env=self._own_env, user_config=True))

    def _is_kotefs_own(self, path: str) -> bool:
        if path.startswith((".sdd/runs/", ".sdd/memory/")) or path == ".sdd/issues.md":
            return True
        if path.startswith(self._state):
            return True
        if ".git" in path.casefold() and ".git" in path.casefold().split("/"):
            return True
        return ".kotef-" in path and bool(TEMPORARY.fullmatch(path.rpartition("/")[2]))

    def _verdict(self, path: str) -> bool | None:
        """True: held; False: left out; None: there is nothing."""
        where = self._top + path
        try:
            found = os.lstat(where)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return False
        if stat.S_ISDIR(found.st_mode):  # a submodule or nested repository; else a directory where a file was tracked
            return False if Path(where, ".git").exists() else None
        self.marks[path] = FileMark.of(found)
        if stat.S_ISLNK(found.st_mode):
            return True
        if not stat.S_ISREG(found.st_mode):
            return False
        self.size += found.st_size
        return found.st_size <= LARGEST_FILE and os.access(where, os.R_OK)


def split_names(names: bytes) -> set[str]:
    """Paths from NUL-terminated output, undecodable bytes kept as surrogates."""
    return {os.fsdecode(name) for name in names.split(b"\0") if name}


def _is_worked_on_with_git(root: Path) -> bool:
    """Whether the user's git lists this directory; one that an outer repository ignores is on its own."""
    top = run_git(["rev-parse", "--show-cdup"], cwd=root, user_config=True)
    if top.returncode:
        return False
    if not top.stdout.strip():
        return True
    return bool(run_git(["check-ignore", "-q", "."], cwd=root, user_config=True).returncode)


def _real_directories(root: Path) -> Callable[[str], bool]:
    """A check, remembering its answers, that a path is a directory reached without a link."""
    known = {"": True}

    def is_directory(path: str) -> bool:
        if path not in known:
            try:
                mode = (root / path).lstat().st_mode
            except OSError:
                mode = 0
            known[path] = stat.S_ISDIR(mode) and is_directory(path.rpartition("/")[0])
        return known[path]

    return is_directory
