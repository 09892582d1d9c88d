"""The model's tool calls in one visit, and their results."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

MistakeKind = Literal["schema_reject", "tool_not_found", "exec_error", "permission_denied"]
"""Kind of mistake: the arguments, the tool's name, the path or the moment, the intention."""

Category = Literal["edit_mismatch", "file_not_found", "build_failure", "test_failure", "tool_error", "wrong_approach"]
"""Kind of failure that a result reports; `wrong_approach` applies to several calls, never to one result."""


def argument_text(value: object) -> str:
    """One argument of a call as a text, whatever JSON it is: arguments of outside tools are not validated."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return ", ".join(argument_text(one) for one in value)
    return json.dumps(value, ensure_ascii=False, default=str)


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
    """The kind of mistake; None if the tool did its work, whatever it found."""
    failure: Category | None = None
    """What the result reports: a mistake, or a command that did its work and ended red; None when neither."""
    words: str = ""
    """What the model said in the answer that made the call."""
    changed: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Files it changed: the hash of the content before and after; empty for a file that is not there."""
    checks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What it ran of the checks: command or name, and what failed; empty where all passed."""

    @property
    def failed(self) -> bool:
        """Whether the result reports a failure of either kind."""
        return self.failure is not None
