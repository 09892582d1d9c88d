"""Has this very tool call had its effect already, before a kill?"""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from kotef.middleware.conversation import FAILED, MISTAKE
from kotef.middleware.setting import Setting
from kotef.tools.registry import EDITORS, RUNNERS
from kotef.workspace.effects import Effect, digest, key_of

IN_DOUBT: Final = (
    "This call was started before kotef was interrupted, and nobody saw it end: it may have happened, wholly or in "
    "part. It was not repeated. Look at the files before you decide whether to run it again."
)
APPLIED: Final = "This edit was made before kotef was interrupted; it was not repeated."


class EffectsOnce(AgentMiddleware[Any, Any, Any]):
    """A finished effect is replayed from the ledger; one in doubt is told apart by its target, or told to the model."""

    def __init__(self, setting: Setting) -> None:
        """One ledger a run, one instance a visit."""
        super().__init__()
        self.ledger, self.root = setting.effects, setting.root
        self.visit, self.emit = setting.visit, setting.emit

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run the call unless it is known to have run."""
        call = request.tool_call
        name, arguments, call_id = call["name"], call["args"], call["id"] or ""
        if name not in (*EDITORS, *RUNNERS):
            return await handler(request)
        key = key_of(self.visit, call_id, name, arguments)
        known = self.ledger.look(key)
        target = digest(self.root / str(arguments.get("path", ""))) if name in EDITORS else ""
        if known.standing == "done":
            return _replayed(known, call_id, name)
        if known.standing == "doubt" and name in EDITORS and known.before != target:
            self.ledger.finish(key, APPLIED, failed=False)
            return ToolMessage(APPLIED, tool_call_id=call_id, name=name)
        if known.standing == "doubt" and name == "run_command":
            self.emit("in_doubt", visit=self.visit, tool=name, arguments=str(arguments)[:200])
            self.ledger.finish(key, IN_DOUBT, failed=False)
            return ToolMessage(IN_DOUBT, tool_call_id=call_id, name=name)
        self.ledger.start(key, before=target)
        result = await handler(request)
        if isinstance(result, ToolMessage):
            marks = result.additional_kwargs
            mark = marks.get(MISTAKE) or (FAILED if FAILED in marks else "")
            self.ledger.finish(key, result.text, failed=result.status == "error", mark=mark)
        return result


def _replayed(known: Effect, call_id: str, name: str) -> ToolMessage:
    """The answer as it was given before the kill."""
    marks = {FAILED: True} if known.mark == FAILED else {MISTAKE: known.mark} if known.mark else {}
    status = "error" if known.failed else "success"
    return ToolMessage(known.result, tool_call_id=call_id, name=name, status=status, additional_kwargs=marks)
