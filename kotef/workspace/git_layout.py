"""Is the repository git would find here the workspace's own, or does something lead it elsewhere?"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kotef.errors import WorkspaceError
from kotef.workspace.safe_open import read_regular

_LARGEST: Final = 1_000_000
"""Bytes of a configuration file; git's own are a few hundred."""
_FILES: Final = ("HEAD", "config", "config.worktree", "index", "packed-refs", "objects", "refs")
_HINT: Final = "run git in it yourself; kotef reads no other repository than the workspace's own"


def pinned(cwd: Path) -> dict[str, str]:
    """Environment that holds git to the working tree around `cwd`, whatever `core.worktree` says.

    Raises `WorkspaceError` where `.git` is led elsewhere: a `.git` file or link, `commondir`, links inside it. Those of
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
        common = _common(own)
        for folder in dict.fromkeys((own, common)):
            _check(folder)
        configs = (folder / name for folder in (own, common) for name in ("config", "config.worktree"))
        moved = any(b"worktree" in _text(config).lower() for config in configs)
        return {"GIT_WORK_TREE": os.path.realpath(place)} if moved else {}
    return {}


def _led(place: Path, git: Path) -> Path | None:
    """Where a `.git` that is a file or a link leads, once that has named the place back; None when it is no pointer."""
    said = _text(git) if git.is_file() else b""
    if said and not said.startswith(b"gitdir:"):
        return None
    named = place / os.fsdecode(said.removeprefix(b"gitdir:").strip()) if said else git
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
    said = _text(own / "commondir").strip()
    if not said:
        return own
    common = Path(os.path.realpath(own / os.fsdecode(said)))
    if Path(os.path.realpath(own)).parent != common / "worktrees":
        raise WorkspaceError(own / "commondir", f"leads to {common}, which is another repository", hint=_HINT)
    return common


def _check(folder: Path) -> None:
    """Refuse links out of the git directory, and what git would wait for."""
    top = os.path.realpath(folder)
    for name in _FILES:
        path = folder / name
        try:
            kind = path.lstat().st_mode
        except OSError:
            continue
        if stat.S_ISLNK(kind) and not _is_below(path, top):
            raise WorkspaceError(path, f"is a link to {os.path.realpath(path)}", hint=_HINT)
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISLNK(kind)):
            raise WorkspaceError(path, "is neither a file nor a directory", hint=_HINT)
    if (folder / "objects" / "info" / "alternates").exists():  # with these, a link to another repository's ref works
        for where, folders, files in os.walk(folder / "refs"):
            for name in (*folders, *files):
                path = Path(where, name)
                if path.is_symlink() and not _is_below(path, top):
                    raise WorkspaceError(path, f"is a link to {os.path.realpath(path)}", hint=_HINT)


def _is_below(path: Path, top: str) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(top)


def _text(path: Path) -> bytes:
    """The bytes of a small file; none of one that is not there, or is no file."""
    try:
        return read_regular(path, largest=_LARGEST)
    except OSError:
        return b""
