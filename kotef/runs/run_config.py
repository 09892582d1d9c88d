"""The configuration of a run: where it works, and with which models and coders."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kotef.context.prompts import Prompts
from kotef.deps import Approval, Ask, Emit
from kotef.mcp_client import Server
from kotef.replay import Tape
from kotef.runs.events import Watcher
from kotef.runs.external_agents import NOBODY, Hired
from kotef.runs.sandbox_setup import Confined
from kotef.runs.signals import StopRequest
from kotef.sandbox import OFF
from kotef.settings import Price
from kotef.tools.toolset import Kit

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.checkpoint.base import BaseCheckpointSaver


@dataclass(frozen=True, slots=True)
class Models:
    """Who is asked: the chat models of one run and what they cost."""

    coder: "BaseChatModel | None" = None
    """None when no coder of the chain needs one."""
    planner: "BaseChatModel | None" = None
    coder_price: Price | None = None
    planner_price: Price | None = None
    reviewer: "BaseChatModel | None" = None
    """None: the planner reviews."""
    reviewer_price: Price | None = None
    coder_name: str = "model"

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
class RunConfig:
    """Where one run works, and with which models; nothing of it is checkpointed."""

    root: Path
    models: Callable[[Emit], Models]
    """Makes the models, which tell of their retries and of what takes over for them."""
    prompts: Prompts
    watchers: tuple[Watcher, ...] = ()
    notices: tuple[str, ...] = ()
    ask: Ask | None = None
    """Puts a question to the person at the terminal; None where there is no one."""
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
