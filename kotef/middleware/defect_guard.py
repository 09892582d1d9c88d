"""Guard against defects of kotef itself: the first one is told to the model, a repeated one ends the run."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse, ToolCallRequest
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from kotef.errors import KotefError
from kotef.middleware.conversation import FAILED
from kotef.middleware.defect_log import DefectLog
from kotef.middleware.ephemeral_notes import with_note

DEFECT: Final = "kotef_defect"
"""Key in `additional_kwargs` of the message that a defect cost: where the exception came from."""
MOST: Final = 3
"""Different defects that one visit survives."""
ANSWERED: Final = (
    "kotef itself failed during this call ({error}), which may have been executed in part. Check the files it should "
    "have changed, then try another way: if the same failure occurs again, the run ends."
)
ASKED_AGAIN: Final = (
    "Notice: kotef itself failed to process your last answer ({error}); nothing was executed. Answer again in another "
    "way: if the same failure occurs again, the run ends."
)


class DefectGuard(AgentMiddleware[Any, Any, Any]):
    """Answers an exception that no guard and no tool answers, as long as it is the first of its kind in a visit.

    What kotef raises on purpose passes through, and so does what the operating system says of a file.
    """

    def __init__(self, log: DefectLog) -> None:
        """One instance a visit."""
        super().__init__()
        self.log = log

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """The answer, or that to a second request; what the first cost is part of it."""
        try:
            return await handler(request)
        except (KotefError, OSError, GraphBubbleUp):
            raise
        except Exception as error:
            defect = self.log.record(error)
            if _repeats(request.state["messages"], defect.place):
                raise
        notice = ASKED_AGAIN.format(error=defect.error)
        response = await handler(request.override(messages=with_note(request.messages, notice)))
        for message in response.result[-1:]:
            message.additional_kwargs[DEFECT] = defect.place
            message.response_metadata = _with_lost_answer(message.response_metadata)
        return response

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """The tool's answer, or that kotef failed at it."""
        call = request.tool_call
        try:
            return await handler(request)
        except (KotefError, OSError, GraphBubbleUp):
            raise
        except Exception as error:
            defect = self.log.record(error, tool=call["name"])
            if _repeats(request.state["messages"], defect.place):
                raise
        return ToolMessage(
            ANSWERED.format(error=defect.error),
            tool_call_id=call["id"] or "",
            name=call["name"],
            status="error",
            additional_kwargs={DEFECT: defect.place, FAILED: "tool_error"},
        )


def _repeats(messages: Sequence[AnyMessage], place: str) -> bool:
    """Whether the model was told of this defect before, or of too many."""
    earlier = list(_earlier_defects(messages))
    return place in earlier or len(set(earlier)) >= MOST


def _earlier_defects(messages: Sequence[AnyMessage]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, AIMessage | ToolMessage) and DEFECT in message.additional_kwargs:
            yield message.additional_kwargs[DEFECT]


def _with_lost_answer(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts of an answer, with one more request that an endpoint worked on."""
    return facts | {"tries": int(facts.get("tries", 1)) + 1, "lost": int(facts.get("lost", 0)) + 1}
