"""Guard against a visit that makes no progress."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage

from kotef.failures.stagnation import Stall, StallNudge, VisitProgress
from kotef.middleware.limits import stopped
from kotef.middleware.loop_guard import TOOLS
from kotef.middleware.visit_context import VisitContext

STALLED: Final = "kotef_stalled"
"""Key in `additional_kwargs` of the answer to a nudge: its kind, its number, and how many calls there were."""


class ProgressGuard(AgentMiddleware[Any, Any, Any]):
    """Tells the model when its calls lead nowhere, and ends the visit if they go on like that; a note of `Tail`."""

    def __init__(self, visit: VisitContext) -> None:
        """One instance a visit; all is counted from the conversation, so a resume counts on."""
        super().__init__()
        self.visit = visit
        self._progress = VisitProgress(TOOLS, planned=frozenset(visit.planned))
        self._taken = 0

    def note(self, request: ModelRequest[Any]) -> str:
        """The nudge, in the one request that follows what earned it."""
        found = self._stall(request.state["messages"])
        return self.visit.context.prompts.render("no_progress", stall=found[0]) if found else ""

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | AIMessage:
        """Go on, tell the model and remember it, or end the visit."""
        found = self._stall(request.state["messages"])
        if found is None:
            return await handler(request)
        stall, stop = found
        self.visit.context.emit(
            "no_progress",
            visit=self.visit.number,
            kind=stall.kind,
            what=stall.what,
            count=stall.number,
            stopped=stop,
        )
        if stop:
            return stopped("no_progress", f"{stall.what}, after a nudge")
        response = await handler(request)
        for message in response.result[:1]:
            message.additional_kwargs[STALLED] = [stall.kind, stall.number, stall.at]
        return response

    def _stall(self, messages: Sequence[AnyMessage]) -> tuple[Stall, bool] | None:
        calls = self.visit.calls(messages)
        self._progress.take(calls[self._taken :])
        self._taken = len(calls)
        return self._progress.stall(list(_nudges(messages)))


def _nudges(messages: Sequence[AnyMessage]) -> Iterator[StallNudge]:
    for message in messages:
        if mark := message.additional_kwargs.get(STALLED):
            yield StallNudge(*mark)
