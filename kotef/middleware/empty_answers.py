"""Guard against answers that contain neither text nor a call."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage

from kotef.middleware.visit_context import VisitContext

EMPTY: Final = "kotef_empty"
"""Key in `additional_kwargs` of an answer without words or calls; it is paid for and counted, and never sent."""
TWICE: Final = "The model returned two empty answers in a row."


class EmptyAnswers(AgentMiddleware[Any, Any, Any]):
    """Asks again after an empty answer, with a note, and ends the visit if that fails; a note of `Tail`.

    Without it a turn with only thoughts would end the visit as if the work were done.
    """

    def __init__(self, visit: VisitContext) -> None:
        """One instance a visit."""
        super().__init__()
        self.visit = visit

    def note(self, request: ModelRequest[Any]) -> str:
        """The note to the model in the request that follows an empty answer."""
        last = request.state["messages"][-1]
        return self.visit.context.prompts.render("empty") if EMPTY in last.additional_kwargs else ""

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """A non-empty answer, or the message that ends the visit."""
        request = request.override(messages=_without_empty(request.messages))
        response = await handler(request)
        *before, answer = response.result
        if not _is_empty(answer):
            return response
        self.visit.context.emit("empty_answer", visit=self.visit.number, asked_again=True)
        first: list[Any] = [*before, answer.model_copy(update=_marked(answer))]
        state: Any = {**request.state, "messages": [*request.state["messages"], *first]}
        again = await handler(request.override(messages=_without_empty([*request.messages, *first]), state=state))
        *between, last = again.result
        if _is_empty(last):
            self.visit.context.emit("empty_answer", visit=self.visit.number, asked_again=False)
            last = last.model_copy(update={"content": TWICE})
        return ModelResponse(result=[*first, *between, last])


def _is_empty(message: BaseMessage) -> bool:
    if not isinstance(message, AIMessage):
        return False
    return not (message.tool_calls or message.invalid_tool_calls or message.text.strip())


def _marked(message: BaseMessage) -> dict[str, Any]:
    return {"additional_kwargs": message.additional_kwargs | {EMPTY: True}}


def _without_empty(messages: list[AnyMessage]) -> list[AnyMessage]:
    return [message for message in messages if EMPTY not in message.additional_kwargs]
