"""The record of a run below `.sdd/runs`, for people and CI: how it is written, and how a foreign one is read.

It lies in a tree that strangers and commands can write, so every access goes through `kotef.workspace.safe_open`, and
nothing that kotef acts on is read from it.
"""

import logging
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from kotef.sdd.folder import refuse_misplaced
from kotef.workspace.paths import os_fault, state_dir
from kotef.workspace.safe_open import (
    append_within,
    list_within,
    parent_within,
    read_within,
    regular,
    remove_within,
    write_within,
)

RECORDS: Final = ".sdd/runs"
"""Where the records of a workspace's runs are, from its top."""
LARGEST: Final = 128 * 1024 * 1024
"""Bytes of one file of a record that is written or read."""
MOST_FOREIGN: Final = 100
"""Foreign records that a list holds, the newest by name."""

_SHOWN: Final = re.compile(
    r"(result|task)\.json|(events|record)\.jsonl|report\.(md|html)|issue\.md|traceback\.txt|stood-in\.patch"
    r"|visit-\d{1,4}(\.[a-z-]{1,32})?\.(patch|json|md)|judged-\d{1,4}\.json"
)
"""Files of a run that people, CI, `replay` and `rejudge` read; everything else is kotef's alone."""
_LOG: Final = re.compile(r"[A-Za-z0-9._-]{1,120}\.log")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""Names that a run can have."""
_SUMMARY: Final = frozenset({"result.json", "task.json", "events.jsonl"})
"""What a list of runs is made from."""
_EVENTS: Final = "events.jsonl"
_MOST_ENTRIES: Final = 10_000
"""Entries of a folder that are looked at."""
_MOST_COPIED: Final = 512 * 1024 * 1024
"""Bytes of one foreign record that are read, all files together."""
_STALE: Final = 3_600.0
"""Seconds after which a copy of a foreign record is deleted, whichever process made it."""
_CHANGING: Final = frozenset({"run_started", "run_resumed", "planned", "coder_finished", "verified", "run_finished"})
"""Events after which there is more in the record than one more event."""

log = logging.getLogger("kotef")


class _Facts(NamedTuple):
    size: int
    modified: int
    """In ns."""
    mode: int


class RecordWriter:
    """Keeps the record of one run like its state: events at once, other files after the events that change them.

    Commands may delete or replace the record at any time: what cannot be written costs the record, never the run.
    """

    def __init__(self, state: Path, record: Path) -> None:
        """`state` is the run's directory of its own, `record` the one below `.sdd/runs`."""
        self._state, self._root = state, record.parents[2]
        self._place = f"{RECORDS}/{record.name}"
        self._written: dict[str, _Facts] = {}
        """File → what it was like when it was written last."""
        self._seen = 0
        """Bytes of the events that are in the record."""
        self._has_warned = False

    def create(self) -> None:
        """Make the record of a new run. Raises SpecError where a link is in the way, NoSpaceError, WorkspaceError."""
        refuse_misplaced(self._root)
        try:
            self._hide_from_git()
            self._add_events()
        except OSError as error:
            hint = "kotef keeps its records there; make the folder writable"
            raise os_fault(self._root / self._place, error, hint=hint) from error

    def see(self, event: Mapping[str, Any]) -> None:
        """Add an event that has just been written; a watcher of the run."""
        self._guarded(self._add_events)
        if event["event"] in _CHANGING:
            self.update()

    def update(self) -> None:
        """Write every file that has changed since it was written last."""
        self._guarded(self._update)

    def _guarded(self, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            if not self._has_warned:
                log.warning("%s cannot be kept up to date, the run goes on: %s", self._place, error.strerror or error)
            self._has_warned = True

    def _hide_from_git(self) -> None:
        """Keep `runs/` out of the user's `git status`; a file that is there is left as it is."""
        path = f"{RECORDS}/.gitignore"
        with parent_within(self._root, path, create=True) as (directory, name), suppress(FileNotFoundError):
            os.stat(name, dir_fd=directory, follow_symlinks=False)
            return
        write_within(self._root, path, b"*\n")

    def _add_events(self) -> None:
        """Append what is new; write the whole file where the record has something else."""
        path = f"{self._place}/{_EVENTS}"
        content = _tail(self._state / _EVENTS, self._seen)
        if self._seen and _size(self._root, path) != self._seen:
            content, self._seen = _tail(self._state / _EVENTS, 0), 0
        if self._seen:
            append_within(self._root, path, content)
        else:
            write_within(self._root, path, content)
        self._seen += len(content)

    def _update(self) -> None:
        """Write what is new or has changed, and remove what the state has no longer."""
        there = dict(_files_of(self._state))
        for name in list(_names_in(self._root, self._place, whole=True)):
            if name not in there:
                remove_within(self._root, f"{self._place}/{name}")
        for name, facts in there.items():
            if name != _EVENTS and self._written.get(name) != facts and facts.size <= LARGEST:
                content = (self._state / name).read_bytes()
                write_within(self._root, f"{self._place}/{name}", content, mode=facts.mode)
                self._written[name] = facts


def _tail(path: Path, start: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read(LARGEST)
    except FileNotFoundError:
        return b""


def _size(root: Path, path: str) -> int:
    """Bytes of a regular file; -1 where there is none."""
    try:
        with parent_within(root, path) as (directory, name):
            found = regular(name, directory)
    except OSError:
        return -1
    return found.st_size if found else -1


def _files_of(state: Path) -> Iterator[tuple[str, _Facts]]:
    """Names of what is shown, relative to the run's own directory."""
    for folder, wanted in ((state, _SHOWN), (state / "logs", _LOG)):
        if not folder.is_dir():
            continue
        for path in sorted(folder.iterdir()):
            if wanted.fullmatch(path.name):
                found = path.stat()
                facts = _Facts(found.st_size, found.st_mtime_ns, stat.S_IMODE(found.st_mode))
                yield path.relative_to(state).as_posix(), facts


def foreign_records(root: Path, *, known: Collection[str]) -> list[str]:
    """Names of the records below `.sdd/runs` of which no state is `known`, sorted; at most `MOST_FOREIGN`.

    SpecError where `.sdd`, `.sdd/runs` or one of them is a link.
    """
    refuse_misplaced(root)
    try:
        entries = list_within(root, RECORDS, most=_MOST_ENTRIES)
    except OSError:
        return []
    names = [entry.name for entry in entries if entry.is_directory and _NAME.fullmatch(entry.name)]
    return [name for name in names if name not in known][-MOST_FOREIGN:]


def copy_record(root: Path, run_id: str, *, whole: bool) -> Path:
    """A private copy of a foreign record: regular files of known names alone, bounded; its folder.

    It is in the state directory, and deleted when it is an hour old. Not `whole`: what a list of runs needs.
    """
    place = state_dir(root) / "foreign"
    place.mkdir(mode=0o700, exist_ok=True)
    _drop_stale(place)
    copy = Path(tempfile.mkdtemp(prefix=f"{run_id}-", dir=place))
    (copy / "logs").mkdir()
    room = _MOST_COPIED
    for name in _names_in(root, f"{RECORDS}/{run_id}", whole=whole):
        with suppress(OSError):  # gone, no regular file, or too large: the copy is without it
            content = read_within(root, f"{RECORDS}/{run_id}/{name}", largest=min(LARGEST, room))
            (copy / name).write_bytes(content)
            room -= len(content)
    return copy


def _names_in(root: Path, place: str, *, whole: bool) -> Iterator[str]:
    for folder, wanted in (("", _SHOWN), ("logs/", _LOG)):
        if folder and not whole:
            return
        with suppress(OSError):
            for entry in list_within(root, f"{place}/{folder}".rstrip("/"), most=_MOST_ENTRIES):
                if entry.is_file and wanted.fullmatch(entry.name) and (whole or entry.name in _SUMMARY):
                    yield f"{folder}{entry.name}"


def _drop_stale(place: Path) -> None:
    for copy in place.iterdir():
        with suppress(OSError):
            if time.time() - copy.stat().st_mtime > _STALE:
                shutil.rmtree(copy)


def remove_record(root: Path, run_id: str) -> None:
    """Delete a record, whoever wrote it, following no link. Raises WorkspaceError."""
    try:
        remove_within(root, f"{RECORDS}/{run_id}")
    except OSError as error:
        raise os_fault(root / RECORDS / run_id, error) from error
