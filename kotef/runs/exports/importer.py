"""Import of an exported run into this workspace, so that it can be resumed as if it had been killed here."""

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kotef.deps import CHECKPOINTS
from kotef.errors import UsageError, WorkspaceError
from kotef.files import permissions_of, state_dir, write_atomic
from kotef.git import inspect
from kotef.runs import store
from kotef.runs.attempt_trees import save_state
from kotef.runs.exports.archive import RUN, SNAPSHOTS, Manifest, open_archive
from kotef.runs.store import RunDir
from kotef.sdd.folder import FOLDER, RUNS
from kotef.workspace import EXECUTABLE, LINK, PLAIN, Snapshots, note_last_tree, workspace_lock

TAKEN_UP: Final = "taken-up.json"
"""Marks an imported run until its first step here: facts about the machine in its state are not valid yet."""

_NAMED: Final = 10
_TABLES: Final = frozenset({"checkpoints", "writes"})
"""Tables of the graph's checkpoints."""
_KINDS: Final = frozenset({PLAIN, EXECUTABLE, LINK})
"""Modes of entries that a workspace can hold; a submodule's commit is not one."""
_FOLDERS: Final = (FOLDER, RUNS)
_FILES: Final = (".sdd/issues.md",)
"""Must not be links: every later command would end with exit 2."""


@dataclass(frozen=True, slots=True)
class Received:
    """An exported run, unpacked and checked against its manifest, but not yet in place."""

    run: RunDir
    """Its state is in a temporary folder until `settle` is called."""
    manifest: Manifest
    fingerprint: str
    root: Path

    def settle(self) -> tuple[RunDir, tuple[str, ...]]:
        """Make it a run of this workspace: snapshots, files and state. Returns the run and notices for the person.

        What the files replace is saved first. Raises BusyError, UsageError if uncommitted work would be replaced,
        WorkspaceError.
        """
        with workspace_lock(self.root, self.run.run_id):
            snapshots = Snapshots.open(self.root)
            self._take_in(snapshots)
            now = snapshots.take()
            paths = self._replaced(snapshots, now)
            write_atomic(self.run.path / TAKEN_UP, json.dumps({"from": self.fingerprint}).encode())
            (self.run.path / SNAPSHOTS).unlink()

            run = store.at(self.root, self.run.run_id)
            run.path.parent.mkdir(mode=0o700, exist_ok=True)
            self.run.path.rename(run.path)  # before the files: after a kill the run is there, with the way back
            try:
                notices = (*self._of_head(), *self._place_files(run, snapshots, now, paths))
            except BaseException:
                shutil.rmtree(run.path, ignore_errors=True)
                raise
            note_last_tree(run.path, snapshots.take())
        return run, notices

    def _take_in(self, snapshots: Snapshots) -> None:
        try:
            snapshots.read_bundle(self.run.path / SNAPSHOTS)
            entries = snapshots.entries(self.manifest.stands)
        except WorkspaceError as error:
            raise self._damaged(str(error)) from error
        odd = [path for path, entry in entries.items() if entry.mode not in _KINDS]
        odd += [path for path in _FOLDERS if path in entries]
        odd += [path for path in _FILES if path in entries and entries[path].mode == LINK]
        if odd:
            raise self._damaged(f"they contain paths that kotef never exports: {_some(tuple(sorted(odd)))}")

    def _damaged(self, why: str) -> UsageError:
        hint = "nothing was changed; export the run again"
        return UsageError(f"the snapshots of run {self.run.run_id} are damaged: {why}", hint=hint)

    def _of_head(self) -> tuple[str, ...]:
        head = inspect(self.root).head or ""
        if head == self.manifest.head:
            return ()
        was, now = self.manifest.head[:12] or "no commit", head[:12] or "no commit"
        return (f"the run was exported at commit {was}, but {now} is checked out here",)

    def _replaced(self, snapshots: Snapshots, now: str) -> tuple[str, ...]:
        """The paths that the run replaces. UsageError if the workspace has uncommitted work."""
        paths = snapshots.changed(now, self.manifest.stands)
        if paths and store.uncommitted(self.root, sdd=True):
            problem = f"{self.root} has uncommitted work, and the run would replace {_some(paths)}"
            raise UsageError(problem, hint="commit or stash it first, or resume the run in a fresh clone")
        return paths

    def _place_files(self, run: RunDir, snapshots: Snapshots, now: str, paths: tuple[str, ...]) -> tuple[str, ...]:
        wanted = self.manifest.stands
        if not paths:
            return ()
        saved = save_state(run, now, paths, wanted)
        modes = {path: mode for path in paths if (mode := permissions_of(self.root / path)) is not None}
        try:
            left = snapshots.restore(wanted, last=now, paths=paths).left
        except BaseException:
            snapshots.restore(now, last=wanted, paths=paths, modes=modes)
            raise
        if left:
            snapshots.restore(now, last=wanted, paths=paths, modes=modes)
            hint = "nothing was changed; move it away, or resume the run in a fresh clone"
            raise UsageError(f"{_some(left)} cannot be replaced by the run's version", hint=hint)
        back = f"`kotef apply {run.run_id} --saved {saved}` restores the previous ones"
        return (f"files set to the run's version: {_some(paths)}; {back}",)


@contextmanager
def received(root: Path, path: Path, *, fingerprint: str = "") -> Iterator[Received]:
    """The run in the file `path`, in a temporary folder that is deleted after the block unless it was settled.

    The file must have the `fingerprint`, unless that is empty. UsageError if the file is damaged or altered, or if the
    run is already in this workspace.
    """
    place = Path(tempfile.mkdtemp(prefix="incoming-", dir=state_dir(root)))
    try:
        with open_archive(path) as archive:
            manifest = archive.manifest
            if fingerprint and archive.fingerprint != fingerprint:
                problem = f"{path}: its fingerprint is {archive.fingerprint}, not {fingerprint}"
                raise UsageError(problem, hint="this is not the file you named; nothing was changed")
            if store.at(root, manifest.run_id).path.exists():
                hint = f"`kotef resume {manifest.run_id}` continues it"
                raise UsageError(f"run {manifest.run_id} is already in this workspace", hint=hint)
            state = place / manifest.run_id
            for folder in (state, state / "logs", state / "stash"):
                folder.mkdir(mode=0o700)
            for name in manifest.files:
                archive.unpack(name, state / name.removeprefix(RUN))
            if SNAPSHOTS not in manifest.files:
                raise UsageError(f"{path}: it has no snapshots", hint="export the run again; nothing was changed")
            _refuse_programs(path, state / CHECKPOINTS)
        yield Received(RunDir(state, store.at(root, manifest.run_id).record), manifest, archive.fingerprint, root)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _refuse_programs(path: Path, database: Path) -> None:
    """UsageError if the checkpoints contain a trigger or a view: SQLite would run it, perhaps without end."""
    hint = "export the run again; nothing was changed"
    if not database.exists():
        return
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro&immutable=1", uri=True)) as opened:
            found = opened.execute("SELECT type, name FROM sqlite_master").fetchall()
    except sqlite3.Error as error:
        raise UsageError(f"{path}: the checkpoints in it cannot be read: {error}", hint=hint) from error
    for kind, name in found:
        is_table = kind == "table" and name in _TABLES
        is_index = kind == "index" and name.startswith("sqlite_autoindex_")
        if not (is_table or is_index):
            raise UsageError(f"{path}: its checkpoints contain a {kind} that kotef did not create", hint=hint)


def _some(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more
