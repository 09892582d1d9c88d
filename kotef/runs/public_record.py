"""The record of a run below `.sdd/runs`, for people and CI: writing it, and reading one of unknown origin.

It is in a tree that strangers and commands can write. Every access therefore goes through `kotef.files.safe_open`,
and kotef never acts on what it reads there.
"""

import logging
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from kotef.events import RecordedEvent
from kotef.files import (
    append_if_size,
    list_within,
    os_fault,
    parent_within,
    read_within,
    remove_within,
    state_dir,
    write_within,
)
from kotef.sdd.folder import refuse_misplaced

RECORDS: Final = ".sdd/runs"
"""The folder of a workspace's records, relative to the workspace."""
LARGEST: Final = 128 * 1024 * 1024
"""Bytes of one file of a record; larger files are neither written nor read."""
MOST_FOREIGN: Final = 100
"""Foreign records in a list of runs; the newest by name."""

_SHOWN: Final = re.compile(
    r"(result|task)\.json|(events|record)\.jsonl|report\.(md|html)|issue\.md|traceback\.txt|stood-in\.patch"
    r"|visit-\d{1,4}(\.[a-z-]{1,32})?\.(patch|json|md)|judged-\d{1,4}\.json"
)
"""Files of a run that people, CI, `replay` and `rejudge` read; kotef keeps all other files to itself."""
_LOG: Final = re.compile(r"[A-Za-z0-9._-]{1,120}\.log")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""Valid names of runs."""
_SUMMARY: Final = frozenset({"result.json", "task.json", "events.jsonl"})
"""The files that a list of runs needs."""
_EVENTS: Final = "events.jsonl"
_MOST_ENTRIES: Final = 10_000
"""Entries of one folder that are read."""
_MOST_COPIED: Final = 512 * 1024 * 1024
"""Bytes of one foreign record that are read in total."""
_STALE: Final = 3_600.0
"""Seconds after which a copy of a foreign record is deleted, whichever process made it."""
_CHANGING: Final = frozenset({"run_started", "run_resumed", "planned", "coder_finished", "verified", "run_finished"})
"""Events after which other files of the record have changed too."""

log = logging.getLogger("kotef")


class _RecordFacts(NamedTuple):
    size: int
    modified: int
    """In ns."""
    mode: int


class RecordWriter:
    """Keeps the record of one run up to date: writes events at once, other files after the events that change them.

    Commands may delete or replace the record at any time. A failure to write affects the record only, never the run.
    """

    def __init__(self, state: Path, record: Path) -> None:
        """`state` is the run's state directory, `record` its folder below `.sdd/runs`."""
        self._state, self._root = state, record.parents[2]
        self._place = f"{RECORDS}/{record.name}"
        self._written: dict[str, _RecordFacts] = {}
        """File → its size, time and mode when it was last written."""
        self._seen = 0
        """Bytes of events that the record contains."""
        self._has_warned = False

    def create(self) -> None:
        """Make the record of a new run. Raises SpecError if a link is in the way, NoSpaceError, WorkspaceError."""
        refuse_misplaced(self._root)
        try:
            self._hide_from_git()
            self._add_events()
        except OSError as error:
            hint = "kotef keeps its records there; make the folder writable"
            raise os_fault(self._root / self._place, error, hint=hint) from error

    def see(self, recorded: RecordedEvent) -> None:
        """Add an event that was just written; called for each event of the run."""
        self._guarded(self._add_events)
        if recorded.event.event_name in _CHANGING:
            self.update()

    def update(self) -> None:
        """Write every file that changed since it was last written."""
        self._guarded(self._update)

    def _guarded(self, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            if not self._has_warned:
                log.warning("%s cannot be kept up to date; the run continues: %s", self._place, error.strerror or error)
            self._has_warned = True

    def _hide_from_git(self) -> None:
        """Keep `runs/` out of the user's `git status`; an existing file is left as it is."""
        path = f"{RECORDS}/.gitignore"
        with parent_within(self._root, path, create=True) as (directory, name), suppress(FileNotFoundError):
            os.stat(name, dir_fd=directory, follow_symlinks=False)
            return
        write_within(self._root, path, b"*\n")

    def _add_events(self) -> None:
        """Append new events; write the whole file if the record's file is not what was written."""
        path = f"{self._place}/{_EVENTS}"
        content = _tail(self._state / _EVENTS, self._seen)
        if self._seen and append_if_size(self._root, path, content, self._seen):
            self._seen += len(content)
            return
        content = _tail(self._state / _EVENTS, 0)
        write_within(self._root, path, content)
        self._seen = len(content)

    def _update(self) -> None:
        """Write new and changed files, and remove those that the state no longer has."""
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


def _files_of(state: Path) -> Iterator[tuple[str, _RecordFacts]]:
    """Names of the files to copy into the record, relative to the state directory."""
    for folder, wanted in ((state, _SHOWN), (state / "logs", _LOG)):
        if not folder.is_dir():
            continue
        for path in sorted(folder.iterdir()):
            if wanted.fullmatch(path.name):
                found = path.stat()
                facts = _RecordFacts(found.st_size, found.st_mtime_ns, stat.S_IMODE(found.st_mode))
                yield path.relative_to(state).as_posix(), facts


def foreign_records(root: Path, *, known: Collection[str]) -> list[str]:
    """Names of the records below `.sdd/runs` that are not `known` by their state, sorted; at most `MOST_FOREIGN`.

    SpecError if `.sdd`, `.sdd/runs` or one of the records is a link.
    """
    refuse_misplaced(root)
    try:
        entries = list_within(root, RECORDS, most=_MOST_ENTRIES)
    except OSError:
        return []
    names = [entry.name for entry in entries if entry.is_directory and _NAME.fullmatch(entry.name)]
    return [name for name in names if name not in known][-MOST_FOREIGN:]


def copy_record(root: Path, run_id: str, *, whole: bool) -> Path:
    """Copy a foreign record to a private folder and return it: regular files with known names, up to a size limit.

    The folder is in the state directory and is deleted after an hour. Unless `whole`, only what a list of runs needs.
    """
    place = state_dir(root) / "foreign"
    place.mkdir(mode=0o700, exist_ok=True)
    _drop_stale(place)
    copy = Path(tempfile.mkdtemp(prefix=f"{run_id}-", dir=place))
    (copy / "logs").mkdir()
    room = _MOST_COPIED
    for name in _names_in(root, f"{RECORDS}/{run_id}", whole=whole):
        with suppress(OSError):  # gone, not a regular file, or too large: leave it out
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
    """Delete a record, whoever wrote it, without following links. Raises WorkspaceError."""
    try:
        remove_within(root, f"{RECORDS}/{run_id}")
    except OSError as error:
        raise os_fault(root / RECORDS / run_id, error) from error
