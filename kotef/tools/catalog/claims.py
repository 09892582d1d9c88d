"""The tool with which a model reports that a test or a line of the ticket cannot be met honestly."""

from typing import Final

from pydantic import Field

from kotef.tools.errors import ToolFault
from kotef.tools.tool import Args, ToolContext, ToolSpec

REPORT: Final = "report_contradiction"
"""Name of the tool; a call of it that succeeds ends the visit, and the run."""
MAX_WORDS: Final = 4_000
"""Characters of what a model may say."""


class ReportContradiction(Args):
    """Arguments of report_contradiction."""

    place: str = Field(min_length=1, max_length=1_000)
    why: str = Field(min_length=1, max_length=MAX_WORDS)
    other: str = Field(default="", max_length=1_000)


async def _report(context: ToolContext, place: str, why: str, other: str = "") -> str:  # noqa: ARG001  kept by the middleware
    if context.claim is None:
        raise ToolFault("permission_denied", "claims are not accepted here")
    found = context.claim(place, other)
    return f"Accepted ({found or 'not checked by code'}). The run ends here, and a person is asked."


ROWS: Final = (
    ToolSpec(
        REPORT,
        "reader",
        "standard",
        ReportContradiction,
        _report,
        "Say what cannot be done honestly; ends the run. `place`: failing test, file:line or words of the ticket; "
        "`other`: the line or file in the way.",
    ),
)
