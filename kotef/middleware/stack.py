"""In which order do the guards of the inner loop stand, and why?"""

from pathlib import Path
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest, ToolErrorMiddleware

from kotef.deps import Emit
from kotef.errors import KotefError, NoSpaceError
from kotef.middleware.activity import Activity
from kotef.middleware.bounds import Bounds, Budget
from kotef.middleware.effects import EffectsOnce
from kotef.middleware.malformed import Malformed
from kotef.tools.faults import ToolFault
from kotef.tools.registry import NAMES
from kotef.workspace.effects import Effects


def stack(
    *, budget: Budget, ledger: Effects, root: Path, visit: int, emit: Emit
) -> list[AgentMiddleware[Any, Any, Any]]:
    """Outermost first."""
    return [
        Bounds(budget, emit, visit),  # first: nothing below may cost a call that is not allowed
        Activity(emit, visit),  # outside of whatever answers a call, so that every answer is seen
        Malformed(NAMES, emit),  # before the ledger: a call that cannot be read is no effect
        EffectsOnce(ledger, root, visit, emit),  # outside the error handler: a failure is a result to replay, too
        ToolErrorMiddleware(on_error=told_to_the_model),  # innermost: a tool's exception would end the whole run
    ]


def told_to_the_model(error: Exception, request: ToolCallRequest) -> str | None:
    """What the model is told of a tool's failure; None lets it end the run, as a full disk must."""
    if isinstance(error, NoSpaceError):
        return None
    if isinstance(error, (ToolFault, KotefError)):
        return str(error)
    return f"{request.tool_call['name']} failed: {type(error).__name__}: {error}"[:500]
