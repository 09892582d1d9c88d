"""Hooks and configuration of the user's git, and their restoration after a command."""

import os
import shutil
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from kotef.errors import WorkspaceError
from kotef.files import write_atomic

MAX_BYTES: Final = 1_000_000
"""A larger file is not kept; it is left as it is, and removed where it is new."""
_MAX_POINTER: Final = 4096
"""Bytes of a `.git` file, or of `commondir`: each holds one path."""


class _GitEntry(NamedTuple):
    mode: int
    """Kind and permissions, as `lstat` has them."""
    content: bytes | None
    """Bytes of a file, or target of a link; None for another kind, too large or unreadable."""


@dataclass(frozen=True, slots=True)
class GitState:
    """What decides which programs git runs: the hooks and the configuration, a worktree's own included."""

    where: tuple[Path, ...]
    entries: Mapping[Path, _GitEntry]

    def put_back(self, aside: Path) -> tuple[str, ...]:
        """Make them as they were; returns the names of what differed, `config` or that of a hook, sorted.

        What stood in their place is copied into the directory `aside`, as files that are not executable.
        Raises `WorkspaceError` if one cannot be put back.
        """
        if not all(place.is_dir() for place in self.where):
            return ()
        try:
            names = self._pass(aside)
            if "hooks" in names:  # it could not be looked into, or was another one
                names |= self._pass(aside)
        except OSError as error:
            why = f"cannot be put back: {(error.strerror or str(error)).lower()}"
            raise WorkspaceError(error.filename or self.where[0], why, hint="check it by hand") from error
        return tuple(sorted(names))

    def _pass(self, aside: Path) -> set[str]:
        now = _entries(self.where)
        extra = sorted((path for path in now if path not in self.entries), reverse=True)
        differ = sorted(path for path, entry in self.entries.items() if _differs(entry, now.get(path)))
        for path in (*extra, *differ):
            _keep(now.get(path), aside / path.name)
        for path in extra:
            _remove(path)
        for path in differ:
            _write(path, self.entries[path])
        return {path.name for path in (*extra, *differ)}


def git_state(root: Path) -> GitState | None:
    """The hooks and the configuration of the repository that `root` lies in; None if it is in none we may read.

    Only files are read, and no git is started.
    """
    try:
        where = places(root)
        return GitState(where, _entries(where)) if where else None
    except PermissionError:  # a directory on the way is closed to us, so to the coder's commands
        return None


def places(root: Path) -> tuple[Path, ...]:
    """The git directory of the working tree around `root`, and the one it shares with other worktrees."""
    for above in (root, *root.parents):
        place = above / ".git"
        if place.is_file():
            named = _pointer(place, "gitdir:")
            place = above / named if named else place
        if (place / "HEAD").is_file():
            common = _pointer(place / "commondir", "")
            return tuple(dict.fromkeys((place.resolve(), (place / common).resolve())))
    return ()


def _pointer(file: Path, prefix: str) -> str:
    """The path a file of git's holds after `prefix`; empty when it holds none."""
    try:
        with file.open("rb") as opened:
            text = os.fsdecode(opened.read(_MAX_POINTER))
    except OSError:
        return ""
    return text.removeprefix(prefix).strip() if text.startswith(prefix) else ""


def _entries(where: tuple[Path, ...]) -> dict[Path, _GitEntry]:
    """What is there now; of a linked directory of hooks only where it leads, for what it holds is not git's."""
    found: dict[Path, _GitEntry] = {}
    for place in where:
        hooks = place / "hooks"
        inside = []
        if hooks.is_dir() and not hooks.is_symlink():
            with suppress(OSError):  # its mode shows that it cannot be looked into
                inside = sorted(hooks.iterdir())
        for path in (place / "config", place / "config.worktree", hooks, *inside):
            if (entry := _entry(path)) is not None:
                found[path] = entry
    return found


def _entry(path: Path) -> _GitEntry | None:
    try:
        facts = path.lstat()
        if stat.S_ISLNK(facts.st_mode):
            return _GitEntry(facts.st_mode, os.fsencode(path.readlink()))
        if stat.S_ISREG(facts.st_mode) and facts.st_size <= MAX_BYTES:
            try:
                return _GitEntry(facts.st_mode, path.read_bytes())
            except PermissionError:
                return _GitEntry(facts.st_mode, None)
    except OSError:
        return None
    return _GitEntry(facts.st_mode, None)


def _differs(was: _GitEntry, now: _GitEntry | None) -> bool:
    """Whether something that can be put back is not as it was; a directory of hooks is no more than its mode."""
    restorable = was.content is not None or stat.S_ISDIR(was.mode)
    return restorable and was != now


def _keep(entry: _GitEntry | None, copy: Path) -> None:
    if entry is not None and entry.content is not None:
        write_atomic(copy, entry.content)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.chmod(stat.S_IRWXU)
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _write(path: Path, entry: _GitEntry) -> None:
    if stat.S_ISDIR(entry.mode):
        if path.is_symlink() or not path.is_dir():
            path.unlink(missing_ok=True)
            path.mkdir()
        path.chmod(stat.S_IMODE(entry.mode))
        return
    if path.is_symlink() or not path.is_file():
        _remove(path)
    content = entry.content or b""
    if stat.S_ISLNK(entry.mode):
        _remove(path)
        path.symlink_to(os.fsdecode(content))
        return
    write_atomic(path, content)
    path.chmod(stat.S_IMODE(entry.mode))
