"""Guard that repairs tool calls that arrive malformed, or as text."""

from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse, ToolCallRequest
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.types import Command

from kotef.deps import Emit
from kotef.middleware.tool_errors import mistaken
from kotef.models.coercion import coerced
from kotef.models.json_values import unfit
from kotef.models.response_parser import MENDED, ORDER
from kotef.models.text_tool_calls import text_calls

BROKEN: Final = "malformed_arguments"
"""The only argument of a call that replaces a malformed one; no tool has a parameter of that name."""
REJECTED: Final = "rejected_arguments"
"""The same, of a call whose arguments do not fit the schema of its tool: the answer to it."""
REFUSED: Final = frozenset({BROKEN, REJECTED})
UNREAD: Final = "the answer ends in a call that is written as text and cannot be read"
LOST: Final = "kotef_lost_calls"
"""Key in `additional_kwargs` of an answer with calls as text that name no tool: the names; empty: unreadable."""


class Malformed(AgentMiddleware[Any, Any, Any]):
    """Answers a broken call with its error, and reads calls that came as text.

    Without it a turn whose calls are all malformed would end the loop as if the work were done.
    """

    def __init__(self, known: Collection[str], emit: Emit) -> None:
        """`known` are the names of the tools in the request."""
        super().__init__()
        self.known, self.emit = frozenset(known), emit

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """The answer in which every malformed call is repaired or replaced; none is lost."""
        response = await handler(request)
        response.result[:] = [
            self._storable(self._readable(message, request)) if isinstance(message, AIMessage) else message
            for message in response.result
        ]
        return response

    def _storable(self, message: AIMessage) -> AIMessage:
        """The answer with calls that can be kept and sent back: one that cannot stands for a broken one."""
        faults = [unfit(call["args"]) for call in message.tool_calls]
        if not any(faults):
            return message
        made = [
            ToolCall({**call, "args": {BROKEN: fault}}) if fault else call
            for call, fault in zip(message.tool_calls, faults, strict=True)
        ]
        return message.model_copy(update={"tool_calls": made})

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
        found = text_calls(message.content)
        if found.broken:
            call = ToolCall(name="unknown", args={BROKEN: UNREAD}, id=f"call_{uuid4().hex[:24]}", type="tool_call")
            return _noted(message, [call], "")
        if not found.calls:
            return message
        if known := [call["name"] for call in found.calls if call["name"] in self.known]:
            self.emit("rescued", calls=known)
        schemas = _schemas(request)
        calls = [
            ToolCall({**call, "args": coerced(call["args"], schemas.get(call["name"], {}))}) for call in found.calls
        ]
        return _noted(message, calls, *(call["name"] for call in found.calls if call["name"] not in self.known))

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Answer a call that replaces a malformed one, without executing it."""
        call = request.tool_call
        if REJECTED in call["args"]:
            return mistaken(request, "schema_reject", str(call["args"][REJECTED]))
        if BROKEN not in call["args"]:
            return await handler(request)
        text = (
            f"the arguments of this call could not be read: {call['args'][BROKEN]}\n"
            f"Nothing was executed. Send the call again with complete, valid JSON for {call['name']}."
        )
        return mistaken(request, "schema_reject", text)


def _noted(message: AIMessage, calls: list[ToolCall], *unknown: str) -> AIMessage:
    """The answer with its calls, and with the names among them that no tool has; empty: one cannot be read."""
    marks = {LOST: list(unknown)} if unknown else {}
    update = {"tool_calls": calls, "additional_kwargs": message.additional_kwargs | marks}
    return message.model_copy(update=update)


def _schemas(request: ModelRequest[Any]) -> dict[str, dict[str, Any]]:
    """The JSON schema of the parameters of each tool in the request, by its name."""
    described = [convert_to_openai_tool(tool)["function"] for tool in request.tools]
    return {function["name"]: function.get("parameters", {}) for function in described}
