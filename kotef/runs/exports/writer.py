"""Export of a run with its state into one file."""

import re
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kotef import __version__
from kotef.errors import UsageError, WorkspaceError
from kotef.files import os_fault, state_dir
from kotef.git import inspect
from kotef.runs.crash_recovery import put_right
from kotef.runs.ending_text import lost
from kotef.runs.exports.archive import RUN, SNAPSHOTS, write_archive
from kotef.runs.prune import named_objects
from kotef.runs.store import RunDir
from kotef.sdd.issue_log import timestamp
from kotef.workspace import Snapshots, workspace_lock

_FOLDERS: Final = ("", "logs", "stash")
_FILE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_DATABASE: Final = re.compile(r"checkpoints\.sqlite(-wal|-shm|-journal)?")


@dataclass(frozen=True, slots=True)
class Exported:
    """The file of an exported run."""

    path: Path
    run_id: str
    fingerprint: str
    bytes: int


def export_run(root: Path, run: RunDir, path: Path) -> Exported:
    """Write `run` to `path`, which is replaced atomically, with the workspace as it is now.

    Ignored files and copies of them are left out. Raises BusyError while a run is active here, UsageError for a run
    that never started or whose state is not here, WorkspaceError.
    """
    run.must_be_own("export")
    put_right(root)
    with workspace_lock(root, "export"):
        if run.task() is None:
            raise UsageError(f"run {run.run_id} cannot be exported", hint=lost(run.run_id, started=False))
        snapshots = Snapshots.open(root)
        stands = snapshots.take()
        scratch = Path(tempfile.mkdtemp(prefix="export-", dir=state_dir(root)))
        try:
            files = dict(_files(run, scratch))
            bundle = scratch / SNAPSHOTS
            snapshots.write_bundle(bundle, {*named_objects(run), stands})
            facts = {
                "kotef_version": __version__,
                "run_id": run.run_id,
                "exported": timestamp(),
                "head": inspect(root).head or "",
                "stands": stands,
            }
            made = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
            try:
                _, fingerprint = write_archive(made, {**files, SNAPSHOTS: bundle}, **facts)
                made.replace(path)
            finally:
                with suppress(FileNotFoundError):
                    made.unlink()
        except OSError as error:
            raise os_fault(error.filename or path, error) from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        return Exported(path, run.run_id, fingerprint, path.stat().st_size)


def _files(run: RunDir, scratch: Path) -> Iterator[tuple[str, Path]]:
    """Name in the archive → file; of the checkpoints a copy without a pending journal."""
    for folder in _FOLDERS:
        place = run.path / folder
        for path in sorted(place.iterdir()) if place.is_dir() else ():
            if path.is_file() and _FILE.fullmatch(path.name) and not _DATABASE.fullmatch(path.name):
                yield f"{RUN}{path.relative_to(run.path).as_posix()}", path
    if run.checkpoints.exists():
        copy = scratch / run.checkpoints.name
        try:
            with closing(sqlite3.connect(run.checkpoints)) as source, closing(sqlite3.connect(copy)) as target:
                source.backup(target)
        except sqlite3.Error as error:
            raise WorkspaceError(run.checkpoints, f"cannot be read: {error}", hint="start a new run") from error
        yield f"{RUN}{run.checkpoints.name}", copy
