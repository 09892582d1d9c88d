"""Guard of the request prefix, so that the endpoint's cache can be used."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from kotef.context.prefix_fingerprint import Prefix
from kotef.context.request_prefixes import Prefixes
from kotef.middleware.visit_context import VisitContext


class PrefixWatch(AgentMiddleware[Any, Any, Any]):
    """Compares the system prompt and the tools of each request with those of the one before.

    Over the visits of a run, and its resumes.
    """

    def __init__(self, visit: VisitContext, role: str) -> None:
        """One instance a visit; what the run has sent up to now is read from its directory."""
        super().__init__()
        self.role, self.emit, self.visit = role, visit.context.emit, visit.number
        self.sent = Prefixes(visit.context.run_dir)
        self._last: tuple[str, Sequence[Any], Prefix] | None = None

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Report a changed prefix; the request is sent unchanged."""
        model = str(getattr(request.model, "model_name", "") or type(request.model).__name__)
        now = self._prefix(request.system_message.text if request.system_message else "", request.tools)
        if changed := self.sent.note(self.role, model, now):
            self.emit("prefix_drift", visit=self.visit, role=self.role, model=model, changed=list(changed))
        return await handler(request)

    def _prefix(self, system: str, tools: Sequence[BaseTool | dict[str, Any]]) -> Prefix:
        """The prefix, recomputed only if the tools are other objects."""
        if self._last and self._last[0] == system and [*map(id, self._last[1])] == [*map(id, tools)]:
            return self._last[2]
        made = Prefix.of(system, [convert_to_openai_tool(tool) for tool in tools])
        self._last = system, list(tools), made
        return made
