"""The part of the workspace that snapshot trees do not contain, copied before the first edit.

It consists of ignored and large files, repositories inside the workspace with their git folders, full modes, extended
attributes and empty folders. `kotef.workspace.restoration` compares and restores it.
"""

import filecmp
import json
import os
import shutil
import stat
import time
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from kotef.errors import WorkspaceError
from kotef.files import facts_of, is_folder, write_atomic
from kotef.workspace.activity import RunActivity
from kotef.workspace.file_metadata import Details, details_of
from kotef.workspace.ignored_backup import BACKUP_LIMIT, copy_ignored, drop_oldest, ignored_files
from kotef.workspace.nested_repositories import MOST, GitFolder, refs_of
from kotef.workspace.snapshots import Snapshots

_MOST_COMPARED: Final = 10_000
"""Ignored files that are compared."""
_LAG: Final = 0.03
"""Seconds by which change times may lag behind `time.time()`."""


class NestedRepository(BaseModel):
    """A repository inside the workspace, as it was before the run."""

    model_config = ConfigDict(frozen=True)

    path: str
    tree: str
    refs: dict[str, str]
    """HEAD, branches, tags, stash and the index: name → id."""
    number: int
    """Number of the copy of its git folder."""


class Remainder(BaseModel):
    """What `keep_remainder` found. Stored as JSON in the state directory, next to the copies."""

    model_config = ConfigDict(frozen=True)

    since: float
    """Unix time. A file with an older change time is unchanged."""
    copied: tuple[str, ...] = ()
    """Ignored and large files that were copied."""
    left_out: tuple[str, ...] = ()
    """Files without a copy; a name with a trailing slash is a whole folder."""
    written: frozenset[str] = frozenset()
    """Ignored files that the checks wrote before the first edit; the checks will write them again."""
    repositories: tuple[NestedRepository, ...] = ()
    unkept: tuple[str, ...] = ()
    """Repositories that could not be copied."""
    clean: tuple[str, ...] = ()
    """Repositories that git ignores and that have no work of their own; only their existence is recorded."""
    details: Details = Details()


def keep_remainder(snapshots: Snapshots, tree: str, *, cap: int = BACKUP_LIMIT) -> Remainder:
    """Keep what `tree`, just taken, does not contain; replaces what an earlier run kept for the same tree.

    Files are copied up to `cap` bytes in total, small ones first; never dependencies, environments or caches.
    Raises `WorkspaceError`.
    """
    since = time.time() - _LAG
    place = remainder_folder(snapshots, tree)
    earlier = read_remainder(snapshots, tree)
    for folder in (place, _git_folders(place)):
        shutil.rmtree(folder, ignore_errors=True)
    found, unkept = _kept_repositories(snapshots, place)
    inside = [(each.path, snapshots.inside(each.path)) for each in found]
    ignored = list(snapshots.ignored())
    large = [path for path in snapshots.left_out if not path.endswith("/") and not is_folder(snapshots.root / path)]
    for path, nested in inside:
        ignored += [f"{path}/{name}" for name in nested.ignored()]
        large += [f"{path}/{name}" for name in nested.left_out if not is_folder(nested.root / name)]
    copied, left_out = copy_ignored(snapshots.root, [*ignored, *large], place, cap=cap, links=True)
    record = Remainder(
        since=since,
        copied=tuple(copied),
        left_out=tuple(left_out),
        written=earlier.written if earlier else frozenset(),
        repositories=found,
        unkept=unkept,
        clean=snapshots.repositories().clean,
        details=details_of(snapshots.root, state=snapshots.store.parent),
    )
    _write(place, record)
    drop_oldest(place.parent)
    return record


def read_remainder(snapshots: Snapshots, tree: str) -> Remainder | None:
    """The remainder kept for this tree; None if there is none, or if an earlier version of kotef kept it."""
    try:
        return Remainder.model_validate(json.loads(_record(remainder_folder(snapshots, tree)).read_bytes()))
    except (OSError, ValueError):
        return None


def note_written_by_checks(snapshots: Snapshots, tree: str) -> None:
    """Record which ignored files the checks wrote since `keep_remainder`; nothing else may have run in between."""
    record = read_remainder(snapshots, tree)
    if record is None:
        return
    place = remainder_folder(snapshots, tree)
    facts = {path: facts_of(snapshots.root / path) for path in (*record.copied, *record.left_out)}
    late = {path: found for path, found in facts.items() if found is not None and found.st_ctime >= record.since}
    unchanged = {
        path for path in record.copied if path in late and is_same(place / path, snapshots.root / path, late[path])
    }
    written = late.keys() - unchanged
    if not written <= record.written:
        _write(place, record.model_copy(update={"written": record.written | written}))


def new_or_changed_files(snapshots: Snapshots, tree: str, activity: RunActivity) -> tuple[str, ...] | None:
    """Ignored files that differ from those kept with this tree, except those checks wrote; None: nothing was kept."""
    record = read_remainder(snapshots, tree)
    if record is None:
        return None
    root, place = snapshots.root, remainder_folder(snapshots, tree)
    found = [path for path in record.copied if not os.path.lexists(root / path)]
    for path in ignored_files(root, snapshots.ignored(), most=_MOST_COMPARED):
        facts = facts_of(root / path)
        if facts is None or facts.st_ctime < record.since or path in record.written:
            continue
        by_checks = activity.author(path, facts.st_ctime) == "check"
        if not by_checks and not (path in record.copied and is_same(place / path, root / path, facts)):
            found.append(path)
    return tuple(sorted(found))


def remainder_folder(snapshots: Snapshots, tree: str) -> Path:
    """The folder with the copies of files that belong to a tree."""
    return snapshots.store.parent / "kept" / tree


def git_copies_of(snapshots: Snapshots, tree: str) -> Path:
    """The folder with the copies of the git folders of repositories inside, by their numbers."""
    return _git_folders(remainder_folder(snapshots, tree))


def _kept_repositories(snapshots: Snapshots, place: Path) -> tuple[tuple[NestedRepository, ...], tuple[str, ...]]:
    """The repositories inside that are kept now, and those that cannot be."""
    kept: list[NestedRepository] = []
    unkept: list[str] = []
    for number, path in enumerate(snapshots.repositories().kept):
        found = _kept_repository(snapshots, path, number, place) if len(kept) < MOST else None
        if found is None:
            unkept.append(f"{path}/")
        else:
            kept.append(found)
    return tuple(kept), tuple(unkept)


def _kept_repository(snapshots: Snapshots, path: str, number: int, place: Path) -> NestedRepository | None:
    """None if it leads elsewhere, cannot be read, or has too many files."""
    try:
        if not GitFolder(snapshots.root, path, _git_folders(place) / str(number)).keep():
            return None
        nested = snapshots.inside(path)
        return NestedRepository(path=path, tree=nested.take(), refs=refs_of(nested.root), number=number)
    except (OSError, WorkspaceError):
        return None


def _git_folders(place: Path) -> Path:
    return place.with_suffix(".git")


def _record(place: Path) -> Path:
    return place.with_suffix(".json")


def _write(place: Path, record: Remainder) -> None:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomic(_record(place), json.dumps(record.model_dump(), default=list).encode())  # ASCII keeps any file name


def is_same(copy: Path, here: Path, found: os.stat_result) -> bool:
    """Whether a file of the workspace, with these facts, is as its copy."""
    if stat.S_ISLNK(found.st_mode) or copy.is_symlink():
        return copy.is_symlink() and stat.S_ISLNK(found.st_mode) and copy.readlink() == here.readlink()
    if not stat.S_ISREG(found.st_mode) or not os.access(here, os.R_OK):
        return False
    return filecmp.cmp(copy, here, shallow=False)
