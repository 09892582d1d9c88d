"""Installed environments of a workspace: which ones exist, and what changed in them since the baseline."""

import json
import os
import stat
from collections.abc import Collection, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from kotef.files import facts_of, is_folder
from kotef.workspace.protected_environments import JS_CACHES, Identity
from kotef.workspace.snapshot_scope import REBUILT_FOLDERS
from kotef.workspace.snapshots import Snapshots

NAMES: Final = frozenset(
    {"node_modules", "bower_components", ".venv", "venv", ".tox", ".nox", ".eggs", ".pixi", "__pypackages__"}
)
"""Names of folders that an installation fills, anywhere in the workspace, if git tracks no file in them."""

_MARKS: Final = ("pyvenv.cfg", "conda-meta")
"""Entries that mark the root of an environment, whatever its name."""
_VENDORED: Final = ("autoload.php", "modules.txt", "bundle", "composer")
"""Entries that mark a `vendor` folder as filled by an installation."""
_STEERS: Final = (".pth", "customize.py", "pyvenv.cfg", "_virtualenv.py", "entry_points.txt")
"""Suffixes of small files that decide what an interpreter runs."""
_SMALL: Final = 64 * 1024
_MOST_COPIED: Final = 500
"""Environments with at most this many small files are copied whole; of larger ones only the files in `_STEERS`."""
_NAMED: Final = 2000
"""Changed paths of one environment that are examined one by one."""

Row = tuple[int, int, int]
"""Inode number, size in bytes and change time in nanoseconds of an entry."""


class InstalledEnvironments(BaseModel):
    """The environments that existed when the baseline was judged."""

    model_config = ConfigDict(frozen=True)

    places: dict[str, Identity] = {}
    """Path relative to the workspace → identity of the folder or link."""
    open: frozenset[str] = frozenset()
    """Environments that the baseline's checks install into: they stay writable, and are trusted."""
    listing: str = ""
    """Id under which the entries of every folder are stored; empty if commands cannot write environments."""
    copies: dict[str, str] = {}
    """Path of a file → id of its stored content."""


class EnvironmentChanges(NamedTuple):
    """Changes in the environments."""

    new: tuple[str, ...] = ()
    """Environments, packages and files that did not exist before."""
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    caches: tuple[str, ...] = ()
    """Bytecode and bundler caches, which the next check rebuilds."""


def find_environments(root: Path, held: Collection[str]) -> dict[str, Identity]:
    """Every environment below the workspace; a folder with a file in `held` (a snapshot) is source, not environment."""
    source = {above for path in held for above in accumulate(path.split("/"), "{}/{}".format)}
    found = {}
    for directory, names, files in os.walk(root):
        here = _relative(directory, root)
        if here and here not in source and is_environment(here, names, files):
            found[here] = _identity(root / here)
            names.clear()
            continue
        below = f"{here}/" if here else ""
        for name in names:
            path = f"{below}{name}"
            if os.path.islink(f"{directory}/{name}") and path not in source and _leads_to_one(root / path):  # noqa: PTH114
                found[path] = _identity(root / path)
        names[:] = [name for name in names if name != ".git" and (name in NAMES or name not in REBUILT_FOLDERS)]
    return {path: identity for path, identity in found.items() if identity}


def is_environment(path: str, folders: Collection[str], files: Collection[str]) -> bool:
    """Whether a folder with these entries is an environment."""
    name = path.rpartition("/")[2]
    vendored = name == "vendor" and any(mark in files or mark in folders for mark in _VENDORED)
    return name in NAMES or vendored or any(mark in files or mark in folders for mark in _MARKS)


def environment_around(root: Path, path: str, held: Collection[str]) -> str:
    """The environment that contains a path (relative to the workspace), or is it; empty if there is none."""
    for above in accumulate(path.split("/"), "{}/{}".format):
        named = above.rpartition("/")[2] in NAMES and (above != path or not (root / above).is_file())
        marked = above != path and any(os.path.lexists(root / above / mark) for mark in _MARKS)
        begun = f"{above}/"
        if (named or marked or _is_vendored(root, above)) and not any(one.startswith(begun) for one in held):
            return above
    return ""


def written_environments(root: Path, held: Collection[str], *, began: float) -> frozenset[str]:
    """Environments in which files other than caches changed since `began`: the checks install into them."""
    return frozenset(path for path in find_environments(root, held) if _is_written(root, path, began))


def _is_written(root: Path, place: str, began: float) -> bool:
    """Folders are ignored: a file that was created and removed again changes its folder, but installs nothing."""
    return any(not is_cache and not is_folder(root / path) for path, is_cache in _newer(root, place, began))


def remember_environments(
    snapshots: Snapshots, held: Collection[str], *, opened: Collection[str], writable: bool
) -> InstalledEnvironments:
    """The environments as they are now; `opened` are those that the checks install into.

    `writable`: commands can write environments, so their entries are listed and their small files copied.
    """
    root, places = snapshots.root, find_environments(snapshots.root, held)
    if not writable:
        return InstalledEnvironments(places=places, open=frozenset(opened))
    listing: dict[str, dict[str, Row]] = {}
    copied: list[str] = []
    for path in places.keys() - set(opened):
        rows = dict(_rows(root, path))
        listing |= rows
        copied += _to_copy(root, rows)
    kept = snapshots.keep(json.dumps(listing).encode())
    return InstalledEnvironments(
        places=places, open=frozenset(opened), listing=kept, copies=snapshots.keep_files(copied)
    )


def altered_environments(
    snapshots: Snapshots, held: Collection[str], known: InstalledEnvironments, *, since: float, writable: bool
) -> EnvironmentChanges:
    """Differences from `known`, which was taken at `since`. Only entries with a later change time are examined.

    If commands cannot write environments (not `writable`), only whole environments can appear, go or be exchanged.
    """
    now = find_environments(snapshots.root, held)
    there = set(now.values())
    stays = {path for path, identity in known.places.items() if now.get(path) != identity and identity in there}
    moved = set() if writable else stays  # a writable environment may have changed while it was moved
    fresh = [path for path, one in now.items() if path not in known.places and one not in known.places.values()]
    new = [path for path in fresh if not _holds_caches_alone(snapshots.root, path)]
    gone = [path for path in known.places if path not in now and path not in moved | known.open]
    changed = [
        path
        for path, was in known.places.items()
        if path in now and now[path] != was and path not in moved | known.open
    ]
    found = [EnvironmentChanges(tuple(new), tuple(changed), tuple(gone))]
    if writable:
        same = [path for path, was in known.places.items() if now.get(path) == was and path not in known.open]
        found += [_inside(snapshots, path, known, since) for path in same if not was_environment_link(known, path)]
    return EnvironmentChanges(
        *(tuple(path for one in found for path in one[kind]) for kind in range(len(EnvironmentChanges._fields)))
    )


def was_environment_link(known: InstalledEnvironments, path: str) -> bool:
    """Whether this environment was a link to another place."""
    return bool(known.places[path][2])


def _inside(snapshots: Snapshots, place: str, known: InstalledEnvironments, since: float) -> EnvironmentChanges:
    """Changes in an environment that is still the same folder."""
    root, newer = snapshots.root, list(_newer(snapshots.root, place, since))
    caches = [path for path, is_cache in newer if is_cache]
    suspects = [path for path, is_cache in newer if not is_cache][:_NAMED]
    if not suspects:
        return EnvironmentChanges(caches=tuple(caches))
    listing = _listing(snapshots, known.listing)
    new, changed, gone = list[str](), list[str](), list[str]()
    for path in suspects:
        above, _, name = path.rpartition("/")
        was = listing.get(above, {}).get(name)
        facts = facts_of(root / path)
        if path in new or any(path.startswith(f"{one}/") for one in new) or facts is None:
            continue
        if stat.S_ISDIR(facts.st_mode):
            rows = listing.get(path)
            if rows is None:
                (changed if not known.listing else new).append(path)
                continue
            now = _entries(root / path)
            new += [f"{path}/{one}" for one in now.keys() - rows.keys() if not _is_cache(f"{path}/{one}", place)]
            gone += [f"{path}/{one}" for one in rows.keys() - now.keys() if not _is_cache(f"{path}/{one}", place)]
            changed += [f"{path}/{one}" for one in now.keys() & rows.keys() if now[one][0] != rows[one][0]]
        else:
            (changed if was or not known.listing else new).append(path)
    plain = [path for path in dict.fromkeys(changed) if path in known.copies and (root / path).is_file()]
    same = {path for path, kept in snapshots.keep_files(plain).items() if kept == known.copies[path]}
    differing = tuple(path for path in dict.fromkeys(changed) if path not in same)
    return EnvironmentChanges(tuple(dict.fromkeys(new)), differing, tuple(dict.fromkeys(gone)), tuple(caches))


def _newer(root: Path, place: str, since: float) -> Iterator[tuple[str, bool]]:
    """Paths changed at `since` or later, parents first, and whether each is a cache; caches are not entered."""
    waiting = [place]
    top = facts_of(root / place)
    if top is not None and stat.S_ISDIR(top.st_mode) and top.st_ctime >= since:
        yield place, False
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(root / here) as entries:
                found = [(entry, entry.stat(follow_symlinks=False)) for entry in entries]
        except OSError:  # gone, or not readable
            continue
        for entry, facts in found:
            path = f"{here}/{entry.name}"
            cache = _is_cache(path, place)
            if facts.st_ctime >= since:
                yield path, cache
            if not cache and stat.S_ISDIR(facts.st_mode):
                waiting.append(path)


def _is_cache(path: str, place: str) -> bool:
    parts = path.split("/")
    in_modules = len(parts) > 1 and parts[-2] == "node_modules" and parts[-1] in JS_CACHES
    return in_modules or "__pycache__" in parts[place.count("/") + 1 :]


def _holds_caches_alone(root: Path, place: str) -> bool:
    """Whether a folder is an environment by name only: tools have put caches into it and nothing else."""
    names = [] if (root / place).is_symlink() else list(_entries(root / place))
    return bool(names) and all(_is_cache(f"{place}/{name}", place) for name in names)


def _rows(root: Path, place: str) -> Iterator[tuple[str, dict[str, Row]]]:
    """Folder → its entries, for all folders of an environment except caches."""
    waiting = [place]
    while waiting:
        here = waiting.pop()
        rows = _entries(root / here)
        yield here, rows
        for name in rows:
            path = f"{here}/{name}"
            facts = facts_of(root / path)
            if facts is not None and stat.S_ISDIR(facts.st_mode) and not _is_cache(path, place):
                waiting.append(path)


def _entries(folder: Path) -> dict[str, Row]:
    try:
        with os.scandir(folder) as found:
            facts = {entry.name: entry.stat(follow_symlinks=False) for entry in found}
    except OSError:
        return {}
    return {name: (one.st_ino, one.st_size, one.st_ctime_ns) for name, one in facts.items()}


def _to_copy(root: Path, rows: Mapping[str, Mapping[str, Row]]) -> list[str]:
    """Small files: all of a small environment, those in `_STEERS` of a large one."""
    small = [f"{folder}/{name}" for folder, found in rows.items() for name, row in found.items() if row[1] <= _SMALL]
    steering = [path for path in small if path.endswith(_STEERS)]
    chosen = small if len(small) <= _MOST_COPIED else steering[:_MOST_COPIED]
    return [path for path in chosen if _is_plain(root / path)]


def _is_plain(path: Path) -> bool:
    facts = facts_of(path)
    regular = facts is not None and stat.S_ISREG(facts.st_mode)
    return regular and os.access(path, os.R_OK) and "\n" not in str(path)


def _listing(snapshots: Snapshots, name: str) -> dict[str, dict[str, Row]]:
    content = snapshots.blob(name) if name else None
    try:
        return dict(json.loads(content)) if content else {}
    except ValueError:
        return {}


def _identity(path: Path) -> Identity | None:
    facts = facts_of(path)
    if facts is None:
        return None
    target = str(path.readlink()) if stat.S_ISLNK(facts.st_mode) else ""
    return facts.st_dev, facts.st_ino, target


def _leads_to_one(link: Path) -> bool:
    marked = any(os.path.lexists(link / mark) for mark in _MARKS)
    return link.name in NAMES or marked or (link.name == "vendor" and _is_vendored(link.parent, "vendor"))


def _is_vendored(root: Path, path: str) -> bool:
    vendored = path.rpartition("/")[2] == "vendor"
    return vendored and any(os.path.lexists(root / path / mark) for mark in _VENDORED)


def _relative(directory: str, root: Path) -> str:
    return directory[len(os.fspath(root)) + 1 :]
