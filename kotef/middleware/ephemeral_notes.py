"""Notes that appear in one request only."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AnyMessage, HumanMessage

Note = Callable[[ModelRequest[Any]], str]
"""One part of the tail, computed from the conversation in the request's `state`; empty if it has nothing to say."""


class Tail(AgentMiddleware[Any, Any, Any]):
    """Appends notes to a single request; they are not stored, so that the next prefix is the same.

    After the user's own message it becomes a part of it: templates of some models refuse two in a row.
    """

    def __init__(self, *notes: Note) -> None:
        """In the order in which they are read."""
        super().__init__()
        self.notes = notes

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Append the notes there are, as one message."""
        text = "\n\n".join(part for note in self.notes if (part := note(request).strip()))
        if not text:
            return await handler(request)
        return await handler(request.override(messages=with_note(request.messages, text)))


def with_note(messages: Sequence[AnyMessage], text: str) -> list[AnyMessage]:
    """The messages with a text appended; unchanged if the text is empty."""
    if not text:
        return list(messages)
    *before, last = messages
    if isinstance(last, HumanMessage):
        return [*before, last.model_copy(update={"content": f"{last.text}\n\n{text}"})]
    return [*before, last, HumanMessage(text)]
