"""Events of tools: which one is at work, and how each call ended."""

import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from kotef.deps import Emit
from kotef.middleware.conversation import FAILED
from kotef.stop_gate import next_step
from kotef.tools.registry import BY_NAME


class ToolActivity(AgentMiddleware[Any, Any, Any]):
    """Tells the run's events of every tool call, for the live view and for whoever reads the run later."""

    def __init__(self, emit: Emit, visit: int) -> None:
        """One instance a visit."""
        super().__init__()
        self.emit, self.visit = emit, visit

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Two events around the call."""
        call = request.tool_call
        shown = _shown(call["name"], call["args"])
        await next_step()
        self.emit("tool_started", visit=self.visit, tool=call["name"], arguments=shown[:300])
        started = time.monotonic()
        result = await handler(request)
        failed = isinstance(result, ToolMessage) and (
            result.status == "error" or FAILED in result.additional_kwargs  # a red command did its work, and is red
        )
        note = str(result.content).strip().splitlines()[:1] if isinstance(result, ToolMessage) else []
        self.emit(
            "tool_finished",
            visit=self.visit,
            tool=call["name"],
            arguments=shown[:300],
            ok=not failed,
            note="".join(note)[:200],
            category=_category(result) if failed else "",
            seconds=round(time.monotonic() - started, 3),
        )
        return result


def _category(result: ToolMessage | Command[Any]) -> str:
    """What kind of failure it is, in the words of `failures.tool_calls`."""
    marks = result.additional_kwargs if isinstance(result, ToolMessage) else {}
    return str(marks.get(FAILED) or "tool_error")


TELLING: Final = ("path", "command", "pattern", "glob", "names", "handle", "name", "query", "action")
"""Arguments that say what a call is about, the most telling first; the others are in the model's conversation."""


def _shown(tool: str, arguments: dict[str, Any]) -> str:
    row = BY_NAME.get(tool)
    if row is not None and row.kind == "editor":
        return ", ".join(row.targets(arguments))
    told = next((arguments[name] for name in TELLING if arguments.get(name)), "")
    return told if isinstance(told, str) else ", ".join(map(str, told))
