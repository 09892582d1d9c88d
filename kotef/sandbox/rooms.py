"""The rooms of one run: one for the coder's commands, and a fresh one for each check that judges."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from kotef.sandbox.confinement import Confinement
from kotef.sandbox.private_home import leave_room
from kotef.sandbox.sandbox import Sandbox
from kotef.sandbox.seed import keep_caches
from kotef.workspace import Environments


class Rooms:
    """Separate rooms for the coder's commands and the checks of a run: they share only the workspace.

    Without a confinement (level `off`) everything uses the person's own home.
    """

    def __init__(self, sandbox: Sandbox, *, apart: bool = False) -> None:
        """`apart`: environments that are read-only for the checks stay writable for the coder (`--allow-install`)."""
        self._sandbox = self.judging = sandbox
        if apart and sandbox.confinement is not None:
            own = replace(sandbox.confinement, environments=Environments(sandbox.confinement.root))
            self.judging = replace(sandbox, confinement=own)
        self._stack = ExitStack()
        self._coders: Sandbox | None = None
        self._thread = ThreadPoolExecutor(1, "rooms")
        self._prepared: Future[Confinement] | None = None
        self._filling: ExitStack | None = None
        self._first: Sandbox | None = None

    def coder(self) -> Sandbox:
        """The coder's room, made when its first command starts and kept until `close`."""
        if self._coders is None:
            self._coders = self._stack.enter_context(fresh_room(self._sandbox))
        self._prepare()
        return self._coders

    @contextmanager
    def judge(self) -> Iterator[Sandbox]:
        """A room for one check that judges; within `first` all checks share one."""
        if self._filling is not None:
            self._first = self._first or self._filling.enter_context(filling_room(self.judging))
            yield self._first
            return
        prepared, self._prepared = self._prepared, None
        if prepared is None:
            with fresh_room(self.judging) as sandbox:
                yield sandbox
            return
        confinement = prepared.result()
        try:
            yield replace(self.judging, confinement=confinement)
        finally:
            leave_room(confinement.room)

    @contextmanager
    def first(self) -> Iterator[None]:
        """Within the block, checks judge the state before the run; later rooms are filled from their caches."""
        with ExitStack() as filling:
            self._filling = filling
            try:
                yield
            finally:
                self._filling = self._first = None

    def close(self) -> None:
        """Remove the coder's room, and a prepared room that was not used."""
        self._stack.close()
        self._coders = None
        if self._prepared is not None:
            leave_room(self._prepared.result().room)
            self._prepared = None
        self._thread.shutdown()

    def _prepare(self) -> None:
        """Start to fill the next check's room while the coder works, because copying large caches takes a second."""
        confinement = self.judging.confinement
        if confinement is not None and self._prepared is None:
            self._prepared = self._thread.submit(confinement.with_fresh_room)


@contextmanager
def fresh_room(sandbox: Sandbox) -> Iterator[Sandbox]:
    """The sandbox with its own home, temporary folder and caches for the duration of the block."""
    if sandbox.confinement is None:
        yield sandbox
        return
    confinement = sandbox.confinement.with_fresh_room()
    try:
        yield replace(sandbox, confinement=confinement)
    finally:
        leave_room(confinement.room)


@contextmanager
def downloading_room(sandbox: Sandbox, downloads: Path) -> Iterator[Sandbox]:
    """A fresh room for a program that a person chose to start; its package managers find `downloads` at its next start.

    Raises OSError where a folder in `downloads` cannot be used.
    """
    if sandbox.confinement is None:
        yield sandbox
        return
    confinement = sandbox.confinement.with_downloads(downloads)
    try:
        yield replace(sandbox, confinement=confinement)
    finally:
        leave_room(confinement.room)


@contextmanager
def filling_room(sandbox: Sandbox) -> Iterator[Sandbox]:
    """A fresh room for code that is trusted as the user's own: its caches become the source of later rooms."""
    with fresh_room(sandbox) as fresh:
        yield fresh
        if fresh.confinement is not None:
            keep_caches(fresh.confinement.cache, fresh.confinement.seed)
