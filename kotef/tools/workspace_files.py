"""Files of the workspace, and resolution of the one a model meant."""

import difflib
import os
import posixpath
import shlex
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from kotef.errors import WorkspaceError
from kotef.files import read_within, resolve_inside, top_of, walk_within
from kotef.tools.errors import ToolFault
from kotef.tools.guard import FileGuard
from kotef.tools.text import MAX_BYTES, Text, clip_line, decode

NOISE: Final = frozenset(
    {
        *(".git", ".hg", ".svn", "node_modules", ".venv", "venv", "virtualenv", "__pycache__", ".tox", ".nox"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".cache", ".gradle", ".eggs", ".idea"),
    }
)
"""Names of directories that hold no source: histories, dependencies, environments, caches."""

_MOST: Final = 100_000
"""Entries of one folder that are shown."""
RUNS: Final = ".sdd/runs"
_SEARCHED: Final = 20_000
"""Files looked at for a name that is close to a missing one."""
_SUGGESTIONS: Final = 3


@dataclass(frozen=True, slots=True)
class Place:
    """A path inside the workspace that was checked."""

    real: Path
    """Absolute, without symbolic links; it may be missing."""
    name: str
    """The same relative to the workspace, with `/`; `.` for the workspace itself; absolute where it is elsewhere."""
    top: Path
    """The folder it must not lead out of: the workspace, or one a person granted to be read. A real path."""

    @property
    def below(self) -> str:
        """Its path relative to `top`, with `/`; `.` for `top` itself."""
        return self.real.relative_to(self.top).as_posix()


def locate(root: Path, path: str, *, guard: FileGuard | None = None, reads: Collection[Path] = ()) -> Place:
    """Check a path the model gave, for writing if there is a guard to ask; `reads` may be read beyond the workspace.

    Raises `ToolFault` `permission_denied` when it leads out of the workspace, may hold secrets or is protected, and
    `schema_reject` for what is not a path at all.
    """
    must_be_path(path)
    try:
        real = resolve_inside(root, path or ".", write=guard is not None, reads=reads)
    except WorkspaceError as error:
        raise ToolFault("permission_denied", str(error)) from error
    top = Path(os.path.realpath(root))
    if not real.is_relative_to(top):
        return Place(real, str(real), top_of(real, top, reads) or top)
    name = real.relative_to(top).as_posix()
    if guard is not None:
        above = next((f"{base}/" for base in (top, root) if path.startswith(f"{base}/")), "")
        given = posixpath.normpath(path.removeprefix(above))
        for named in dict.fromkeys((name, given)):  # a link to a file is as protected as either of its names
            if reason := guard.may_edit(named):
                raise ToolFault("permission_denied", reason)
    return Place(real, name, top)


def must_be_path(path: str) -> None:
    """Raise `ToolFault` `schema_reject` for a name that no file can have, wherever it would lie."""
    if "\0" in path:
        shown = clip_line(path.replace("\0", "\\0"), 200)
        raise ToolFault("schema_reject", f"{shown}: a path cannot contain a NUL character; give a plain path")


def read_text(root: Path, place: Place) -> Text:
    """The text at a place. Raises `ToolFault` `exec_error` when it is missing, too large, binary or unreadable."""
    try:
        size = place.real.lstat().st_size
        if size > MAX_BYTES:
            message = f"{place.name} has {size / 1e6:.1f} MB, more than the {MAX_BYTES / 1e6:.0f} MB that are read"
            raise ToolFault(
                "exec_error", f"{message}; print a part with run_command: sed -n '1,200p' {shlex.quote(place.name)}"
            )
        text = decode(content := read_within(place.top, place.below, largest=MAX_BYTES))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise missing(root, place) from error
    except OSError as error:
        raise ToolFault("exec_error", f"{place.name}: {(error.strerror or str(error)).lower()}") from error
    if text is None:
        raise ToolFault("exec_error", f"{place.name} is binary ({len(content)} bytes); only text is read and edited")
    return text


def missing(root: Path, place: Place) -> ToolFault:
    """The fault for a path that is not there, naming the closest ones that are."""
    base = posixpath.basename(place.name)
    names = list(islice(walk(Path(os.path.realpath(root)), deadline=time.monotonic() + 1), _SEARCHED))
    same = [name for name in names if posixpath.basename(name) == base]
    close = difflib.get_close_matches(place.name, names, n=_SUGGESTIONS, cutoff=0.75)
    found = list(dict.fromkeys([*same, *close]))[:_SUGGESTIONS]
    hint = f"did you mean {', '.join(found)}?" if found else "see list_dir or find_files"
    return ToolFault("exec_error", f"{place.name}: no such file; {hint}", category="file_not_found")


def walk(start: Path, *, deadline: float) -> Iterator[str]:
    """Names of all files below `start`, relative to it, without noise; sorted within each directory, files first.

    Symbolic links are named but not followed. Ends early, in silence, once `time.monotonic()` is past `deadline`.
    """
    for below, folders, files in walk_within(start, most=_MOST):
        if time.monotonic() > deadline:
            return
        prefix = f"{below}/" if below else ""
        if "pyvenv.cfg" in files and prefix:
            folders.clear()
            continue
        folders[:] = [folder for folder in folders if not is_noise(folder, f"{prefix}{folder}")]
        yield from (prefix + file for file in files)


def is_noise(base: str, name: str) -> bool:
    """Whether a directory is skipped in listings and searches; `name` is its path, `base` the last part of it."""
    return base in NOISE or name == RUNS or name.endswith(f"/{RUNS}")
