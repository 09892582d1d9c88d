"""Taking an exported run up in this workspace, as if it had been killed here."""

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
from kotef.runs import store
from kotef.runs.portable.archive import RUN, SNAPSHOTS, Manifest, open_archive
from kotef.runs.store import RunDir
from kotef.runs.trees import save_state
from kotef.sdd.folder import FOLDER, RUNS
from kotef.workspace.entries import EXECUTABLE, LINK, PLAIN
from kotef.workspace.facts import permissions_of
from kotef.workspace.git import inspect
from kotef.workspace.lock import workspace_lock
from kotef.workspace.paths import state_dir, write_atomic
from kotef.workspace.seen import saw
from kotef.workspace.snapshots import Snapshots

TAKEN_UP: Final = "taken-up.json"
"""In the state of a run that came from a file, until its first step here: what it knows of the machine is not true."""

_NAMED: Final = 10
_TABLES: Final = frozenset({"checkpoints", "writes"})
"""Of the graph's checkpoints."""
_KINDS: Final = frozenset({PLAIN, EXECUTABLE, LINK})
"""Of entries that a workspace can hold; a commit of a submodule is none."""
_FOLDERS: Final = (FOLDER, RUNS)
_FILES: Final = (".sdd/issues.md",)
"""What may not be a link, or every later command would end with exit 2."""


@dataclass(frozen=True, slots=True)
class Received:
    """An exported run, unpacked and compared with its manifest, not yet in place."""

    run: RunDir
    """Its state lies in a folder of its own until `settle` is called."""
    manifest: Manifest
    fingerprint: str
    root: Path

    def settle(self) -> tuple[RunDir, tuple[str, ...]]:
        """Make it a run of this workspace: its snapshots, its files, its state; and a line for each thing to know.

        What stood here is kept first. Raises BusyError, UsageError where uncommitted work of a person stands in the
        way, WorkspaceError.
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
            self.run.path.rename(run.path)  # before the files: a kill from here on leaves a run with the way back
            try:
                said = (*self._of_head(), *self._place_files(run, snapshots, now, paths))
            except BaseException:
                shutil.rmtree(run.path, ignore_errors=True)
                raise
            saw(run.path, snapshots.take())
        return run, said

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
            raise self._damaged(f"no workspace is kept with {_some(tuple(sorted(odd)))} as it is in it")

    def _damaged(self, why: str) -> UsageError:
        hint = "nothing was changed; export the run again"
        return UsageError(f"the snapshots of run {self.run.run_id} are damaged: {why}", hint=hint)

    def _of_head(self) -> tuple[str, ...]:
        head = inspect(self.root).head or ""
        if head == self.manifest.head:
            return ()
        was, now = self.manifest.head[:12] or "no commit", head[:12] or "no commit"
        return (f"the run was exported at {was}, and {now} is checked out here",)

    def _replaced(self, snapshots: Snapshots, now: str) -> tuple[str, ...]:
        """The paths that the run brings. UsageError where uncommitted work of a person stands in the way."""
        paths = snapshots.changed(now, self.manifest.stands)
        if paths and store.uncommitted(self.root):
            problem = f"{self.root} has uncommitted work, and the run brings {_some(paths)}"
            raise UsageError(problem, hint="commit or stash it first, or take the run up in a fresh clone")
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
            hint = "nothing was changed; move it away, or take the run up in a fresh clone"
            raise UsageError(f"{_some(left)} stands here and cannot be replaced by what the run brings", hint=hint)
        back = f"`kotef apply {run.run_id} --saved {saved}` puts back what was here"
        return (f"put in place from the run: {_some(paths)}; {back}",)


@contextmanager
def received(root: Path, path: Path, *, fingerprint: str = "") -> Iterator[Received]:
    """The run in the file `path`, in a folder that is deleted after the block unless it was settled.

    `fingerprint` is what the file must have, or empty. UsageError for a file that is damaged or altered, and for a run
    that is kept here already.
    """
    place = Path(tempfile.mkdtemp(prefix="incoming-", dir=state_dir(root)))
    try:
        with open_archive(path) as archive:
            manifest = archive.manifest
            if fingerprint and archive.fingerprint != fingerprint:
                problem = f"{path}: its fingerprint is {archive.fingerprint}, not {fingerprint}"
                raise UsageError(problem, hint="it is another file than the one that was meant; nothing was changed")
            if store.at(root, manifest.run_id).path.exists():
                hint = f"`kotef resume {manifest.run_id}` goes on with it"
                raise UsageError(f"run {manifest.run_id} is kept here already", hint=hint)
            state = place / manifest.run_id
            for folder in (state, state / "logs", state / "stash"):
                folder.mkdir(mode=0o700)
            for name in manifest.files:
                archive.unpack(name, state / name.removeprefix(RUN))
            if SNAPSHOTS not in manifest.files:
                raise UsageError(f"{path}: it holds no snapshots", hint="export the run again; nothing was changed")
            _refuse_programs(path, state / CHECKPOINTS)
        yield Received(RunDir(state, store.at(root, manifest.run_id).record), manifest, archive.fingerprint, root)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _refuse_programs(path: Path, database: Path) -> None:
    """UsageError for checkpoints with a trigger or a view: it would run at each step of ours, and might never end."""
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
            raise UsageError(f"{path}: the checkpoints in it hold a {kind} that kotef did not make", hint=hint)


def _some(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more
