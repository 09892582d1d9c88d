"""The rooms of one run: one for the coder's commands, and a fresh one for each check that judges."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from kotef.workspace.sandbox.environments import Environments
from kotef.workspace.sandbox.sandbox import Sandbox
from kotef.workspace.sandbox.seed import keep_caches


class Rooms:
    """What the commands of the coder can write and what the checks believe share nothing but the workspace.

    Without a confinement (level `off`) there is one room for all: that of the person.
    """

    def __init__(self, sandbox: Sandbox, *, apart: bool = False) -> None:
        """`apart`: what is closed off for the checks is not closed off for the coder."""
        self._sandbox = self.judging = sandbox
        if apart and sandbox.confinement is not None:
            own = replace(sandbox.confinement, environments=Environments(sandbox.confinement.root))
            self.judging = replace(sandbox, confinement=own)
        self._stack = ExitStack()
        self._coders: Sandbox | None = None
        self._filling: ExitStack | None = None
        self._first: Sandbox | None = None

    def coder(self) -> Sandbox:
        """The room of the coder: taken when its first command is started, and kept until `close`."""
        if self._coders is None:
            self._coders = self._stack.enter_context(fresh_room(self._sandbox))
        return self._coders

    @contextmanager
    def judge(self) -> Iterator[Sandbox]:
        """The room of one check that judges; within `first` all checks have the same one."""
        if self._filling is not None:
            self._first = self._first or self._filling.enter_context(filling_room(self.judging))
            yield self._first
            return
        with fresh_room(self.judging) as sandbox:
            yield sandbox

    @contextmanager
    def first(self) -> Iterator[None]:
        """The checks of this block judge the state before the run: the caches they fill serve later rooms."""
        with ExitStack() as filling:
            self._filling = filling
            try:
                yield
            finally:
                self._filling = self._first = None

    def close(self) -> None:
        """Remove the room of the coder."""
        self._stack.close()
        self._coders = None


@contextmanager
def fresh_room(sandbox: Sandbox) -> Iterator[Sandbox]:
    """The sandbox with a home, temporary folder and caches of its own for the length of the block."""
    if sandbox.confinement is None:
        yield sandbox
        return
    with sandbox.confinement.fresh() as confinement:
        yield replace(sandbox, confinement=confinement)


@contextmanager
def filling_room(sandbox: Sandbox) -> Iterator[Sandbox]:
    """The same for code that is trusted as the user's own: its caches are the source for the rooms that follow."""
    with fresh_room(sandbox) as fresh:
        yield fresh
        if fresh.confinement is not None:
            keep_caches(fresh.confinement.cache, fresh.confinement.seed)
