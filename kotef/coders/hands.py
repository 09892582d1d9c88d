"""Which changes of a visit are the coder's own, and which did somebody else make meanwhile?"""

from collections.abc import Iterator
from contextlib import contextmanager

from kotef.workspace.snapshots import Snapshots


class Hands:
    """Looks at the tree before and after each command; what changed between looks, and no tool wrote, is foreign."""

    def __init__(self, snapshots: Snapshots) -> None:
        """The first look is now, at the start of the visit."""
        self.snapshots = snapshots
        self.foreign: set[str] = set()
        self._written: set[str] = set()
        self._background = 0
        self._seen = snapshots.take()

    def wrote(self, path: str) -> None:
        """A file tool wrote `path` (workspace-relative): from now on it is the coder's."""
        self._written.add(path)
        self.foreign.discard(path)

    def look(self) -> None:
        """Take in what happened since the last look: all but what the file tools wrote is somebody else's.

        While one of the coder's commands runs in the background nobody can tell: it is taken for the coder's.
        """
        now = self.snapshots.take()
        if not self._background:
            self.foreign.update(set(self.snapshots.changed(self._seen, now)) - self._written)
        self._seen = now
        self._written.clear()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Whatever changes inside the block is taken for the coder's: one of its commands is running."""
        self.look()
        yield
        before, self._seen = self._seen, self.snapshots.take()
        self.foreign.difference_update(self.snapshots.changed(before, self._seen))

    @contextmanager
    def alongside(self) -> Iterator[None]:
        """As `watching`, of a command that runs in the background while the tools go on."""
        self.look()
        self._background += 1
        try:
            yield
        finally:
            self.look()
            self._background -= 1
