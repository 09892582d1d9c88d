"""Guard against a model that repeats itself."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage

from kotef.failures.loop_detection import ToolLoop, Tools, loop_in
from kotef.failures.tool_failure_memory import WrongApproach
from kotef.middleware.limits import stopped
from kotef.middleware.visit_context import VisitContext
from kotef.tools.registry import CORE, EDITORS, POLLS, RUNNERS

TOOLS: Final = Tools(
    editors=frozenset(EDITORS),
    polls=frozenset(POLLS),
    acts=frozenset((*EDITORS, *RUNNERS)),
    exact=frozenset(CORE),
)
WARNED: Final = "kotef_warned"
"""Key in `additional_kwargs` of the answer to a warning: the turn that earned it, the tool, and what was repeated."""


class RepeatGuard(AgentMiddleware[Any, Any, Any]):
    """Warns the model of the first loop, and ends the visit at the next one that closes after it; a note of `Tail`."""

    def __init__(self, visit: VisitContext) -> None:
        """One instance a visit."""
        super().__init__()
        self.visit = visit

    def note(self, request: ModelRequest[Any]) -> str:
        """The warning, in the one request that follows the loop."""
        loop = self._loop(request)
        return self.visit.context.prompts.render("repeats", what=loop.what, tool=loop.tool) if loop else ""

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | AIMessage:
        """Continue, warn and record the warning, or end the visit."""
        loop = self._loop(request)
        if loop is None:
            return await handler(request)
        stop = bool(_warned(request.state["messages"]))
        mark = {WARNED: [loop.turn, loop.tool, loop.what]}
        self.visit.context.emit(
            "repeat", visit=self.visit.number, kind=loop.kind, tool=loop.tool, what=loop.what, stopped=stop
        )
        if stop:
            end = stopped(loop.kind, f"{loop.tool}: {loop.what}, after a warning")
            end.additional_kwargs.update(mark)
            return end
        response = await handler(request)
        for message in response.result[:1]:
            message.additional_kwargs.update(mark)
        return response

    def _loop(self, request: ModelRequest[Any]) -> ToolLoop | None:
        messages = request.state["messages"]
        calls = self.visit.calls(messages)
        return loop_in(calls, TOOLS, warned=_warned(messages))


def _warned(messages: Sequence[AnyMessage]) -> int:
    """The turn that earned the last warning; 0 for none."""
    return max((earned.turn for earned in warnings(messages)), default=0)


def warnings(messages: Sequence[AnyMessage]) -> Iterator[WrongApproach]:
    """The warnings and stops of this conversation."""
    for message in messages:
        if mark := message.additional_kwargs.get(WARNED):
            yield WrongApproach(*mark)
