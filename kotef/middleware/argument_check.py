"""Guard of the arguments of tool calls: whatever reads them inside of it reads values of known types."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from kotef.middleware.malformed_calls import BROKEN, REJECTED
from kotef.tools.errors import ToolFault
from kotef.tools.registry import BY_NAME
from kotef.tools.tool import ToolSpec


class ArgumentCheck(AgentMiddleware[Any, Any, Any]):
    """Holds the arguments of each call against the schema of its tool, once.

    What does not fit is replaced by the reason: `Malformed` answers it, and no guard sees it.
    """

    def __init__(self, more: Iterable[ToolSpec]) -> None:
        """`more` are the tools of extensions, which stand beside kotef's own."""
        super().__init__()
        self._rows = {**{row.name: row for row in more}, **BY_NAME}

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """The call with valid arguments, or with the reason why they are not."""
        call = request.tool_call
        row = self._rows.get(call["name"])
        if row is None or request.tool is None or BROKEN in call["args"]:
            return await handler(request)
        try:
            arguments = row.validate(call["args"])
        except ToolFault as fault:
            arguments = {REJECTED: fault.message}
        return await handler(request.override(tool_call={**call, "args": arguments}))
