"""Guard that repairs tool calls that arrive malformed, or as text."""

from collections.abc import Awaitable, Callable, Collection
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse, ToolCallRequest
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.types import Command

from kotef.deps import Emit
from kotef.middleware.tool_errors import mistaken
from kotef.models.coercion import coerced
from kotef.models.response_parser import MENDED, ORDER
from kotef.models.text_tool_calls import rescue_tool_calls

BROKEN = "malformed_arguments"
"""The one argument of a call that stands for a broken one; no tool has a parameter of that name."""


class Malformed(AgentMiddleware[Any, Any, Any]):
    """Answers a broken call with its error, and reads a call that came as text where it names a known tool.

    Without it a turn whose calls are all malformed would end the loop as if the work were done.
    """

    def __init__(self, known: Collection[str], emit: Emit) -> None:
        """`known` are the names of the tools in the request."""
        super().__init__()
        self.known, self.emit = frozenset(known), emit

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Every call of the answer is either a good one or stands for a broken one; none is lost."""
        response = await handler(request)
        response.result[:] = [
            self._readable(message, request) if isinstance(message, AIMessage) else message
            for message in response.result
        ]
        return response

    def _readable(self, message: AIMessage, request: ModelRequest[Any]) -> AIMessage:
        for tool, what in message.response_metadata.get(MENDED, ()):
            self.emit("mended", tool=tool, what=what)
        if message.invalid_tool_calls:
            broken = [
                ToolCall(
                    name=call["name"] or "unknown",
                    args={BROKEN: f"{call['error'] or 'not valid JSON'}: {(call['args'] or '')[:200]}"},
                    id=call["id"],
                    type="tool_call",
                )
                for call in message.invalid_tool_calls
            ]
            order = message.response_metadata.get(ORDER, ())
            place = {call_id: number for number, call_id in enumerate(order)}
            made = sorted([*message.tool_calls, *broken], key=lambda call: place.get(call["id"], len(place)))
            return message.model_copy(update={"tool_calls": made, "invalid_tool_calls": []})
        if message.tool_calls or not isinstance(message.content, str):
            return message
        rescued = rescue_tool_calls(message.content, self.known)
        if not rescued:
            return message
        self.emit("rescued", calls=[call["name"] for call in rescued])
        schemas = _schemas(request)
        calls = [call | {"args": coerced(call["args"], schemas.get(call["name"], {}))} for call in rescued]
        return message.model_copy(update={"tool_calls": calls})

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """A call that stands for a broken one is answered, never executed."""
        call = request.tool_call
        if BROKEN not in call["args"]:
            return await handler(request)
        text = (
            f"the arguments of this call could not be read: {call['args'][BROKEN]}\n"
            f"Nothing was executed. Send the call again with complete, valid JSON for {call['name']}."
        )
        return mistaken(request, "schema_reject", text)


def _schemas(request: ModelRequest[Any]) -> dict[str, dict[str, Any]]:
    """The JSON schema of the parameters of each tool in the request, by its name."""
    described = [convert_to_openai_tool(tool)["function"] for tool in request.tools]
    return {function["name"]: function.get("parameters", {}) for function in described}
