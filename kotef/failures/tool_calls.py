"""The model's tool calls in one visit, and their results."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

MistakeKind = Literal["schema_reject", "tool_not_found", "exec_error", "permission_denied"]
"""What was wrong: the arguments, the tool's name, the path or the moment, the intention."""

Category = Literal["edit_mismatch", "file_not_found", "build_failure", "test_failure", "tool_error", "wrong_approach"]
"""What kind of failure a result reports; `wrong_approach` is said of several calls together, never of one result."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One tool call of a visit and its result; what every guard of the inner loop judges by."""

    turn: int
    """Number of the model's answer that made it, from 1 in each visit."""
    tool: str
    arguments: Mapping[str, Any]
    result: str
    """The text shown to the model."""
    mistake: MistakeKind | None = None
    """What kind of mistake it was; None when the tool did its work, whatever it found."""
    failure: Category | None = None
    """What the result reports: a mistake, or a command that did its work and ended red; None when neither."""
    words: str = ""
    """What the model said in the answer that made the call."""

    @property
    def failed(self) -> bool:
        """Whether the result reports a failure of either kind."""
        return self.failure is not None
