"""Data of earlier runs that is no longer needed, and its size."""

import os
import re
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kotef.checks.baselines import MAX_AGE
from kotef.errors import UsageError, WorkspaceError
from kotef.files import os_fault, state_dir
from kotef.runs.git_history_guard import OBJECTS
from kotef.runs.public_record import remove_record
from kotef.runs.store import RunDir, at, every, runs_dir
from kotef.tools.stash import too_old
from kotef.workspace import SWAP_MARK, Snapshots, workspace_lock

DAY: Final = 86_400
_TREE: Final = re.compile(rb"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")
_PARTS: Final = ("logs", "stash")
"""Directories of a run that name no tree."""


@dataclass(frozen=True, slots=True)
class PruneRule:
    """Which runs to delete: those that meet all conditions, and resumable ones only with `resumable`."""

    keep: int = 0
    """Number of newest runs that always stay."""
    older_than: float = 0.0
    """Days since the run's last write."""
    resumable: bool = False


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was deleted, or would be; sizes in bytes."""

    runs: tuple[str, ...]
    resumable: tuple[str, ...]
    """Runs that stay only because they can be resumed."""
    run_bytes: int
    stash_bytes: int
    """Texts over a week old, of runs that stay."""
    snapshot_bytes: int
    """Objects of the snapshot store that no remaining run needs, and copies of ignored files beside it."""
    baseline_bytes: int

    @property
    def bytes(self) -> int:
        """All together."""
        return self.run_bytes + self.stash_bytes + self.snapshot_bytes + self.baseline_bytes


def prune(root: Path, wanted: PruneRule, *, dry_run: bool) -> Pruned:
    """Delete data that is no longer needed; with `dry_run` only report it.

    Raises BusyError while a run is at work, and `WorkspaceError` where something cannot be deleted, or where a run
    cannot know what it needs: then no snapshot is touched.
    """
    with workspace_lock(root, "prune"):
        runs = list(every(root))
        old = [run for run in runs[: len(runs) - wanted.keep if wanted.keep else None] if _is_old(run, wanted)]
        held = {run.run_id for run in old if _can_go_on(run)}
        going = [run for run in old if wanted.resumable or run.run_id not in held]
        staying = [run for run in runs if run not in going]
        needed = frozenset(name for run in staying if not run.is_foreign for name in named_objects(run))
        state = state_dir(root)
        stash = {path: size for path, size in too_old(runs_dir(root)).items() if _run_of(root, path) in staying}
        beside = [*_unneeded_copies(state / "kept", needed), *_left_over(state)]
        baselines = [path for path in (state / "baselines").glob("*.json") if _age(path) > MAX_AGE]
        pruned = Pruned(
            runs=tuple(run.run_id for run in going),
            resumable=() if wanted.resumable else tuple(sorted(held)),
            run_bytes=_size(run.path for run in going),
            stash_bytes=sum(stash.values()),
            snapshot_bytes=_size(beside) + Snapshots.open(root).prune(needed, dry_run=dry_run),
            baseline_bytes=_size(baselines),
        )
        if not dry_run:
            _delete((*stash, *beside, *baselines, *(run.path for run in going)))
            for run in going:
                remove_record(root, run.run_id)
        return pruned


def _is_old(run: RunDir, wanted: PruneRule) -> bool:
    place = run.record if run.is_foreign else run.path
    return not wanted.older_than or _age(place) > wanted.older_than * DAY


def _age(path: Path) -> float:
    """Seconds since the newest file of a run, or a single one, was written."""
    files = [path, *(path.iterdir() if path.is_dir() else ())]
    newest: float = max(each.lstat().st_mtime for each in files)
    return time.time() - newest


def _can_go_on(run: RunDir) -> bool:
    """Whether `kotef resume` would accept it, or its replaced files still need to be restored."""
    if run.is_foreign:
        return False
    if (run.path / SWAP_MARK).exists():
        return True
    try:
        task, result = run.task(), run.result()
    except UsageError:
        return False
    return bool(result.resume) if result else task is not None


def _run_of(root: Path, stashed: Path) -> RunDir:
    return at(root, stashed.parents[1].name)


def named_objects(run: RunDir) -> frozenset[str]:
    """Every object id that a run may need: anything that looks like one in its files and checkpoints."""
    return frozenset(found.decode() for content in _contents(run) for found in _TREE.findall(content))


def _contents(run: RunDir) -> Iterator[bytes]:
    try:
        for directory, names, files in os.walk(run.path):
            names[:] = [name for name in names if name not in _PARTS]
            yield from (
                Path(directory, name).read_bytes() for name in files if name.endswith((".json", ".jsonl", ".base"))
            )
        if run.checkpoints.exists():
            with closing(sqlite3.connect(run.checkpoints)) as connection:
                for table, column in (("checkpoints", "checkpoint"), ("writes", "value")):
                    for (value,) in connection.execute(f"SELECT {column} FROM {table}"):  # noqa: S608  names of ours
                        yield value or b""
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):  # it was killed before its first checkpoint
            raise _unknown(run, error) from error
    except (sqlite3.DatabaseError, OSError) as error:
        raise _unknown(run, error) from error


def _unknown(run: RunDir, error: Exception) -> WorkspaceError:
    hint = f"`--resumable` deletes it, or delete {run.path} by hand"
    return WorkspaceError(run.path, f"cannot be read, so the snapshots it needs are unknown: {error}", hint=hint)


def _unneeded_copies(kept: Path, needed: frozenset[str]) -> Iterator[Path]:
    """Copies of ignored files from before runs that are gone, with their records."""
    if kept.is_dir():
        yield from (path for path in sorted(kept.iterdir()) if path.name.partition(".")[0] not in needed)


def _left_over(state: Path) -> Iterator[Path]:
    """A killed run's links to git's objects, and copies of foreign records."""
    yield from (state / name for name in (OBJECTS, "foreign") if (state / name).exists())


def _size(paths: Iterable[Path]) -> int:
    total = 0
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            total += _size(path.iterdir())
        else:
            with suppress(FileNotFoundError):
                total += path.lstat().st_size
    return total


def _delete(paths: Iterable[Path]) -> None:
    for path in paths:
        try:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise os_fault(Path(error.filename or path), error) from error
