"""Context of a run: what nodes, coders and guards share while it works. Nothing of it is checkpointed."""

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
    """Sends one event to the run's log and to whoever watches; never raises."""

    def __call__(self, event: str, /, **facts: Any) -> None:
        """`event` is one of the names in `runs.events`; `facts` are its fields."""
        ...


class Option(NamedTuple):
    """One answer a person may give."""

    answer: str
    """What the code would give: `15`."""
    diff: str
    """The edit that does so; empty if none does."""


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
"""In the directory of a run: what a resume continues from."""


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
        """Ignored files that came or changed since this tree was the workspace's; None if that is not known."""
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
        """The variables that commands get."""
        ...

    def coder_sandbox(self) -> "Sandbox":
        """The coder's room, which is made at the first call."""
        ...

    def before_edits(self) -> AbstractContextManager[None]:
        """Inside, the checks judge the user's own code, and later checks may use the caches they leave."""
        ...

    def close_off(self, installed: "InstalledEnvironments") -> None:
        """Make installed environments read-only for commands from now on, if the sandbox can."""
        ...


@dataclass(frozen=True, slots=True)
class RunContext:
    """One process of a run: made once by `runs.session`, handed on whole to nodes, coders and guards, never copied."""

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
    """The tools this machine, this user and this repository give the run."""
    permits: "Permits"
    """Commands that a person has allowed."""
    ask: Ask | None = None
    """Puts a question to the person at the terminal; None where there is no one."""
    approval: Approval | None = None
    """None: no one is asked before the first edit."""

    @property
    def shown(self) -> str:
        """The path of the run's record as messages show it, relative to the workspace."""
        return f".sdd/runs/{self.run_dir.name}"


@dataclass(frozen=True, slots=True)
class Models:
    """The chat models of one run and what they cost."""

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
        """Bound each answer of those that can be bounded."""
        for model in (self.coder, self.planner, self.reviewer):
            if hasattr(model, "deadline"):
                setattr(model, "deadline", seconds)  # noqa: B010  a field of ours, which the stock class has not

    async def aclose(self) -> None:
        """Let go of the connections, where a model keeps some; the loop they belong to is about to end."""
        for model in (self.coder, self.planner, self.reviewer):
            if close := getattr(model, "aclose", None):
                await close()


@dataclass(frozen=True, slots=True)
class Deps:
    """What the graph's nodes get: the run's context, and who edits, plans and reviews."""

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
