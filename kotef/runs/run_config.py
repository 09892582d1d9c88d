"""Configuration of a run: everything that is resolved before it opens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kotef.context.prompts import Prompts
from kotef.deps import Approval, Ask, Emit, Models
from kotef.mcp_client import Server
from kotef.redaction import redactor
from kotef.replay import Tape
from kotef.runs.events import Watcher
from kotef.runs.external_agents import NOBODY, Hired
from kotef.runs.sandbox_setup import Confined
from kotef.runs.signals import StopRequest
from kotef.runs.store import RunDir
from kotef.sandbox import OFF
from kotef.state import Task
from kotef.tools.toolset import Kit

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Where one run works, and with which models; of it the task alone is checkpointed."""

    run: RunDir
    task: Task
    root: Path
    models: Callable[[Emit], Models]
    """Makes the models, which tell of their retries and of what takes over for them."""
    prompts: Prompts
    watchers: tuple[Watcher, ...] = ()
    notices: tuple[str, ...] = ()
    ask: Ask | None = None
    """Puts a question to the person at the terminal; None if there is no one."""
    approval: Approval | None = None
    """Asks before the first edit, and before commands that the policy does not allow by itself; None: no one does."""
    attended: bool = False
    """Whether a person at the terminal reads what happens, so that a first Ctrl-C may let the current step end."""
    servers: tuple[Server, ...] = ()
    """MCP servers this run may start."""
    kit: Kit = field(default_factory=Kit)
    confined: Confined = field(default_factory=lambda: Confined(OFF))
    tape: Tape | None = None
    """What plays an earlier run; None: this one is recorded."""
    stop: StopRequest | None = None
    """How a program that embeds kotef stops the run; None: only signals do."""
    checkpointer: "BaseCheckpointSaver[Any] | None" = None
    """Keeps the state of the graph; None: the SQLite file of the run."""
    hired: Hired = NOBODY
    """What the agents of the chain that kotef did not write are given."""

    def noting(self, more: Sequence[str]) -> "RunConfig":
        """The same, with these notices first."""
        return replace(self, notices=(*more, *self.notices))

    def redacted(self) -> "RunConfig":
        """The same, its task without secrets."""
        return replace(self, task=redactor().whole(self.task))
