"""Configuration of a run: everything that is resolved before it opens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kotef.context.prompts import Prompts
from kotef.deps import Approval, Ask, Emit, Models
from kotef.extensions import ExtensionSet
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
    """Workspace, models and options of one run; only the task is checkpointed."""

    run: RunDir
    task: Task
    root: Path
    models: Callable[[Emit], Models]
    """Makes the models, which report retries and fallbacks."""
    prompts: Prompts
    watchers: tuple[Watcher, ...] = ()
    notices: tuple[str, ...] = ()
    ask: Ask | None = None
    """Puts a question to the person at the terminal; None if there is no one."""
    approval: Approval | None = None
    """Asks before the first edit, and before commands that need your permission; None: no one does."""
    attended: bool = False
    """Whether a person watches at the terminal, so that a first Ctrl-C lets the current step end."""
    servers: tuple[Server, ...] = ()
    """MCP servers this run may start."""
    kit: Kit = field(default_factory=Kit)
    confined: Confined = field(default_factory=lambda: Confined(OFF))
    tape: Tape | None = None
    """The player of an earlier run; None: this run is recorded."""
    stop: StopRequest | None = None
    """How a program that embeds kotef stops the run; None: only signals do."""
    checkpointer: "BaseCheckpointSaver[Any] | None" = None
    """Keeps the state of the graph; None: the SQLite file of the run."""
    extensions: ExtensionSet = field(default_factory=ExtensionSet)
    """Loaded; its tools and guards are in the kit, its checks in the task."""
    hired: Hired = NOBODY
    """Grants of the external agents of the chain."""

    def noting(self, more: Sequence[str]) -> "RunConfig":
        """The configuration with these notices first."""
        return replace(self, notices=(*more, *self.notices))

    def redacted(self) -> "RunConfig":
        """The configuration with secrets removed from its task."""
        return replace(self, task=redactor().whole(self.task))
