"""The part of the workspace that snapshot trees do not contain: kept before the first edit, restored afterwards.

It consists of ignored and large files, repositories inside the workspace with their git folders, full modes, extended
attributes and empty folders.
"""

import filecmp
import json
import os
import shutil
import stat
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from kotef.errors import WorkspaceError
from kotef.workspace.activity import Activity
from kotef.workspace.details import Details, details_of, differing, make_empty, put_back, remove_empty
from kotef.workspace.entries import EXECUTABLE, LINK, PLAIN, write_entry
from kotef.workspace.kept import KEPT_CAP, bring_back, copy_ignored, drop_oldest, ignored_files
from kotef.workspace.nested import MOST, GitFolder, refs_of, repositories
from kotef.workspace.paths import os_fault, write_atomic
from kotef.workspace.snapshots import Snapshots
from kotef.workspace.transfer import copy_out

_LAG: Final = 0.03
"""Seconds by which change times may lag behind `time.time()`."""
_MOST_FILES: Final = 10_000
"""Ignored files that are searched for new ones."""

_EMPTY: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The id of git's empty tree."""

Reason = Literal["theirs", "checks", "run", "blocked", "mode", "refs", "new"]


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
    """What `keep` found. Stored as JSON in the state directory, next to the copies."""

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


class Difference(NamedTuple):
    """Something that differs from the state before the run."""

    path: str
    reason: Reason
    """`theirs`: changed by neither command nor check. `checks`: a file of the checks, changed by a command. `run`:
    changed by the run. `blocked`: cannot be put back. `mode`: mode or attributes. `refs`: refs of a repository inside.
    `new`: new and ignored by git."""
    copy: str = ""
    """The state before the run: the path of a copy, an id with a path, or a mode."""


class RestoreReport(NamedTuple):
    """What `restore_remainder` did and found; paths are relative to the workspace and sorted."""

    brought_back: tuple[str, ...] = ()
    """Paths that were deleted and are restored."""
    put_back: tuple[str, ...] = ()
    """Paths that the run changed and that are restored; the replaced content is in the folder `aside`."""
    gone: tuple[str, ...] = ()
    """Paths that were deleted and were too large to be kept."""
    differences: tuple[Difference, ...] = ()
    unknown: tuple[str, ...] = ()
    """What could not be compared, because no copy was kept; `.` stands for everything that trees do not contain."""


def keep(snapshots: Snapshots, tree: str, *, cap: int = KEPT_CAP) -> Remainder:
    """Keep what `tree`, just taken, does not contain; replaces what an earlier run kept for the same tree.

    Files are copied up to `cap` bytes in total, small ones first; never dependencies, environments or caches.
    Raises `WorkspaceError`.
    """
    since = time.time() - _LAG
    place = _place(snapshots, tree)
    earlier = recall(snapshots, tree)
    for folder in (place, _git_folders(place)):
        shutil.rmtree(folder, ignore_errors=True)
    found, unkept = _kept_repositories(snapshots, place)
    inside = [(each.path, snapshots.inside(each.path)) for each in found]
    ignored = list(snapshots.ignored())
    large = [path for path in snapshots.left_out if not path.endswith("/") and not _is_folder(snapshots.root / path)]
    for path, nested in inside:
        ignored += [f"{path}/{name}" for name in nested.ignored()]
        large += [f"{path}/{name}" for name in nested.left_out if not _is_folder(nested.root / name)]
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


def recall(snapshots: Snapshots, tree: str) -> Remainder | None:
    """What was kept for this tree; None if nothing was, or if an earlier version of kotef kept it."""
    try:
        return Remainder.model_validate(json.loads(_record(_place(snapshots, tree)).read_bytes()))
    except (OSError, ValueError):
        return None


def note_written(snapshots: Snapshots, tree: str) -> None:
    """Record which ignored files the checks wrote since `keep`; nothing else may have run in between."""
    record = recall(snapshots, tree)
    if record is None:
        return
    place = _place(snapshots, tree)
    facts = {path: _facts(snapshots.root / path) for path in (*record.copied, *record.left_out)}
    late = {path: found for path, found in facts.items() if found is not None and found.st_ctime >= record.since}
    unchanged = {
        path for path in record.copied if path in late and _is_same(place / path, snapshots.root / path, late[path])
    }
    written = late.keys() - unchanged
    if not written <= record.written:
        _write(place, record.model_copy(update={"written": record.written | written}))


def copies_of(snapshots: Snapshots, tree: str) -> Path:
    """The folder with the copies of ignored files."""
    return _place(snapshots, tree)


def restore_remainder(
    snapshots: Snapshots, tree: str, activity: Activity, aside: Path, *, whole: bool, touched: Collection[str] = ()
) -> RestoreReport:
    """Restore what was deleted; if the `whole` run is undone, also put back what the run changed.

    `aside` is the folder for replaced content; `touched` are the files that the undo has just written. If the run is
    not undone, its changes are reported as differences. Changes made by neither command nor check stay, and are
    reported. Raises `WorkspaceError`.
    """
    record = recall(snapshots, tree)
    if record is None:
        return RestoreReport(unknown=(".",) if whole else ())
    return _Restore(snapshots, tree, record, activity, aside, whole=whole).all(touched)


class _Restore:
    """One pass of comparison and restoration."""

    def __init__(
        self, snapshots: Snapshots, tree: str, record: Remainder, activity: Activity, aside: Path, *, whole: bool
    ) -> None:
        self._snapshots, self._root, self._record = snapshots, snapshots.root, record
        self._place, self._activity, self._aside, self._whole = _place(snapshots, tree), activity, aside, whole
        self._known = frozenset((*record.copied, *record.left_out))
        self._back: set[str] = set()
        self._put: set[str] = set()
        self._differences: set[Difference] = set()

    def all(self, touched: Collection[str]) -> RestoreReport:
        try:
            for repository in self._record.repositories:
                try:
                    self._repository(repository)
                except (OSError, WorkspaceError):
                    self._differences.add(Difference(repository.path, "blocked", repository.tree))
            back, gone = bring_back(self._root, self._place, self._record.copied, self._record.left_out)
            self._back.update(back)
            for path in self._record.copied:
                self._ignored(path)
            for path in self._record.left_out:
                self._uncopied(path)
            gone += tuple(f"{path}/" for path in self._record.clean if _facts(self._root / path) is None)
            self._new()
            if self._whole:
                self._details(touched)
        except OSError as error:
            raise os_fault(error.filename or self._root, error) from error
        found = tuple(sorted(self._differences))
        unknown = (*self._record.unkept, *(() if self._record.details.complete else (".",))) if self._whole else ()
        return RestoreReport(tuple(sorted(self._back)), tuple(sorted(self._put)), tuple(sorted(gone)), found, unknown)

    def _author(self, path: str) -> str | None:
        found = _facts(self._root / path)
        return None if found is None else self._activity.author(path, found.st_ctime)

    def _repository(self, known: NestedRepository) -> None:
        """Restore the git folder first, because git needs it to list the files."""
        was_gone = GitFolder(self._root, known.path, _git_folders(self._place) / str(known.number)).bring_back()
        if was_gone:
            self._back.add(f"{known.path}/.git")
        nested = self._snapshots.inside(known.path)
        if not nested.root.is_dir() or nested.root.is_symlink():
            self._differences.add(Difference(known.path, "blocked", known.tree))
            return
        now = _taken(nested)
        ignored = {path[len(known.path) + 1 :] for path in self._known if path.startswith(f"{known.path}/")}
        changed = [path for path in nested.changed(known.tree, now) if path not in ignored]
        here = {path for path in changed if _facts(nested.root / path) is not None}
        theirs = {path for path in here if self._author(f"{known.path}/{path}") is None}
        if self._whole or was_gone:
            if here:
                self._note_replaced(known.path, now)
            modes = _below(self._record.details.modes, known.path)
            restored = nested.restore(known.tree, last=now, paths=changed, keep=theirs, modes=modes)
            self._put.update(f"{known.path}/{path}" for path in restored.put_back if path in here)
            self._back.update(f"{known.path}/{path}" for path in restored.put_back if path not in here)
            changed, theirs = list(restored.left), theirs.intersection(restored.left)
        for path in changed:
            reason: Reason = "theirs" if path in theirs else "blocked" if self._whole else "run"
            self._differences.add(Difference(f"{known.path}/{path}", reason, f"{known.tree}:{path}"))
        refs = refs_of(nested.root)
        for name in known.refs.keys() | refs:
            if refs.get(name) != known.refs.get(name):
                self._differences.add(Difference(f"{known.path}: {name}", "refs", known.refs.get(name, "")))

    def _ignored(self, path: str) -> None:
        """Compare and restore one file that has a copy."""
        copy, here = self._place / path, self._root / path
        found = _facts(here)
        if found is None or not os.path.lexists(copy):
            if os.path.lexists(copy):
                self._differences.add(Difference(path, "blocked", str(copy)))
            return
        if found.st_ctime < self._record.since or _is_same(copy, here, found):
            return
        author = self._author(path)
        if path in self._record.written:
            if author == "command":
                self._differences.add(Difference(path, "checks", str(copy)))
        elif author is None:
            self._differences.add(Difference(path, "theirs", str(copy)))
        elif not self._whole:
            self._differences.add(Difference(path, "run", str(copy)))
        elif self._replace(path, copy, found):
            self._put.add(path)
        else:
            self._differences.add(Difference(path, "blocked", str(copy)))

    def _uncopied(self, path: str) -> None:
        """Report a file without a copy if its change time says that it was written."""
        found = _facts(self._root / path)
        if found is None or path.endswith("/") or path in self._record.written or found.st_ctime < self._record.since:
            return
        author = self._author(path)
        self._differences.add(Difference(path, "theirs" if author is None else "blocked" if self._whole else "run"))

    def _replace(self, path: str, copy: Path, found: os.stat_result) -> bool:
        """Save the content that is there, then put the copy in place; False if that is not possible."""
        is_folder = stat.S_ISDIR(found.st_mode)  # an empty folder is replaced
        is_plain = stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)
        if not (is_plain or is_folder) or found.st_size > KEPT_CAP or _through_link(self._root, path):
            return False
        try:
            aside = self._aside / path
            if not is_folder:
                aside.unlink(missing_ok=True)
                copy_out(self._root, path, aside)
            if copy.is_symlink():
                write_entry(self._root, path, LINK, os.fsencode(copy.readlink()))
            else:
                mode = stat.S_IMODE(copy.stat().st_mode)
                kind = EXECUTABLE if mode & stat.S_IXUSR else PLAIN
                write_entry(self._root, path, kind, copy.read_bytes(), mode)
        except OSError:
            return False
        return True

    def _new(self) -> None:
        """Report new ignored files and repositories that a command made; not those that checks or tools rebuild."""
        folders = tuple(path for path in self._record.left_out if path.endswith("/"))
        for path in ignored_files(self._root, self._snapshots.ignored(), most=_MOST_FILES):
            if path not in self._known and not path.startswith(folders) and self._author(path) == "command":
                self._differences.add(Difference(path, "new"))
        there = {*(each.path for each in self._record.repositories), *self._record.clean}
        there |= {path.rstrip("/") for path in self._record.unkept}
        for path in set(repositories(self._root).kept) - there:
            self._differences.add(Difference(f"{path}/", "new"))

    def _details(self, touched: Collection[str]) -> None:
        """Restore modes, attributes and empty folders; not of files that a person changed since."""
        known, state = self._record.details, self._snapshots.store.parent
        written = {*touched, *self._back, *self._put}
        remove_empty(self._root, known, lambda path, facts: self._is_new(path, facts, written), state=state)
        self._back.update(make_empty(self._root, known))
        done = put_back(self._root, known, lambda path: path in written or self._author(path) is not None, state=state)
        self._put.update(path for path in done if path not in written and not self._holds_written(path, written))
        for path in differing(self._root, known, state=state):
            reason: Reason = "mode" if path in known.modes and _facts(self._root / path) else "blocked"
            mode = f"{known.modes[path]:04o}" if path in known.modes else ""
            self._differences.add(Difference(path, reason, mode))

    def _is_new(self, path: str, facts: os.stat_result, written: Collection[str]) -> bool:
        """Whether the run made this folder, or moved it there (its change time may then be older than the run)."""
        if facts.st_ctime < self._record.since or self._holds_written(path, written):
            return True
        return self._activity.author(path, facts.st_ctime) is not None

    @staticmethod
    def _holds_written(folder: str, written: Collection[str]) -> bool:
        return folder.endswith("/") and any(path.startswith(folder) for path in written)

    def _note_replaced(self, repository: str, tree: str) -> None:
        """Record the tree that a repository had, so that a prune of the store keeps its objects."""
        record = self._aside / "repositories.json"
        noted: dict[str, str] = {}
        with suppress(OSError, ValueError):
            noted = json.loads(record.read_bytes())
        record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(record, json.dumps(noted | {repository: tree}).encode())


def _kept_repositories(snapshots: Snapshots, place: Path) -> tuple[tuple[NestedRepository, ...], tuple[str, ...]]:
    kept: list[NestedRepository] = []
    unkept: list[str] = []
    for number, path in enumerate(snapshots.repositories().kept):
        try:
            folder = GitFolder(snapshots.root, path, _git_folders(place) / str(number))
            if len(kept) < MOST and folder.keep():
                nested = snapshots.inside(path)
                tree, refs = nested.take(), refs_of(nested.root)
                kept.append(NestedRepository(path=path, tree=tree, refs=refs, number=number))
                continue
        except (OSError, WorkspaceError):  # it leads elsewhere, or is not readable
            pass
        unkept.append(f"{path}/")
    return tuple(kept), tuple(unkept)


def _place(snapshots: Snapshots, tree: str) -> Path:
    """The folder with the copies that belong to a tree."""
    return snapshots.store.parent / "kept" / tree


def _taken(nested: Snapshots) -> str:
    """The tree of a repository inside; the empty tree if git cannot list it: then only deleted files are restored."""
    try:
        return nested.take()
    except WorkspaceError:
        return _EMPTY


def _git_folders(place: Path) -> Path:
    return place.with_suffix(".git")


def _record(place: Path) -> Path:
    return place.with_suffix(".json")


def _write(place: Path, record: Remainder) -> None:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomic(_record(place), json.dumps(record.model_dump(), default=list).encode())  # ASCII keeps any file name


def _below(modes: dict[str, int], folder: str) -> dict[str, int]:
    return {path[len(folder) + 1 :]: mode for path, mode in modes.items() if path.startswith(f"{folder}/")}


def _is_same(copy: Path, here: Path, found: os.stat_result) -> bool:
    if stat.S_ISLNK(found.st_mode) or copy.is_symlink():
        return copy.is_symlink() and stat.S_ISLNK(found.st_mode) and copy.readlink() == here.readlink()
    if not stat.S_ISREG(found.st_mode) or not os.access(here, os.R_OK):
        return False
    return filecmp.cmp(copy, here, shallow=False)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _through_link(root: Path, path: str) -> bool:
    return any((root / parent).is_symlink() for parent in Path(path).parents)


def _facts(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except (OSError, ValueError):
        return None
