"""Guard that redacts secrets in tool answers."""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from kotef.redaction import redactor


class HiddenSecrets(AgentMiddleware[Any, Any, Any]):
    """Replaces known secrets in every answer of a tool, so that neither the ledger nor a checkpoint holds one."""

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """The answer without them."""
        answer = await handler(request)
        if isinstance(answer, ToolMessage):
            answer.content = redactor().whole(answer.content)
        return answer
