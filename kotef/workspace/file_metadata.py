"""File metadata that git does not keep: full modes, extended attributes, and empty folders."""

import base64
import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from kotef.files import chmod_within, facts_of, parent_within
from kotef.workspace.snapshot_scope import REBUILT_FOLDERS

MOST_ENTRIES: Final = 100_000
"""Files and folders whose details are recorded; the rest is not compared."""
_ATTRIBUTES: Final = ("user.", "system.posix_acl_")
"""Extended attributes that a person sets: user attributes and access control lists."""
_KOTEFS: Final = frozenset({".sdd/runs", ".sdd/memory", ".sdd/issues.md"})
_CACHES: Final = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
"""A folder with one of these files was made by a program, which will make it again."""


class Details(BaseModel):
    """The modes, attributes and empty folders of a workspace; names of folders end with a slash."""

    model_config = ConfigDict(frozen=True)

    modes: dict[str, int] = {}
    """Path → permission bits, including setuid, setgid and sticky."""
    attributes: dict[str, dict[str, str]] = {}
    """Path → name → value in base64, for paths that have attributes."""
    empty: tuple[str, ...] = ()
    """Empty folders."""
    complete: bool = True
    """False if there were more than `MOST_ENTRIES`."""


class WalkedFile(NamedTuple):
    """One file or folder of the walk."""

    path: str
    """A folder's path ends with a slash."""
    place: str
    facts: os.stat_result
    is_empty: bool = False
    """Whether this is a folder without entries."""


def walk(root: Path, *, state: Path | None = None) -> Iterator[WalkedFile]:
    """Regular files and folders of the workspace, each folder before its contents.

    Links are not followed. Skipped are git's and kotef's own folders (`state` is kotef's folder outside `.sdd`),
    dependencies and caches.
    """
    waiting = [""]
    while waiting:
        here = waiting.pop()
        place = os.path.join(root, here)  # noqa: PTH118 - once per folder
        if here.rstrip("/") in _KOTEFS or (state is not None and place.rstrip("/") == str(state)):
            continue
        try:
            with os.scandir(place) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
            is_empty = not entries
        except OSError:  # gone, or not readable
            entries, is_empty = [], False
        facts = facts_of(place)
        if facts is None or (here and not _CACHES.isdisjoint(entry.name for entry in entries)):
            continue
        if here:
            yield WalkedFile(here, place, facts, is_empty)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in REBUILT_FOLDERS and entry.name != ".git":
                    waiting.append(f"{here}{entry.name}/")
            elif entry.is_file(follow_symlinks=False) and f"{here}{entry.name}" not in _KOTEFS:
                with suppress(OSError):
                    yield WalkedFile(f"{here}{entry.name}", entry.path, entry.stat(follow_symlinks=False))


def details_of(root: Path, *, state: Path | None = None) -> Details:
    """The details of the workspace as it is now."""
    modes: dict[str, int] = {}
    attributes: dict[str, dict[str, str]] = {}
    empty: list[str] = []
    complete = True
    for found in walk(root, state=state):
        if len(modes) >= MOST_ENTRIES:
            complete = False
            break
        modes[found.path] = stat.S_IMODE(found.facts.st_mode)
        if values := _attributes(found.place):
            attributes[found.path] = values
        if found.is_empty:
            empty.append(found.path)
    return Details(modes=modes, attributes=attributes, empty=tuple(sorted(empty)), complete=complete)


def make_empty(root: Path, known: Details) -> tuple[str, ...]:
    """Make the empty folders that are gone, and return them. A folder whose path is taken now is skipped."""
    made = []
    for path in known.empty:
        if facts_of(os.path.join(root, path.rstrip("/"))) is None:  # noqa: PTH118 - quick
            with suppress(OSError), parent_within(root, path.rstrip("/"), create=True) as (directory, name):
                os.mkdir(name, dir_fd=directory)
                made.append(path)
    return tuple(made)


def remove_empty(
    root: Path, known: Details, ours: Callable[[str, os.stat_result], bool], *, state: Path | None = None
) -> None:
    """Remove folders that were not there before, are `ours`, and contain only such folders."""
    if not known.complete:
        return
    new = [
        found.path
        for found in walk(root, state=state)
        if _is_new_folder(found, known) and ours(found.path, found.facts)
    ]
    for path in sorted(new, reverse=True):
        with suppress(OSError), parent_within(root, path.rstrip("/")) as (directory, name):  # it is not empty
            os.rmdir(name, dir_fd=directory)


def _is_new_folder(found: WalkedFile, known: Details) -> bool:
    return found.path.endswith("/") and found.path not in known.modes


def differing(root: Path, known: Details, *, state: Path | None = None) -> tuple[str, ...]:
    """Files and folders that exist then and now with a different mode or attributes, and empty folders that are gone.

    Sorted. A file that became a folder, or the reverse, is not reported here.
    """
    now = details_of(root, state=state)
    paths = [path for path, mode in now.modes.items() if known.modes.get(path, mode) != mode]
    paths += [path for path in now.modes.keys() & known.modes if _values(now, path) != _values(known, path)]
    gone = (path for path in known.empty if path not in now.modes)
    return tuple(sorted({*paths, *gone}))


def put_back(root: Path, known: Details, ours: Callable[[str], bool], *, state: Path | None = None) -> tuple[str, ...]:
    """Restore modes and attributes of folders and of the files that are `ours`; returns the paths that were changed.

    Inner paths come first, because restoring a folder's mode may make its contents unreachable.
    """
    found = sorted(differing(root, known, state=state), reverse=True)
    chosen = [path for path in found if path in known.modes and (path.endswith("/") or ours(path))]
    return tuple(sorted([path for path in chosen if _put_back(root, path, known)]))


@contextmanager
def opened(root: Path, paths: Iterable[str], modes: Mapping[str, int]) -> Iterator[None]:
    """During the block, kotef can read and write the parent folders of these paths, if it may change their modes.

    Folders whose mode was changed for that get their mode from `modes`, or their old one, at the end.
    """
    folders = {path[: end + 1] for path in paths for end in range(len(path)) if path[end] == "/"}
    lifted: dict[str, int] = {}
    for folder in sorted(folders):
        facts = facts_of(os.path.join(root, folder.rstrip("/")))  # noqa: PTH118 - quick
        if facts is None or not stat.S_ISDIR(facts.st_mode) or facts.st_mode & stat.S_IRWXU == stat.S_IRWXU:
            continue
        with suppress(OSError):
            chmod_within(root, folder.rstrip("/"), stat.S_IMODE(facts.st_mode) | stat.S_IRWXU, folder=True)
            lifted[folder] = modes.get(folder, stat.S_IMODE(facts.st_mode))
    try:
        yield
    finally:
        for folder, mode in sorted(lifted.items(), reverse=True):
            with suppress(OSError):
                chmod_within(root, folder.rstrip("/"), mode, folder=True)


def _put_back(root: Path, path: str, known: Details) -> bool:
    try:
        with _handle(root, path) as handle:
            os.chmod(handle, known.modes[path])  # noqa: PTH101 - a path of an open descriptor
            wanted = _values(known, path)
            for name in _attributes(handle, follow=True).keys() - wanted:
                os.removexattr(handle, name)
            for name, value in wanted.items():
                os.setxattr(handle, name, base64.b64decode(value))
    except OSError:
        return False
    return True


@contextmanager
def _handle(root: Path, path: str) -> Iterator[str]:
    """A path that refers to this regular file or folder itself, even if another file takes its place meanwhile.

    The file need not be readable. Raises `OSError`.
    """
    flags = getattr(os, "O_PATH", os.O_RDONLY) | os.O_NOFOLLOW | os.O_CLOEXEC
    with parent_within(root, path.rstrip("/")) as (directory, name):
        file = os.open(name, flags, dir_fd=directory)
    try:
        mode = os.fstat(file).st_mode
        if not (stat.S_ISDIR(mode) if path.endswith("/") else stat.S_ISREG(mode)):
            raise OSError(errno.EINVAL, "is now a different kind of file", path)
        yield f"/proc/self/fd/{file}"
    finally:
        os.close(file)


def _attributes(place: str, *, follow: bool = False) -> dict[str, str]:
    """Attributes by name; empty if the operating system or the file system has none."""
    if not hasattr(os, "listxattr"):
        return {}
    found = {}
    with suppress(OSError):
        for name in os.listxattr(place, follow_symlinks=follow):
            if name.startswith(_ATTRIBUTES):
                found[name] = base64.b64encode(os.getxattr(place, name, follow_symlinks=follow)).decode()
    return found


def _values(details: Details, path: str) -> dict[str, str]:
    return details.attributes.get(path, {})
