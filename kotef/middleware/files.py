"""Guard of files: which ones a visit saw and changed, and which it may edit."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.types import Command

from kotef.context.seen_files import Files, Touched, files_of
from kotef.middleware.conversation import CHANGED
from kotef.middleware.effect_log import digest
from kotef.middleware.tool_errors import mistaken
from kotef.middleware.visit_context import VisitContext
from kotef.tools.errors import ToolFault
from kotef.tools.guard import FileGuard
from kotef.tools.registry import BY_NAME
from kotef.tools.workspace_files import locate

READ: Final = "kotef_read"
"""Key in `additional_kwargs` of a tool's answer: the files it showed, with the hashes of their bytes."""
WROTE: Final = "kotef_wrote"
"""The same, of the files it changed, as it left them."""


class FileLedger(AgentMiddleware[Any, Any, Any]):
    """Records beside each result which files it showed or changed, and refuses to edit one the model has not seen.

    What has changed since is not seen either. A file that is viewed by an earlier call of the same answer counts.
    """

    def __init__(self, visit: VisitContext, guard: FileGuard) -> None:
        """One instance a visit."""
        super().__init__()
        self.root, self.known, self.guard = visit.context.root, visit.known, guard
        self.changes = visit.changes

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Check before an edit, and record the touched files after each call."""
        answer = await self._noted(request, handler)
        if (changed := self.changes()) and isinstance(answer, ToolMessage):
            answer.additional_kwargs[CHANGED] = {path: list(hashes) for path, hashes in changed.items()}
        return answer

    async def _noted(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        call = request.tool_call
        row = BY_NAME.get(call["name"])
        if call["name"] == "view_file":
            before = self._states([str(call["args"].get("path", ""))])
            return _marked(await handler(request), READ, before)
        if row is None or row.kind != "editor" or request.tool is None:
            return await handler(request)
        paths = [str(path) for path in row.targets(call["args"])]
        if why := self._objection(request, paths):
            return mistaken(request, "exec_error", why)
        answer = await handler(request)
        if isinstance(answer, ToolMessage) and answer.status != "error":
            self.known.learn(self._states(paths))
        return _marked(answer, WROTE, self._states(paths))

    def _objection(self, request: ToolCallRequest, paths: Sequence[str]) -> str:
        """Why the edit is refused; the tool itself answers for paths that must not be written."""
        messages: list[AnyMessage] = request.state["messages"]
        for states in _noted(messages):
            self.known.learn(states)
        try:
            places = [locate(self.root, path, guard=self.guard) for path in paths]
        except ToolFault:
            return ""
        at_once = self._viewed_at_once(messages, request.tool_call["id"])
        whys = (self.known.objection(place.name, digest(place.real)) for place in places if place.name not in at_once)
        return next((why for why in whys if why), "")

    def _viewed_at_once(self, messages: Sequence[AnyMessage], call_id: str | None) -> set[str]:
        """The files that the same answer views before this call."""
        answer = next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)
        seen = list[str]()
        for call in answer.tool_calls if answer else ():
            if call["id"] == call_id:
                break
            if call["name"] == "view_file":
                seen.append(str(call["args"].get("path", "")))
        return set(self._states(seen))

    def _states(self, paths: Sequence[str]) -> dict[str, str]:
        """Hashes of these files by name in the workspace; files outside have none."""
        states: dict[str, str] = {}
        for path in paths:
            try:
                place = locate(self.root, path)
            except ToolFault:
                continue
            states[place.name] = digest(place.real)
        return states


def _marked(answer: ToolMessage | Command[Any], key: str, states: dict[str, str]) -> ToolMessage | Command[Any]:
    if isinstance(answer, ToolMessage) and answer.status != "error" and states:
        answer.additional_kwargs[key] = states
    return answer


def _noted(messages: Sequence[AnyMessage]) -> Iterator[dict[str, str]]:
    for message in messages:
        if isinstance(message, ToolMessage):
            yield from (message.additional_kwargs[key] for key in (READ, WROTE) if key in message.additional_kwargs)


def ledger_of(messages: Sequence[AnyMessage]) -> Files:
    """The files of a conversation."""
    return files_of(
        Touched(
            message.name or "",
            message.text,
            message.additional_kwargs.get(READ, {}),
            message.additional_kwargs.get(WROTE, {}),
        )
        for message in messages
        if isinstance(message, ToolMessage) and message.status != "error"
    )
