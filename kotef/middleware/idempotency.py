"""Guard that does not repeat a tool call whose effect happened before a kill."""

import json
import posixpath
from collections.abc import Awaitable, Callable
from typing import Any, Final

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from kotef.errors import WorkspaceError
from kotef.files import resolve_inside
from kotef.middleware.conversation import CHANGED, CHECKS, FAILED, MISTAKE
from kotef.middleware.effect_log import RecordedEffect, digest, key_of
from kotef.middleware.files import WROTE
from kotef.middleware.visit_context import VisitContext
from kotef.tools.registry import BY_NAME
from kotef.tools.tool import ToolSpec

MARKS: Final = frozenset({MISTAKE, FAILED, WROTE, CHANGED, CHECKS})
"""Keys recorded with a result and replayed with it."""
IN_DOUBT: Final = (
    "This call was started before kotef was interrupted, and its end was not recorded: it may have happened, fully or "
    "in part. It was not repeated. Look at the files before you decide whether to run it again."
)
APPLIED: Final = "This edit was made before kotef was interrupted; it was not repeated."

IN_PART: Final = "{files}: changed before kotef was interrupted, and not changed again. The rest of this edit:"


class EffectsOnce(AgentMiddleware[Any, Any, Any]):
    """A finished effect is replayed from the ledger; one in doubt is resolved by its target, or by the model."""

    def __init__(self, visit: VisitContext) -> None:
        """One ledger a run, one instance a visit."""
        super().__init__()
        self.ledger, self.root = visit.effects, visit.context.root
        self.visit, self.emit, self.effectful = visit.number, visit.context.emit, visit.effectful
        self.permit = visit.permit

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run the call unless it is known to have run."""
        call = request.tool_call
        name, arguments, call_id = call["name"], call["args"], call["id"] or ""
        row = BY_NAME.get(name)
        if name not in self.effectful and (row is None or row.kind == "reader"):
            return await handler(request)
        key = key_of(self.visit, call_id, name, arguments)
        known = self.ledger.look(key)
        if known.standing == "done":
            return _replayed(known, call_id, name)
        before = known.before or json.dumps(self._targets(row, arguments))
        if known.standing == "doubt" and (name == "run_command" or name in self.effectful):
            self.emit("in_doubt", visit=self.visit, tool=name, arguments=str(arguments)[:200])
            self.ledger.finish(key, IN_DOUBT, failed=False)
            return ToolMessage(IN_DOUBT, tool_call_id=call_id, name=name)
        if known.standing == "doubt" and row and (changed := self._changed(before)):
            rest = row.rest(arguments, changed)
            now = {WROTE: {posixpath.normpath(path): digest(self.root / path) for path in changed}}
            if rest is None:
                self.ledger.finish(key, APPLIED, failed=False)
                return ToolMessage(APPLIED, tool_call_id=call_id, name=name, additional_kwargs=now)
            self.ledger.start(key, before=before)
            result = _completed(await handler(request.override(tool_call={**call, "args": dict(rest)})), now[WROTE])
        else:
            if name == "run_command" and self.permit is not None:  # before the effect: a kill there leaves no doubt
                await self.permit(str(arguments.get("command", "")))
            self.ledger.start(key, before=before)
            result = await handler(request)
        if isinstance(result, ToolMessage):
            mark = json.dumps({key: noted for key, noted in result.additional_kwargs.items() if key in MARKS})
            self.ledger.finish(key, result.text, failed=result.status == "error", mark=mark)
        return result

    def _targets(self, row: ToolSpec | None, arguments: dict[str, Any]) -> dict[str, str]:
        """The files of an editor or a keeper, as they are now."""
        changes_files = row is not None and row.kind in {"editor", "keeper"}
        return {path: self._digest(path) for path in row.targets(arguments)} if row and changes_files else {}

    def _changed(self, before: str) -> list[str]:
        """Which of the files are no longer as they were noted."""
        noted: dict[str, str] = json.loads(before)
        return [path for path, was in noted.items() if self._digest(path) != was]

    def _digest(self, path: str) -> str:
        """The digest of a file; a constant for files that tools may not touch, because a device may never end."""
        try:
            return digest(resolve_inside(self.root, path, write=False))
        except WorkspaceError:
            return "refused"


def _completed(result: ToolMessage | Command[Any], before: dict[str, str]) -> ToolMessage | Command[Any]:
    """The answer for the rest of an edit; `before` are the files changed before the kill."""
    if isinstance(result, ToolMessage):
        result.content = f"{IN_PART.format(files=', '.join(before))}\n{result.text}"
        result.additional_kwargs[WROTE] = before | result.additional_kwargs.get(WROTE, {})
    return result


def _replayed(known: RecordedEffect, call_id: str, name: str) -> ToolMessage:
    """The answer as it was given before the kill."""
    marks = json.loads(known.mark or "{}")
    status = "error" if known.failed else "success"
    return ToolMessage(known.result, tool_call_id=call_id, name=name, status=status, additional_kwargs=marks)
