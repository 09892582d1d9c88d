"""Dependencies that nodes receive at run time and that are never checkpointed."""

import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from kotef.checks.baselines import Baselines
from kotef.checks.types import Check, CommandResult
from kotef.context.prompts import Prompts
from kotef.settings import Limits, Price
from kotef.workspace.installed_environments import Installed
from kotef.workspace.snapshots import Snapshots

if TYPE_CHECKING:
    from asyncio import Task

    from langchain_core.language_models import BaseChatModel

    from kotef.checks.verification import Verification
    from kotef.coders.chain import Chain
    from kotef.models.structured_output import RungMemory
    from kotef.state import StateUpdate


class Emit(Protocol):
    """Sends one event to the run's log and to whoever watches; never raises."""

    def __call__(self, event: str, /, **facts: Any) -> None:
        """`event` is one of the names in `runs.events`; `facts` are its fields."""
        ...


class Option(NamedTuple):
    """One answer a person may give."""

    answer: str
    """What the code would give: `15`."""
    diff: str
    """The edit that does so; empty where none does."""


Ask = Callable[[str, Sequence[Option]], Awaitable[int | None]]
"""Puts a question to a person, who chooses one of the options by its index, or none."""


Permission = Literal["once", "run", "no"]
"""Whether a command may run: this one time, whenever it is asked for in this run, or not."""


@dataclass(frozen=True, slots=True)
class Approval:
    """What a person who sits beside the run is asked before it happens (`--interactive`)."""

    plan: Callable[[int, Sequence[str]], Awaitable[tuple[str, ...] | None]]
    """Visit and steps → the steps as approved, edited perhaps; None: the person quits."""
    command: Callable[[int, str, str], Awaitable[Permission]]
    """Visit, command line and why the policy does not allow it by itself."""


CHECKPOINTS: Final = "checkpoints.sqlite"
"""In the directory of a run: what a resume goes on from."""


@dataclass(slots=True)
class Clock:
    """The wall time of a run that may have been interrupted and resumed; it stands while a person is asked."""

    limit: float
    """Seconds the whole run may take (`Limits.max_time`)."""
    used: float = 0.0
    """Seconds used before this process took over."""
    started: float = field(default_factory=time.monotonic)

    @contextmanager
    def standing(self) -> Iterator[None]:
        """What passes in this block is no one's time."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.started += time.monotonic() - began

    def elapsed(self) -> float:
        """Seconds used, earlier processes included."""
        return self.used + time.monotonic() - self.started

    def catch_up(self, seconds: float) -> None:
        """At least so many seconds were used before this process took over."""
        self.used = max(self.used, seconds)

    def left(self) -> float:
        """Seconds left, never under zero."""
        return max(0.0, self.limit - self.elapsed())

    def cap(self, limits: Limits) -> tuple[float, float]:
        """Wall and idle timeout of the next command: its own limits, or what is left, or a third of the whole run."""
        left = max(1.0, min(self.left(), self.limit / 3))
        return min(limits.command_timeout, left), min(limits.idle_timeout, left)


NO_COPY: Final = "no_copy"
"""Detail of a check that was to be judged in a copy of the workspace, where none can be made."""


class IgnoredFiles(Protocol):
    """What surrounds the visible files of the workspace: files that git ignores."""

    async def differing(self, before: str, name: str) -> tuple[str, ...] | None:
        """Ignored files that came or changed since this tree was the workspace's; None where that is not known."""
        ...

    async def run(self, check: Check, name: str, before: str | None) -> CommandResult:
        """Judge in a copy, with ignored files as they were with the tree `before`, or, where None, as they are.

        Where no copy can be made nothing is run, and the detail of the result is `NO_COPY`.
        """
        ...


@dataclass(frozen=True, slots=True)
class JudgeDeps:
    """What it takes to judge a tree: all of the outside world but the models."""

    root: Path
    """The workspace: git top level, or `--root`."""
    run_dir: Path
    """The state directory of the run; the part that people read is copied to `shown`."""
    snapshots: Snapshots
    run_check: Callable[[Check, str], Awaitable[CommandResult]]
    """Runs one check that judges; the second argument names its log (`visit-1-pytest`)."""
    surroundings: IgnoredFiles
    """Judges in a copy of the workspace."""
    before_edits: Callable[[], AbstractContextManager[None]]
    """Within it the checks judge the user's own code, and later checks may use the caches they leave."""
    close_off: Callable[[Installed], None]
    """Makes installed environments read-only for commands from now on, if the sandbox can."""
    baselines: Baselines
    emit: Emit
    clock: Clock
    confined: str
    """The level of the sandbox; `none` where there had to be one and is none."""

    @property
    def shown(self) -> str:
        """The path of the run's record as messages show it, relative to the workspace."""
        return f".sdd/runs/{self.run_dir.name}"


@dataclass(frozen=True, slots=True)
class Deps(JudgeDeps):
    """The outside world of one run."""

    coder: "Chain"
    planner: "BaseChatModel | None"
    """None: the plan is made by code, and nothing can be reviewed."""
    priced: bool
    """Whether the price of every model of this run is known."""
    planner_price: Price | None
    reviewer: "BaseChatModel | None"
    """None with `planner`, and only then."""
    reviewer_price: Price | None
    prompts: Prompts
    rungs: "RungMemory"
    baseline: "Task[tuple[Verification, StateUpdate]] | None"
    """The baseline that was begun while all this was loaded; None on a resume: the verifier takes it, if need be."""
    approval: Approval | None = None
    """None: no one is asked before the first edit."""
