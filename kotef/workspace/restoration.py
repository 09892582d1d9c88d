"""Comparison of the workspace with what was kept besides its snapshot trees, and its restoration."""

import json
import os
import stat
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, NamedTuple

from kotef.errors import WorkspaceError
from kotef.files import copy_out, facts_within, move_out, os_fault, write_atomic
from kotef.workspace.activity import RunActivity
from kotef.workspace.file_entry import EXECUTABLE, LINK, PLAIN, write_entry
from kotef.workspace.file_metadata import differing, make_empty, put_back, remove_empty
from kotef.workspace.ignored_backup import BACKUP_LIMIT, ignored_files, restore_ignored
from kotef.workspace.nested_repositories import GitFolder, refs_of, repositories
from kotef.workspace.remainder import (
    NestedRepository,
    Remainder,
    git_copies_of,
    is_same,
    read_remainder,
    remainder_folder,
)
from kotef.workspace.snapshots import Snapshots

_MOST_FILES: Final = 10_000
"""Ignored files that are searched for new ones."""

_EMPTY: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The id of git's empty tree."""

RestoreReason = Literal["theirs", "checks", "run", "blocked", "mode", "refs", "new"]


class WorkspaceDifference(NamedTuple):
    """Something that differs from the state before the run."""

    path: str
    reason: RestoreReason
    """`theirs`: changed by neither command nor check. `checks`: a file of the checks, changed by a command. `run`:
    changed by the run. `blocked`: cannot be put back. `mode`: mode or attributes. `refs`: refs of a repository inside.
    `new`: new and ignored by git."""
    copy: str = ""
    """The state before the run: the path of a copy, an id with a path, or a mode."""


class RestoreReport(NamedTuple):
    """The result of `restore_remainder`; paths are relative to the workspace and sorted."""

    brought_back: tuple[str, ...] = ()
    """Paths that were deleted and are restored."""
    put_back: tuple[str, ...] = ()
    """Paths that the run changed and that are restored; the replaced content is in the folder `aside`."""
    gone: tuple[str, ...] = ()
    """Paths that were deleted and were too large to be kept."""
    differences: tuple[WorkspaceDifference, ...] = ()
    unknown: tuple[str, ...] = ()
    """What could not be compared, because no copy was kept; `.` stands for everything that trees do not contain."""


def restore_remainder(
    snapshots: Snapshots, tree: str, activity: RunActivity, aside: Path, *, whole: bool, touched: Collection[str] = ()
) -> RestoreReport:
    """Restore what was deleted; if the `whole` run is undone, also put back what the run changed.

    `aside` is the folder for replaced content; `touched` are the files that the undo has just written. If the run is
    not undone, its changes are reported as differences. Changes made by neither command nor check stay, and are
    reported. Raises `WorkspaceError`.
    """
    record = read_remainder(snapshots, tree)
    if record is None:
        return RestoreReport(unknown=(".",) if whole else ())
    return _Restore(snapshots, tree, record, activity, aside, whole=whole).all(touched)


class _Restore:
    """One pass of comparison and restoration."""

    def __init__(
        self, snapshots: Snapshots, tree: str, record: Remainder, activity: RunActivity, aside: Path, *, whole: bool
    ) -> None:
        self._snapshots, self._root, self._record = snapshots, snapshots.root, record
        self._place, self._git_copies = remainder_folder(snapshots, tree), git_copies_of(snapshots, tree)
        self._activity, self._aside, self._whole = activity, aside, whole
        self._of_run: RestoreReason = "blocked" if whole else "run"
        """Why something that the run changed is still so."""
        self._known = frozenset((*record.copied, *record.left_out))
        self._back: set[str] = set()
        self._put: set[str] = set()
        self._differences: set[WorkspaceDifference] = set()

    def all(self, touched: Collection[str]) -> RestoreReport:
        try:
            for repository in self._record.repositories:
                try:
                    self._repository(repository)
                except (OSError, WorkspaceError):
                    self._differences.add(WorkspaceDifference(repository.path, "blocked", repository.tree))
            back, gone = restore_ignored(self._root, self._place, self._record.copied, self._record.left_out)
            self._back.update(back)
            for path in self._record.copied:
                self._ignored(path)
            for path in self._record.left_out:
                self._uncopied(path)
            gone += tuple(f"{path}/" for path in self._record.clean if facts_within(self._root, path) is None)
            self._new()
            if self._whole:
                self._details(touched)
        except OSError as error:
            raise os_fault(error.filename or self._root, error) from error
        return RestoreReport(
            tuple(sorted(self._back)),
            tuple(sorted(self._put)),
            tuple(sorted(gone)),
            tuple(sorted(self._differences)),
            self._unknown() if self._whole else (),
        )

    def _unknown(self) -> tuple[str, ...]:
        return self._record.unkept if self._record.details.complete else (*self._record.unkept, ".")

    def _author(self, path: str) -> str | None:
        found = facts_within(self._root, path)
        return None if found is None else self._activity.author(path, found.st_ctime)

    def _repository(self, known: NestedRepository) -> None:
        """Restore the git folder first, because git needs it to list the files."""
        in_the_way = facts_within(self._root, known.path)
        if self._whole and in_the_way is not None and not stat.S_ISDIR(in_the_way.st_mode) and self._author(known.path):
            move_out(self._root, known.path, self._aside / known.path)
        was_gone = GitFolder(self._root, known.path, self._git_copies / str(known.number)).bring_back()
        if was_gone:
            self._back.add(f"{known.path}/.git")
        nested = self._snapshots.inside(known.path)
        if not nested.root.is_dir() or nested.root.is_symlink():
            self._differences.add(WorkspaceDifference(known.path, "blocked", known.tree))
            return
        now = _taken(nested)
        ignored = {path[len(known.path) + 1 :] for path in self._known if path.startswith(f"{known.path}/")}
        changed = [path for path in nested.changed(known.tree, now) if path not in ignored]
        here = {path for path in changed if facts_within(nested.root, path) is not None}
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
            reason = "theirs" if path in theirs else self._of_run
            self._differences.add(WorkspaceDifference(f"{known.path}/{path}", reason, f"{known.tree}:{path}"))
        refs = refs_of(nested.root)
        for name in known.refs.keys() | refs:
            if refs.get(name) != known.refs.get(name):
                self._differences.add(WorkspaceDifference(f"{known.path}: {name}", "refs", known.refs.get(name, "")))

    def _ignored(self, path: str) -> None:
        """Compare and restore one file that has a copy."""
        copy, here = self._place / path, self._root / path
        found = facts_within(self._root, path)
        if found is None or not os.path.lexists(copy):
            if os.path.lexists(copy):
                self._differences.add(WorkspaceDifference(path, "blocked", str(copy)))
            return
        if found.st_ctime < self._record.since or is_same(copy, here, found):
            return
        author = self._author(path)
        if path in self._record.written:
            if author == "command":
                self._differences.add(WorkspaceDifference(path, "checks", str(copy)))
        elif author is None:
            self._differences.add(WorkspaceDifference(path, "theirs", str(copy)))
        elif not self._whole:
            self._differences.add(WorkspaceDifference(path, "run", str(copy)))
        elif self._replace(path, copy, found):
            self._put.add(path)
        else:
            self._differences.add(WorkspaceDifference(path, "blocked", str(copy)))

    def _uncopied(self, path: str) -> None:
        """Report a file without a copy if its change time says that it was written."""
        found = facts_within(self._root, path)
        if found is None or path.endswith("/") or path in self._record.written or found.st_ctime < self._record.since:
            return
        author = self._author(path)
        self._differences.add(WorkspaceDifference(path, "theirs" if author is None else self._of_run))

    def _replace(self, path: str, copy: Path, found: os.stat_result) -> bool:
        """Save the content that is there, then put the copy in place; False if that is not possible."""
        is_folder = stat.S_ISDIR(found.st_mode)
        is_plain = stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)
        if not (is_plain or is_folder) or found.st_size > BACKUP_LIMIT:
            return False
        try:
            aside = self._aside / path
            if is_folder:
                move_out(self._root, path, aside)
            else:
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
                self._differences.add(WorkspaceDifference(path, "new"))
        there = {*(each.path for each in self._record.repositories), *self._record.clean}
        there |= {path.rstrip("/") for path in self._record.unkept}
        now = repositories(self._root)
        made = {path for path in now.clean if self._author(path) == "command"}
        for path in {*now.kept, *made} - there:
            self._differences.add(WorkspaceDifference(f"{path}/", "new"))

    def _details(self, touched: Collection[str]) -> None:
        """Restore modes, attributes and empty folders; not of files that a person changed since."""
        known, state = self._record.details, self._snapshots.store.parent
        written = {*touched, *self._back, *self._put}
        remove_empty(self._root, known, lambda path, facts: self._is_new(path, facts, written), state=state)
        self._back.update(make_empty(self._root, known))
        done = put_back(self._root, known, lambda path: path in written or self._author(path) is not None, state=state)
        self._put.update(path for path in done if path not in written and not self._holds_written(path, written))
        for path in differing(self._root, known, state=state):
            reason: RestoreReason = "mode" if path in known.modes and facts_within(self._root, path) else "blocked"
            mode = f"{known.modes[path]:04o}" if path in known.modes else ""
            self._differences.add(WorkspaceDifference(path, reason, mode))

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


def _taken(nested: Snapshots) -> str:
    """The tree of a repository inside; the empty tree if git cannot list it: then only deleted files are restored."""
    try:
        return nested.take()
    except WorkspaceError:
        return _EMPTY


def _below(modes: dict[str, int], folder: str) -> dict[str, int]:
    return {path[len(folder) + 1 :]: mode for path, mode in modes.items() if path.startswith(f"{folder}/")}
