"""Attribution of a visit's changes: the coder's own, or made by someone else meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kotef.workspace import ActivityLog, Snapshots, note_last_tree


class Hands:
    """Looks at the tree before and after each command; what changed between looks, and no tool wrote, is foreign."""

    def __init__(self, snapshots: Snapshots, run_dir: Path) -> None:
        """The first look is now, at the start of the visit; `run_dir` keeps what was seen, for a resume."""
        self.snapshots, self._run_dir = snapshots, run_dir
        self._activity = ActivityLog(run_dir)
        self.foreign: set[str] = set()
        self.written = 0
        """Bytes that the file tools wrote, and that commands added."""
        self._written: set[str] = set()
        self._background = 0
        self._seen = snapshots.take()
        self._note()

    def wrote(self, path: str) -> None:
        """A file tool wrote `path` (workspace-relative): from now on it is the coder's."""
        self._written.add(path)
        self._activity.wrote(path)
        with suppress(OSError):  # it was deleted
            self.written += (self.snapshots.root / path).lstat().st_size
        self.foreign.discard(path)
        self._note()

    def look(self) -> None:
        """Take in what happened since the last look: all but what the file tools wrote is someone else's.

        While one of the coder's commands runs in the background no one can know: it is taken for the coder's.
        """
        now = self.snapshots.take()
        if not self._background:
            self.foreign.update(set(self.snapshots.changed(self._seen, now)) - self._written)
        self._seen = now
        self._written.clear()
        self._note()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Whatever changes inside the block is taken for the coder's: one of its commands is running."""
        self.look()
        self._note(at_work=True)
        size = self.snapshots.size
        yield
        before, self._seen = self._seen, self.snapshots.take()
        self.written += max(0, self.snapshots.size - size)
        self.foreign.difference_update(self.snapshots.changed(before, self._seen))
        self._note()

    @contextmanager
    def alongside(self) -> Iterator[None]:
        """As `watching`, of a command that runs in the background while the tools go on."""
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

    def _note(self, *, at_work: bool = False) -> None:
        note_last_tree(self._run_dir, self._seen, wrote=self._written, at_work=at_work or self._background > 0)
