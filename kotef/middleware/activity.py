"""Events of tools: which one is at work, and how each call ended."""

import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from kotef.deps import Emit
from kotef.failures.quoting import plain
from kotef.failures.tool_calls import argument_text
from kotef.middleware.conversation import FAILED
from kotef.middleware.malformed_calls import REFUSED
from kotef.stop_gate import next_step
from kotef.tools.registry import BY_NAME

MAX_NAME: Final = 80
"""Characters of a tool's name: a model may call anything."""
_LONGEST_ID: Final = 200


class ToolActivity(AgentMiddleware[Any, Any, Any]):
    """Emits events for every tool call, for the live view and for later readers."""

    def __init__(self, emit: Emit, visit: int) -> None:
        """One instance a visit."""
        super().__init__()
        self.emit, self.visit = emit, visit

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Emit an event before and after the call."""
        call = request.tool_call
        name, shown = plain(call["name"], MAX_NAME), _shown(call["name"], call["args"])
        await next_step()
        call_id = plain(call["id"] or "", _LONGEST_ID)
        self.emit("tool_started", visit=self.visit, tool=name, arguments=shown[:300], call_id=call_id)
        started = time.monotonic()
        result = await handler(request)
        failed = isinstance(result, ToolMessage) and (
            result.status == "error" or FAILED in result.additional_kwargs  # a red command did its work, and is red
        )
        note = str(result.content).strip().splitlines()[:1] if isinstance(result, ToolMessage) else []
        self.emit(
            "tool_finished",
            visit=self.visit,
            tool=name,
            arguments=shown[:300],
            ok=not failed,
            note="".join(note)[:200],
            category=_category(result) if failed else "",
            call_id=call_id,
            seconds=round(time.monotonic() - started, 3),
        )
        return result


def _category(result: ToolMessage | Command[Any]) -> str:
    """The category of the failure, from `failures.tool_calls`."""
    marks = result.additional_kwargs if isinstance(result, ToolMessage) else {}
    return str(marks.get(FAILED) or "tool_error")


TELLING: Final = ("path", "command", "pattern", "glob", "names", "handle", "name", "query", "action")
"""Arguments that say what a call is about, the most telling first; the others are in the model's conversation."""


def _shown(tool: str, arguments: dict[str, Any]) -> str:
    row = BY_NAME.get(tool)
    if row is not None and row.kind == "editor" and not REFUSED & arguments.keys():
        return ", ".join(row.targets(arguments))
    argument = next((arguments[name] for name in TELLING if arguments.get(name)), "")
    return argument_text(argument)
