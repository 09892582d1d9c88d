"""What git does not keep of files and folders: their full modes, extended attributes, and folders that are empty."""

import base64
import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from kotef.workspace.facts import facts_of
from kotef.workspace.listing import REBUILT
from kotef.workspace.safe_open import chmod_within, parent_within

MOST_ENTRIES: Final = 100_000
"""Files and folders whose details are recorded; of more only the first."""
_ATTRIBUTES: Final = ("user.", "system.posix_acl_")
"""Extended attributes that a person sets: theirs, and access control lists."""
_KOTEFS: Final = frozenset({".sdd/runs", ".sdd/memory", ".sdd/issues.md"})
_CACHES: Final = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
"""A folder with one of these files is made by a program, and made again."""


class Details(BaseModel):
    """The modes, attributes and empty folders of a workspace; the names of folders end with a slash."""

    model_config = ConfigDict(frozen=True)

    modes: dict[str, int] = {}
    """Path → permission bits, set-id and sticky bits included."""
    attributes: dict[str, dict[str, str]] = {}
    """Path → name → value in base64, of those that have any."""
    empty: tuple[str, ...] = ()
    """Folders with nothing in them."""
    complete: bool = True
    """Whether these are all."""


class Found(NamedTuple):
    """One file or folder on the way through the workspace."""

    path: str
    """Of a folder it ends with a slash."""
    place: str
    facts: os.stat_result
    is_empty: bool = False
    """Of a folder: whether it has nothing in it."""


def walk(root: Path, *, state: Path | None = None) -> Iterator[Found]:
    """Regular files and folders of the workspace, each folder before what it holds.

    Links are not followed; passed over are git's and kotef's own folders (`state` is the one outside `.sdd`),
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
        except OSError:  # gone, or closed to us
            entries, is_empty = [], False
        facts = facts_of(place)
        if facts is None or (here and not _CACHES.isdisjoint(entry.name for entry in entries)):
            continue
        if here:
            yield Found(here, place, facts, is_empty)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in REBUILT and entry.name != ".git":
                    waiting.append(f"{here}{entry.name}/")
            elif entry.is_file(follow_symlinks=False) and f"{here}{entry.name}" not in _KOTEFS:
                with suppress(OSError):
                    yield Found(f"{here}{entry.name}", entry.path, entry.stat(follow_symlinks=False))


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
    """Make the empty folders that are gone; returns them. One in whose place something stands is left."""
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
    """Remove the folders that were not there, are `ours`, and hold nothing but such folders."""
    if not known.complete:
        return
    new = [
        found.path
        for found in walk(root, state=state)
        if _is_new_folder(found, known) and ours(found.path, found.facts)
    ]
    for path in sorted(new, reverse=True):
        with suppress(OSError), parent_within(root, path.rstrip("/")) as (directory, name):  # it holds something
            os.rmdir(name, dir_fd=directory)


def _is_new_folder(found: Found, known: Details) -> bool:
    return found.path.endswith("/") and found.path not in known.modes


def differing(root: Path, known: Details, *, state: Path | None = None) -> tuple[str, ...]:
    """Files and folders that are there now, and were, with another mode or other attributes; those empty then and gone.

    Sorted; a file that became a folder, or the reverse, is another matter.
    """
    now = details_of(root, state=state)
    paths = [path for path, mode in now.modes.items() if known.modes.get(path, mode) != mode]
    paths += [path for path in now.modes.keys() & known.modes if _values(now, path) != _values(known, path)]
    gone = (path for path in known.empty if path not in now.modes)
    return tuple(sorted({*paths, *gone}))


def put_back(root: Path, known: Details, ours: Callable[[str], bool], *, state: Path | None = None) -> tuple[str, ...]:
    """Make modes and attributes as they were, of folders and of the files that are `ours`; returns what is changed.

    The innermost come first: a folder may lose the right to be looked into.
    """
    found = sorted(differing(root, known, state=state), reverse=True)
    chosen = [path for path in found if path in known.modes and (path.endswith("/") or ours(path))]
    return tuple(sorted([path for path in chosen if _put_back(root, path, known)]))


@contextmanager
def opened(root: Path, paths: Iterable[str], modes: Mapping[str, int]) -> Iterator[None]:
    """Inside the block we may look into the folders of these paths and write there, where they are the run's to have.

    Those that we had to open get the modes they had, or have in `modes`, at the end.
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
            os.chmod(handle, known.modes[path])  # noqa: PTH101 - a descriptor by its name
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
    """A name under which a regular file or a folder can be changed, whatever is put in its place meanwhile.

    It need not be readable. Raises `OSError`.
    """
    flags = getattr(os, "O_PATH", os.O_RDONLY) | os.O_NOFOLLOW | os.O_CLOEXEC
    with parent_within(root, path.rstrip("/")) as (directory, name):
        file = os.open(name, flags, dir_fd=directory)
    try:
        mode = os.fstat(file).st_mode
        if not (stat.S_ISDIR(mode) if path.endswith("/") else stat.S_ISREG(mode)):
            raise OSError(errno.EINVAL, "is of another kind now", path)
        yield f"/proc/self/fd/{file}"
    finally:
        os.close(file)


def _attributes(place: str, *, follow: bool = False) -> dict[str, str]:
    """Attributes by name; none where the system, or the file system, knows none."""
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
