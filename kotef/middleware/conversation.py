"""Tool calls of a conversation, in the types of the pure guards."""

from collections.abc import Sequence
from typing import Final

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage

from kotef.failures.tool_calls import ToolUse

MISTAKE: Final = "kotef_mistake"
"""Key in `additional_kwargs` of a tool's answer: the kind of mistake. Checkpointed with it, never sent."""
FAILED: Final = "kotef_failed"
"""The same, of an answer that reports a failure, whether or not it was a mistake: the category of the failure."""

CHANGED: Final = "kotef_changed"
"""The same, of every answer after which files are different: the hash of each before and after."""
CHECKS: Final = "kotef_checks"
"""The same, of an answer that says something of the checks: what failed of each."""


class AnsweredCalls:
    """The answered calls of one visit; it keeps what it has read, because a visit's messages are only ever added to."""

    def __init__(self) -> None:
        self._read = 0
        self._turn = 0
        self._made: dict[str | None, tuple[int, ToolCall, str]] = {}
        self._calls: list[ToolUse] = []

    def __call__(self, messages: Sequence[AnyMessage]) -> Sequence[ToolUse]:
        """Every answered call, in the order of the answers; counts are taken from it, so that a resume counts on."""
        for message in messages[self._read :]:
            self._take(message)
        self._read = len(messages)
        return self._calls

    def _take(self, message: AnyMessage) -> None:
        if isinstance(message, AIMessage):
            self._turn += bool(message.tool_calls)
            words = str(message.text)
            self._made |= {call["id"]: (self._turn, call, words) for call in message.tool_calls}
        elif isinstance(message, ToolMessage) and message.tool_call_id in self._made:
            turn, call, text = self._made[message.tool_call_id]
            marks = message.additional_kwargs
            self._calls.append(
                ToolUse(
                    turn=turn,
                    tool=call["name"],
                    arguments=call["args"],
                    result=message.text,
                    mistake=marks.get(MISTAKE),
                    failure=marks.get(FAILED) or ("tool_error" if MISTAKE in marks else None),
                    words=text,
                    changed={path: (old, new) for path, (old, new) in marks.get(CHANGED, {}).items()},
                    checks={check: tuple(failed) for check, failed in marks.get(CHECKS, {}).items()},
                )
            )
