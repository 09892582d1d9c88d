"""Recording of tool answers that come from outside, and their playback in a replay."""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

Answer = ToolMessage | Command[Any]
Hear = Callable[[ToolCallRequest, Callable[[ToolCallRequest], Awaitable[Answer]]], Awaitable[Answer]]
"""Makes the call with its second argument, or replays the answer."""


class Heard(AgentMiddleware[Any, Any, Any]):
    """Passes every tool call to the recorder or player."""

    def __init__(self, hear: Hear) -> None:
        """One instance a visit."""
        super().__init__()
        self._hear = hear

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Answer]]
    ) -> Answer:
        """The answer, made now or replayed."""
        return await self._hear(request, handler)
