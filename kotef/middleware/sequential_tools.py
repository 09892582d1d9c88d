"""Guard of the order in which the tool calls of one answer run."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from kotef.middleware.visit_context import VisitContext
from kotef.tools.registry import BY_NAME


class InTurn(AgentMiddleware[Any, Any, Any]):
    """Runs calls in order: reads run in parallel; a call with an effect waits for earlier ones, and later ones wait.

    The framework starts the calls of an answer in their order, all at once. What a look would see, and what a command
    would find, hung on which was quicker; a run that is played again would see something else.
    """

    def __init__(self, visit: VisitContext) -> None:
        """One instance a visit."""
        super().__init__()
        self._effectful = visit.effectful
        self._effect: asyncio.Future[None] | None = None
        """The newest call with an effect."""
        self._looks: list[asyncio.Future[None]] = []
        """Those that came after it."""

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Wait for the earlier calls that matter to this one."""
        over = asyncio.get_running_loop().create_future()
        before = [self._effect] if self._effect else []
        if self._only_looks(request.tool_call["name"]):
            self._looks.append(over)
        else:
            before += self._looks
            self._effect, self._looks = over, []
        try:
            if pending := [call for call in before if not call.done()]:
                await asyncio.wait(pending)
            return await handler(request)
        finally:
            over.set_result(None)

    def _only_looks(self, name: str) -> bool:
        row = BY_NAME.get(name)
        return row is not None and row.kind == "reader" and name not in self._effectful
