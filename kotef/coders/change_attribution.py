"""Attribution of a visit's changes: the coder's own, or made by someone else meanwhile."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from kotef.files import read_inside
from kotef.workspace import ActivityLog, Snapshots, note_last_tree

LARGEST: Final = 50_000_000
"""Bytes of the largest file whose content is compared; a larger one counts as not there."""
MAX_CHANGED: Final = 200
"""Files changed by one command that are told one by one."""


class Hands:
    """Compares the tree before and after each command; other changes that no tool wrote are foreign."""

    def __init__(self, snapshots: Snapshots, run_dir: Path) -> None:
        """Reads the tree at the start of the visit; `run_dir` keeps it for a resume."""
        self.snapshots, self._run_dir = snapshots, run_dir
        self._activity = ActivityLog(run_dir)
        self.foreign: set[str] = set()
        self.written = 0
        """Bytes that the file tools wrote, and that commands added."""
        self._written: set[str] = set()
        self._changed: dict[str, tuple[str, str]] = {}
        self._edited: dict[str, str] = {}
        """Contents that file tools wrote since the last look."""
        self._background = 0
        self._seen = snapshots.take()
        self._note()

    def wrote(self, path: str) -> None:
        """A file tool wrote `path` (workspace-relative): from now on it is the coder's."""
        self._written.add(path)
        self._activity.wrote(path)
        new = self._content(path)
        old = self._edited.get(path, self.snapshots.ids(self._seen).get(path, ""))
        self._edited[path] = new
        self._note_change(path, old, new)
        with suppress(OSError):  # it was deleted
            self.written += (self.snapshots.root / path).lstat().st_size
        self.foreign.discard(path)
        self._note()

    def look(self) -> None:
        """Attribute changes since the last look: all except those of the file tools are someone else's.

        While one of the coder's commands runs in the background no one can know: it is taken for the coder's.
        """
        now = self.snapshots.take()
        if not self._background:
            self.foreign.update(set(self.snapshots.changed(self._seen, now)) - self._written)
        self._seen = now
        self._written.clear()
        self._edited.clear()
        self._note()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Changes inside the block count as the coder's, because one of its commands is running."""
        self.look()
        self._note(at_work=True)
        size = self.snapshots.size
        yield
        before, self._seen = self._seen, self.snapshots.take()
        self.written += max(0, self.snapshots.size - size)
        paths = self.snapshots.changed(before, self._seen)
        self.foreign.difference_update(paths)
        self._note_changes(before, paths)
        self._note()

    @contextmanager
    def alongside(self) -> Iterator[None]:
        """Like `watching`, for a command in the background while the tools continue."""
        self.look()
        self._background += 1
        self._note()
        size, others = self.snapshots.size, self.written
        try:
            yield
        finally:
            self.look()
            self.written += max(0, self.snapshots.size - size - (self.written - others))
            self._background -= 1
            self._note()

    def changes(self) -> dict[str, tuple[str, str]]:
        """What the coder's tools and commands have changed since the last call: the content ids of before and after.

        A file that is not there has an empty one; what changes while a command runs in the background is not in it.
        """
        changed, self._changed = self._changed, {}
        return {path: ids for path, ids in changed.items() if ids[0] != ids[1]}

    def _note_changes(self, before: str, paths: Sequence[str]) -> None:
        if len(paths) > MAX_CHANGED:
            self._note_change("", before, self._seen)
            return
        if paths:
            old, new = self.snapshots.ids(before), self.snapshots.ids(self._seen)
            for path in paths:
                self._note_change(path, old.get(path, ""), new.get(path, ""))

    def _note_change(self, path: str, old: str, new: str) -> None:
        first, _ = self._changed.get(path, (old, new))
        self._changed[path] = first, new

    def _content(self, path: str) -> str:
        """The id that git gives to the content of a file, in whatever way it is written; empty where there is none."""
        try:
            content = read_inside(self.snapshots.root, path, largest=LARGEST)
        except OSError:
            return ""
        return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()

    def _note(self, *, at_work: bool = False) -> None:
        note_last_tree(self._run_dir, self._seen, wrote=self._written, at_work=at_work or self._background > 0)
