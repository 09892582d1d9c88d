"""Guard that adds the instructions of a file's own folder (`AGENTS.md`)."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import AnyMessage, ToolMessage
from langgraph.types import Command

from kotef.middleware.visit_context import VisitContext
from kotef.tools.errors import ToolFault
from kotef.tools.registry import BY_NAME
from kotef.tools.workspace_files import locate, read_text

NAME: Final = "AGENTS.md"
"""File name; the workspace's own is in the first message."""
TOLD: Final = "kotef_nested"
"""Key in `additional_kwargs` of a tool's answer: the files of instructions it ends with."""


class NestedInstructions(AgentMiddleware[Any, Any, Any]):
    """Appends the AGENTS.md of a folder to the first result about a file below it.

    The nearest one counts, and each is shown once per visit: what was sent stays as it was.
    """

    def __init__(self, visit: VisitContext) -> None:
        """One instance a visit; the calls of one turn run at once, so what they tell is noted here, too."""
        super().__init__()
        self.root, self.prompts = visit.context.root, visit.context.prompts
        self._shown_files: set[str] = set()

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """The answer with new instructions."""
        answer = await handler(request)
        if not isinstance(answer, ToolMessage) or answer.status == "error":
            return answer
        self._shown_files.update(_shown_files(request.state["messages"]))
        new = [path for path in dict.fromkeys(self._nearest(request)) if path not in self._shown_files]
        texts = {path: text for path in new if (text := self._text(path))}
        if texts:
            self._shown_files.update(texts)
            notes = [self.prompts.render("nested", path=path, text=text) for path, text in texts.items()]
            answer.content = "\n\n".join([answer.text, *notes])
            answer.additional_kwargs[TOLD] = list(texts)
        return answer

    def _nearest(self, request: ToolCallRequest) -> Iterator[str]:
        """The instructions nearest to each file that the call looks at or changes."""
        name, arguments = request.tool_call["name"], request.tool_call["args"]
        row = BY_NAME.get(name)
        if row is None or (name != "view_file" and row.kind != "editor"):
            return
        for path in row.targets(arguments):
            try:
                file = PurePosixPath(locate(self.root, str(path)).name)
            except ToolFault:
                continue
            found = (str(folder / NAME) for folder in file.parents if folder.parts and self._is_there(folder))
            nearest = next(found, None)
            if nearest is not None and nearest == str(file):
                self._shown_files.add(nearest)  # it is what the call is about
            elif nearest is not None:
                yield nearest

    def _is_there(self, folder: PurePosixPath) -> bool:
        return (self.root / folder / NAME).is_file()

    def _text(self, path: str) -> str:
        """Empty if it cannot be read, or leads out of the workspace."""
        try:
            return read_text(self.root, locate(self.root, path)).plain.strip()
        except ToolFault:
            return ""


def _shown_files(messages: Sequence[AnyMessage]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, ToolMessage):
            yield from message.additional_kwargs.get(TOLD, ())
