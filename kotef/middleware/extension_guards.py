"""Guard that asks the guards of extensions before a tool call is made."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from kotef.middleware.tool_errors import mistaken
from kotef.tools.toolset import CallRule


class ExtensionGuards(AgentMiddleware[Any, Any, Any]):
    """Refuses a call that one of them refuses. None of them can allow what another guard, or kotef, refuses."""

    def __init__(self, rules: Sequence[CallRule]) -> None:
        """One instance a visit."""
        super().__init__()
        self._rules = tuple(rules)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """The tool's answer, or the first refusal."""
        call = request.tool_call
        for rule in self._rules:
            if why := rule(call["name"], call["args"]):
                return mistaken(request, "permission_denied", why)
        return await handler(request)
