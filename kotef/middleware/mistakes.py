"""Guard against consecutive mistakes of the model."""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage

from kotef.failures.mistakes import Mistakes, judge
from kotef.middleware.limits import stopped
from kotef.middleware.visit_context import VisitContext


class MistakeGuard(AgentMiddleware[Any, Any, Any]):
    """Nudges the model after a run of mistakes, and ends the visit after the next; a note of `Tail`."""

    def __init__(self, visit: VisitContext) -> None:
        """One instance a visit."""
        super().__init__()
        self.visit = visit

    def note(self, request: ModelRequest[Any]) -> str:
        """The nudge, in the one request that follows the mistakes."""
        made = self._made(request)
        return self.visit.context.prompts.render("mistakes", kinds=made.kinds) if made.verdict == "nudge" else ""

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | AIMessage:
        """Continue, or end the visit."""
        made = self._made(request)
        if made.verdict:
            self.visit.context.emit("mistake_recovery", visit=self.visit.number, **made.event.model_dump())
        if made.verdict != "stop":
            return await handler(request)
        kinds = ", ".join(dict.fromkeys(made.kinds))
        return stopped("mistakes", f"{len(made.kinds)} failed tool calls in a row after guidance: {kinds}")

    def _made(self, request: ModelRequest[Any]) -> Mistakes:
        return judge(self.visit.calls(request.state["messages"]))
