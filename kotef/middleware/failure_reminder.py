"""Guard that remembers failed tool calls and reminds the model of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import AIMessage, AnyMessage
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kotef.failures.tool_failure_memory import ToolFailure, remember, render
from kotef.files import write_atomic
from kotef.middleware.conversation import AnsweredCalls
from kotef.middleware.loop_guard import warnings
from kotef.redaction import encodable

FILE: Final = "recent.json"
"""File in the run's directory; a visit recorded twice counts once."""
COMPACTED: Final = "kotef_compacted"
"""Key in `additional_kwargs` of the answer to the first request that no longer held the whole conversation."""


class EndedVisit(BaseModel):
    """The memory of a run at the end of a visit."""

    model_config = ConfigDict(frozen=True)

    turns: int
    """Answers with tool calls in this visit."""
    records: tuple[ToolFailure, ...]


class FailureMemoryFile(BaseModel):
    """The file."""

    model_config = ConfigDict(frozen=True)

    visits: dict[int, EndedVisit] = Field(default_factory=dict)


class RecentFailures:
    """The memory of one run, as one visit reads and adds to it; a note of `Tail`, no guard."""

    def __init__(self, run_dir: Path, visit: int) -> None:
        """Reads the records of earlier visits."""
        self.path, self.visit = run_dir / FILE, visit
        self.calls = AnsweredCalls()
        self.ended = {number: end for number, end in self._read().visits.items() if number < visit}
        self.before = sum(end.turns for end in self.ended.values())
        self.earlier = self.ended[max(self.ended)].records if self.ended else ()

    def note(self, request: ModelRequest[Any]) -> str:
        """The memory, if the model no longer sees the failures; a new visit does not know the earlier one."""
        messages = request.state["messages"]
        return self.text(messages) if self.earlier or compacted(messages) else ""

    def text(self, messages: Sequence[AnyMessage]) -> str:
        """`## Recent Failures` as of these messages of the visit; empty when nothing failed."""
        return render(self._records(messages))

    def keep(self, messages: Sequence[AnyMessage]) -> None:
        """Record the end of the visit. Raises `NoSpaceError` or `WorkspaceError`."""
        calls = self.calls(messages)
        turns = calls[-1].turn if calls else 0
        end = EndedVisit(turns=turns, records=self._records(messages))
        kept = FailureMemoryFile(visits=self.ended | {self.visit: end})
        write_atomic(self.path, encodable(kept).model_dump_json().encode())

    def _read(self) -> FailureMemoryFile:
        """Read the file; a damaged one only loses the memory."""
        try:
            return FailureMemoryFile.model_validate_json(self.path.read_bytes())
        except (FileNotFoundError, ValidationError):
            return FailureMemoryFile()

    def _records(self, messages: Sequence[AnyMessage]) -> tuple[ToolFailure, ...]:
        return remember(self.earlier, self.calls(messages), warnings(messages), before=self.before)


def compacted(messages: Sequence[AnyMessage]) -> bool:
    """Whether a part of this conversation is no longer sent."""
    return any(isinstance(message, AIMessage) and COMPACTED in message.additional_kwargs for message in messages)
