"""The workspace's own git repository, with detection of redirections elsewhere."""

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kotef.errors import WorkspaceError
from kotef.files import read_regular

_LARGEST: Final = 1_000_000
"""Bytes of a configuration file; git's own are a few hundred."""
_HUGE: Final = 100_000_000
"""Bytes of a file with ignore patterns, attributes or configuration; recent versions of git refuse larger ones."""
_FILES: Final = ("HEAD", "config", "config.worktree", "index", "packed-refs", "objects", "refs", "info", "shallow")
_BELOW_INFO: Final = ("info/exclude", "info/attributes", "info/sparse-checkout", "info/grafts")
OF_THE_TREE: Final = (".gitignore", ".gitattributes", ".gitmodules")
"""Files of a working tree that git reads when it lists the tree."""
_SECONDS: Final = 5.0
"""Time limit of the search for a pipe."""
_HINT: Final = "run git in it yourself; kotef reads no other repository than the workspace's own"


def pinned(cwd: Path) -> dict[str, str]:
    """Environment that holds git to the working tree around `cwd`, whatever `core.worktree` says.

    Raises `WorkspaceError` if `.git` is led elsewhere: a `.git` file or link, `commondir`, links inside it. Those of
    a worktree or a submodule are fine: the other side names the place back, gitrepository-layout(5).
    """
    for place in (cwd, *cwd.parents):
        git = place / ".git"
        try:
            kind = git.lstat().st_mode
        except OSError:
            continue
        own = git if stat.S_ISDIR(kind) else _led(place, git)
        if own is None:
            return {}
        _check_kinds(place, OF_THE_TREE)
        common = _common(own)
        for folder in dict.fromkeys((own, common)):
            _check(folder)
        configs = (folder / name for folder in (own, common) for name in ("config", "config.worktree"))
        moved = any(b"worktree" in _text(config).lower() for config in configs)
        return {"GIT_WORK_TREE": os.path.realpath(place)} if moved else {}
    return {}


def awaited_pipe(cwd: Path) -> Path | None:
    """A pipe in the working tree around `cwd` that git would open and wait for; None if none is found in time."""
    until = time.monotonic() + _SECONDS
    top = next((place for place in (cwd, *cwd.parents) if (place / ".git").exists()), cwd)
    for where, folders, files in os.walk(top):
        for name in (*OF_THE_TREE, "exclude", "attributes"):
            path = Path(where, name)
            if name in files and stat.S_ISFIFO(path.lstat().st_mode):
                return path
        if time.monotonic() > until:
            return None
        folders[:] = [name for name in folders if name != "objects"]
    return None


def _led(place: Path, git: Path) -> Path | None:
    """Where a `.git` that is a file or a link leads, once that has named the place back; None if it is not one."""
    content = _text(git) if git.is_file() else b""
    if content and not content.startswith(b"gitdir:"):
        return None
    named = place / os.fsdecode(content.removeprefix(b"gitdir:").strip()) if content else git
    own = Path(os.path.realpath(named))
    if not own.is_dir() or own.is_relative_to(os.path.realpath(place)):
        return own if own.is_dir() else None
    if not any(back == os.path.realpath(place) for back in _back(own)):
        raise WorkspaceError(git, f"leads to {own}, which does not know this working tree", hint=_way_back(own, place))
    return own


def _back(own: Path) -> Iterator[str]:
    """The working trees that a git directory elsewhere says it has."""
    if worktree := _text(own / "gitdir").strip():  # of a worktree: its `.git` file
        yield os.path.realpath((own / os.fsdecode(worktree)).parent)
    for line in _text(own / "config").splitlines():
        name, _, value = line.partition(b"=")
        if name.strip().lower() == b"worktree":
            yield os.path.realpath(own / os.fsdecode(value.strip().strip(b'"')))


def _way_back(own: Path, place: Path) -> str:
    return f"if it is yours: git config -f {own}/config core.worktree {os.path.realpath(place)}"


def _common(own: Path) -> Path:
    """The git directory a worktree shares with others: that of the repository whose `worktrees` it lies in."""
    target = _text(own / "commondir").strip()
    if not target:
        return own
    common = Path(os.path.realpath(own / os.fsdecode(target)))
    if Path(os.path.realpath(own)).parent != common / "worktrees":
        raise WorkspaceError(own / "commondir", f"leads to {common}, which is another repository", hint=_HINT)
    return common


def _check(folder: Path) -> None:
    """Refuse links out of the git directory, and what git would wait for."""
    top = os.path.realpath(folder)
    for name in _FILES:
        path = folder / name
        if path.is_symlink() and not _is_below(path, top):
            raise WorkspaceError(path, f"is a link to {os.path.realpath(path)}", hint=_HINT)
    _check_kinds(folder, (*_FILES, *_BELOW_INFO))
    if (folder / "objects" / "info" / "alternates").exists():  # with these, a link to another repository's ref works
        for where, folders, files in os.walk(folder / "refs"):
            for name in (*folders, *files):
                path = Path(where, name)
                if path.is_symlink() and not _is_below(path, top):
                    raise WorkspaceError(path, f"is a link to {os.path.realpath(path)}", hint=_HINT)


def _check_kinds(folder: Path, names: tuple[str, ...]) -> None:
    """Refuse files that git would wait for, or read without end."""
    for name in names:
        path = folder / name
        try:
            facts = path.lstat()
            kind = facts.st_mode
            if name in _BELOW_INFO and stat.S_ISLNK(kind):  # git follows this link, and people use it
                kind = path.stat().st_mode
        except OSError:
            continue
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISLNK(kind)):
            raise WorkspaceError(path, "is neither a file nor a directory", hint="remove it: git would wait for it")
        if facts.st_size > _HUGE and name not in {"index", "packed-refs"}:
            raise WorkspaceError(path, f"has {facts.st_size:,} bytes", hint="remove it: git would read all of it")


def _is_below(path: Path, top: str) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(top)


def _text(path: Path) -> bytes:
    """The bytes of a small file; none of one that is not there, or is not a file."""
    try:
        return read_regular(path, largest=_LARGEST)
    except OSError:
        return b""
