"""Guard that turns a failed tool call into a message, and counts the kind of mistake."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolInvocationError
from langgraph.types import Command

from kotef.errors import KotefError, NoSpaceError
from kotef.failures.tool_calls import Category, MistakeKind
from kotef.middleware.conversation import CHECKS, FAILED, MISTAKE
from kotef.middleware.defect_log import DefectLog
from kotef.tools.command_outcome import ToolAnswer
from kotef.tools.errors import ToolFault
from kotef.tools.registry import BY_NAME
from kotef.tools.shell import MAX_OUTPUT
from kotef.tools.text import clip_middle

_MAX_REJECT: Final = 2_000
"""Characters of a refusal: langgraph quotes all arguments, which the model has just written."""


class Faults(AgentMiddleware[Any, Any, Any]):
    """Turns a tool's exception into its answer, so that it does not end the run, and classifies the mistake.

    A full disk does end the run: no other call could do better. An exception that a tool of ours does not mean to
    raise is a defect, and its traceback is kept.
    """

    def __init__(self, defects: DefectLog) -> None:
        """One instance a visit."""
        super().__init__()
        self.defects = defects

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """The tool's answer, or its failure in words."""
        try:
            answer = await handler(request)
        except NoSpaceError:
            raise
        except ToolFault as fault:
            return mistaken(request, fault.kind, fault.message, fault.category)
        except ToolInvocationError as error:
            return mistaken(request, "schema_reject", clip_middle(str(error), _MAX_REJECT))
        except KotefError as error:
            return mistaken(request, "exec_error", str(error))
        except RecursionError:
            name = request.tool_call["name"]
            text = (
                f"{name} gave up: its arguments, or what they lead to, are nested too deeply; ask for something simpler"
            )
            return mistaken(request, "exec_error", text)
        except Exception as error:  # noqa: BLE001  whatever a tool raises is one call's failure, not the run's
            name = request.tool_call["name"]
            if name in BY_NAME:
                self.defects.record(error, tool=name)
            return mistaken(request, "exec_error", f"{name} failed: {type(error).__name__}: {error}"[:500])
        if isinstance(answer, ToolMessage) and answer.status == "error":
            # langgraph answers these two itself: an unknown name, arguments the schema refuses
            answer.content = clip_middle(answer.text, _MAX_REJECT)
            answer.additional_kwargs[MISTAKE] = "tool_not_found" if request.tool is None else "schema_reject"
            answer.additional_kwargs[FAILED] = "tool_error"
        elif isinstance(answer, ToolMessage) and isinstance(answer.artifact, ToolAnswer):
            answer.additional_kwargs |= _marks(answer.artifact)
            answer.artifact = None
        return answer


def _marks(answer: ToolAnswer) -> dict[str, Any]:
    """What is noted beside an answer: plain JSON, so that it is checkpointed with it."""
    red = {FAILED: answer.red} if answer.red else {}
    checks = {CHECKS: {name: list(failed) for name, failed in answer.checks.items()}} if answer.checks else {}
    return red | checks


def mistaken(request: ToolCallRequest, kind: MistakeKind, text: str, category: Category = "tool_error") -> ToolMessage:
    """The answer to a failed call."""
    call = request.tool_call
    return ToolMessage(
        clip_middle(text, MAX_OUTPUT),
        tool_call_id=call["id"] or "",
        name=call["name"],
        status="error",
        additional_kwargs={MISTAKE: kind, FAILED: category},
    )
