"""Errors of tool calls, worded so that the model can act on them."""

from typing import Literal

from kotef.failures.tool_calls import Category

FaultKind = Literal["schema_reject", "tool_not_found", "exec_error", "permission_denied"]
"""What the model must change: the arguments, the tool's name, the path or the moment, or its intention."""


class ToolFault(Exception):  # noqa: N818 - a fault is answered by the model within the visit; an error ends something
    """A tool call failed; the message is for the model, and names the way out.

    Not a `KotefError`: it never reaches a person and has no exit status. It may run over several lines where it
    shows the model the text it missed.
    """

    def __init__(self, kind: FaultKind, message: str, *, category: Category = "tool_error") -> None:
        super().__init__(message)
        self.kind: FaultKind = kind
        self.message = message
        self.category: Category = category
        """Its category in the failure memory."""
