"""Guard that ends a visit whose coder reported what cannot be done honestly."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from kotef.middleware.limits import stopped
from kotef.tools.catalog.claims import REPORT


class ReportedContradiction(AgentMiddleware[Any, Any, Any]):
    """Ends the visit once a report was accepted; read from the messages, so that a resume knows it too."""

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """The model's answer, or the message that ends the visit."""
        report = report_in(request.state["messages"])
        if report is None:
            return await handler(request)
        return ModelResponse(result=[stopped("contradiction", str(report.get("place", "")))])


def report_in(messages: Sequence[AnyMessage]) -> dict[str, Any] | None:
    """The arguments of the report that was accepted in the last turn of tool calls; None without one."""
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if not isinstance(message, AIMessage) or not message.tool_calls:
            continue
        answers = [answer for answer in messages[at + 1 :] if isinstance(answer, ToolMessage)]
        accepted = {answer.tool_call_id for answer in answers if answer.name == REPORT and answer.status != "error"}
        return next((call["args"] for call in message.tool_calls if call["id"] in accepted), None)
    return None
