"""The reason why a visit of the model changed nothing, as its conversation tells it."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from kotef.failures.plural import counted
from kotef.failures.quoting import plain
from kotef.middleware.limits import STOP
from kotef.middleware.malformed_calls import LOST
from kotef.tools.registry import EDITORS, RUNNERS

NAMED = 5
"""Names of tools that there are not."""


def idle_reason(messages: Sequence[AnyMessage]) -> str:
    """One line; empty where there were edits or commands, so that only a person can tell."""
    marks = [message.additional_kwargs[LOST] for message in messages if LOST in message.additional_kwargs]
    if lost := list(dict.fromkeys(name for names in marks for name in names)):
        known = ", ".join(plain(name, 60) for name in lost[:NAMED] if name)
        return f"the model wrote calls as text that name no tool ({known})" if known else UNREADABLE
    results = [message for message in messages if isinstance(message, ToolMessage)]
    if not results:
        answers = [message for message in messages if isinstance(message, AIMessage)]
        stopped = any(STOP in answer.additional_kwargs for answer in answers)
        return "" if stopped else "the model answered in words and called no tool"
    edits = [message for message in results if message.name in EDITORS]
    if not edits:
        ran = any(message.name in RUNNERS for message in results)
        return "" if ran else "the model only looked at files and made no edit"
    failed = sum(message.status == "error" for message in edits)
    return f"none of its {counted(failed, 'edit')} was applied" if failed == len(edits) else ""


UNREADABLE = "the model wrote calls as text that cannot be read"
