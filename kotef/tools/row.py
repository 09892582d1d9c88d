"""What is one tool, and what do the tools of a visit act on?"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict

from kotef.checks.model import CommandResult
from kotef.tools.guard import Guard
from kotef.tools.policy import Ruling

Kind = Literal["reader", "editor", "runner"]
"""A reader changes nothing; an editor changes the one file its `path` names; a runner starts a process."""
Tier = Literal["core", "standard", "all"]
"""Each contains the one before."""
Feature = Literal["apply_patch", "mcp", "memory", "skills", "web", "web_search"]
"""What a run must have switched on, or have, for a tool to be offered at all."""


@dataclass(frozen=True)
class ToolContext:
    """What the tools of one visit act on; one context per visit."""

    root: Path
    guard: Guard
    run: Callable[[str, float | None], Awaitable[CommandResult]]
    """Runs a command line with a timeout in seconds; None is the run's own limit."""
    run_checks: Callable[[list[str] | None], Awaitable[str]]
    """Runs the checks of these names, None for all, and returns text for the model."""
    wrote: Callable[[str], None]
    """Told the workspace-relative path of each file a tool wrote, right after it did."""
    rule: Callable[[str], Ruling]
    """Says whether a command line may run."""
    one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by every tool that has an effect: the tool calls of one turn run concurrently."""


class Args(BaseModel):
    """An argument nobody declared is an error the model can correct, not a wish that is dropped in silence."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Row:
    """One row of the table; the description and the schema are paid for with every request."""

    name: str
    kind: Kind
    tier: Tier
    args: type[BaseModel]
    act: Callable[..., Awaitable[str]]
    description: str
    needs: Feature | None = None

    def bind(self, context: ToolContext) -> BaseTool:
        """The tool as langchain wants it; a `ToolFault` it raises passes through."""

        async def call(**arguments: Any) -> str:
            return await self.act(context, **arguments)

        return StructuredTool(name=self.name, description=self.description, args_schema=self.args, coroutine=call)
