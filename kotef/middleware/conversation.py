"""Which tool calls does a conversation hold, in the words of the pure guards?"""

from collections.abc import Iterator, Sequence
from typing import Final

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage

from kotef.failures.calls import Call, MistakeKind

MISTAKE: Final = "kotef_mistake"
"""Key in `additional_kwargs` of a tool's answer: the kind of mistake. Checkpointed with it, never sent."""
FAILED: Final = "kotef_failed"
"""The same, of an answer that reports a red command."""


def calls_of(messages: Sequence[AnyMessage]) -> Iterator[Call]:
    """Every answered call, in the order of the answers; a visit's counts are taken from it, so a resume counts on."""
    turn = 0
    made: dict[str | None, tuple[int, ToolCall]] = {}
    for message in messages:
        if isinstance(message, AIMessage):
            turn += bool(message.tool_calls)
            made |= {call["id"]: (turn, call) for call in message.tool_calls}
        elif isinstance(message, ToolMessage) and message.tool_call_id in made:
            number, call = made[message.tool_call_id]
            mistake: MistakeKind | None = message.additional_kwargs.get(MISTAKE)
            yield Call(
                turn=number,
                tool=call["name"],
                arguments=call["args"],
                result=message.text,
                mistake=mistake,
                failed=mistake is not None or FAILED in message.additional_kwargs,
            )
