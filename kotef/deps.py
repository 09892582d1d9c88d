"""Context of a run: everything that nodes, coders and guards share while it works. None of it is checkpointed."""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from kotef.checks.baselines import Baselines
from kotef.checks.types import Check, CommandResult
from kotef.context.prompts import Prompts
from kotef.settings import Limits, Price
from kotef.workspace import InstalledEnvironments, Snapshots

if TYPE_CHECKING:
    from asyncio import Task as Work

    from langchain_core.language_models import BaseChatModel

    from kotef.checks.verification import Verification
    from kotef.coders.chain import Chain
    from kotef.models.structured_output import RungMemory
    from kotef.sandbox import Completed, Sandbox
    from kotef.state import StateUpdate, Task
    from kotef.tools.approvals import Permits
    from kotef.tools.command_outcome import ToolAnswer
    from kotef.tools.toolset import Kit
    from kotef.tools.truncated_output import Keep


class Emit(Protocol):
    """Sends one event to the run's log and its watchers; never raises."""

    def __call__(self, event: str, /, **facts: Any) -> None:
        """`event` is one of the names in `runs.events`; `facts` are its fields."""
        ...


class Option(NamedTuple):
    """One answer a person may give."""

    answer: str
    """The result of the code: `15`."""
    diff: str
    """The edit that gives this result; empty if none does."""


Ask = Callable[[str, Sequence[Option]], Awaitable[int | None]]
"""Puts a question to a person, who chooses one of the options by its index, or none."""


Permission = Literal["once", "run", "no"]
"""Whether a command may run: once, for the rest of the run, or not at all."""


@dataclass(frozen=True, slots=True)
class Approval:
    """Questions to a person before an action (`--interactive`)."""

    plan: Callable[[int, Sequence[str]], Awaitable[tuple[str, ...] | None]]
    """Visit and steps → the approved steps, possibly edited; None: the person quits."""
    command: Callable[[int, str, str], Awaitable[Permission]]
    """Visit, command line, and why the policy does not allow it on its own."""


CHECKPOINTS: Final = "checkpoints.sqlite"
"""File in the run's directory from which a resume continues."""


@dataclass(slots=True)
class Clock:
    """The wall time of a run, across interruptions; it stops while a person is asked."""

    limit: float
    """Seconds the whole run may take (`Limits.max_time`)."""
    used: float = 0.0
    """Seconds used before this process took over."""
    started: float = field(default_factory=time.monotonic)

    @contextmanager
    def standing(self) -> Iterator[None]:
        """Stop the clock during the block."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.started += time.monotonic() - began

    def elapsed(self) -> float:
        """Seconds used, earlier processes included."""
        return self.used + time.monotonic() - self.started

    def catch_up(self, seconds: float) -> None:
        """Raise the used time to at least this many seconds."""
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
    """The ignored files of the workspace, which surround the visible ones."""

    async def differing(self, before: str, name: str) -> tuple[str, ...] | None:
        """Ignored files added or changed since this tree; None if unknown."""
        ...

    async def run(self, check: Check, name: str, before: str | None) -> CommandResult:
        """Judge in a copy, with ignored files as they were with the tree `before`, or, where None, as they are.

        Where no copy can be made nothing is run, and the detail of the result is `NO_COPY`.
        """
        ...


class Executor(Protocol):
    """Runs the checks and commands of a run, each within its sandbox, its clock and its record."""

    async def run_check(self, check: Check, log_name: str, /) -> CommandResult:
        """Run one check that judges; the second argument names its log (`visit-1-pytest`)."""
        ...

    async def try_check(self, check: Check, log_name: str, /) -> CommandResult:
        """Run one check for the coder, in the coder's room."""
        ...

    async def run_checks(self, names: Sequence[str] | None, keep: "Keep | None", /) -> "ToolAnswer":
        """Run the named checks, or all, for the coder; the answer is text, `keep` takes what is cut."""
        ...

    async def run_command(self, command: str, timeout: float | None, /) -> CommandResult:
        """Run one command of the coder, with a timeout in seconds or the run's own limit."""
        ...

    async def run_on(self, command: str, log: Path, timeout: float | None, /) -> "Completed":
        """Run one command of the coder in the background, its output in `log`."""
        ...

    def reserve(self) -> float:
        """Seconds to keep back for one verification."""
        ...

    def environment(self) -> Mapping[str, str]:
        """The environment of commands."""
        ...

    def coder_sandbox(self) -> "Sandbox":
        """The sandbox of the coder's room, which is created on the first call."""
        ...

    def before_edits(self) -> AbstractContextManager[None]:
        """Within this block, checks judge the user's own code, and later checks may use their caches."""
        ...

    def close_off(self, installed: "InstalledEnvironments") -> None:
        """Make installed environments read-only for commands from now on, if the sandbox can."""
        ...


@dataclass(frozen=True, slots=True)
class RunContext:
    """One process of a run: created once by `runs.session`, passed to nodes, coders and guards, never copied."""

    root: Path
    """The workspace: git top level, or `--root`."""
    run_dir: Path
    """The state directory of the run; the part that people read is copied to `shown`."""
    task: "Task"
    snapshots: Snapshots
    prompts: Prompts
    emit: Emit
    clock: Clock
    baselines: Baselines
    executor: Executor
    surroundings: IgnoredFiles
    """Judges in a copy of the workspace."""
    confined: str
    """The level of the sandbox; `none` where one is required and there is none."""
    kit: "Kit"
    """The tools that machine, user and repository allow for the run."""
    permits: "Permits"
    """Commands that a person has allowed."""
    ask: Ask | None = None
    """Puts a question to the person at the terminal; None if there is no one."""
    approval: Approval | None = None
    """None: no one is asked before the first edit."""

    @property
    def shown(self) -> str:
        """The path of the run's record as messages show it, relative to the workspace."""
        return f".sdd/runs/{self.run_dir.name}"


@dataclass(frozen=True, slots=True)
class Models:
    """The chat models of one run, and their prices."""

    coder: "BaseChatModel | None" = None
    """None when no coder of the chain needs one."""
    planner: "BaseChatModel | None" = None
    """None: the plan is made by code, and nothing can be reviewed."""
    coder_price: Price | None = None
    planner_price: Price | None = None
    reviewer: "BaseChatModel | None" = None
    """None: the planner reviews."""
    reviewer_price: Price | None = None
    coder_name: str = "model"

    @property
    def priced(self) -> bool:
        """Whether the price of every model is known."""
        return self.coder_price is not None and self.planner_price is not None

    def answer_within(self, seconds: float) -> None:
        """Limit the time of each answer, for models that support it."""
        for model in (self.coder, self.planner, self.reviewer):
            if hasattr(model, "deadline"):
                setattr(model, "deadline", seconds)  # noqa: B010  a field of ours, which the stock class has not

    def keep_lessons(self, folder: Path) -> None:
        """Keep what is learnt of endpoints in a folder, and begin with what is there."""
        from kotef.models.lesson_store import FILE, keep_lessons

        for model in (self.coder, self.planner, self.reviewer):
            if (memories := getattr(model, "memories", None)) is not None:
                keep_lessons(memories, folder / FILE)

    async def aclose(self) -> None:
        """Close the connections of the models before their event loop ends."""
        for model in (self.coder, self.planner, self.reviewer):
            if close := getattr(model, "aclose", None):
                await close()


@dataclass(frozen=True, slots=True)
class Deps:
    """The dependencies of the graph's nodes: the run's context, coders and models."""

    run: RunContext
    coder: "Chain"
    models: Models
    rungs: "RungMemory"
    baseline: "Work[tuple[Verification, StateUpdate]] | None"
    """The baseline, begun while the frameworks were imported; None on a resume: the verifier takes it if need be."""

    @property
    def reviewer(self) -> "BaseChatModel | None":
        """The model that reviews; None with the planner, and only then."""
        return self.models.reviewer or self.models.planner

    @property
    def reviewer_price(self) -> Price | None:
        """The price of that model."""
        return self.models.reviewer_price if self.models.reviewer else self.models.planner_price
