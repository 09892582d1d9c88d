"""In which order do the guards of the inner loop stand, and why?"""

from typing import Any

from langchain.agents.middleware import AgentMiddleware

from kotef.middleware.activity import Activity
from kotef.middleware.bounds import Bounds, Budget
from kotef.middleware.effects import EffectsOnce
from kotef.middleware.faults import Faults
from kotef.middleware.malformed import Malformed
from kotef.middleware.setting import Setting


def stack(setting: Setting, budget: Budget) -> list[AgentMiddleware[Any, Any, Any]]:
    """Outermost first."""
    return [
        Bounds(budget, setting.emit, setting.visit),  # first: nothing below may cost a call that is not allowed
        Activity(setting.emit, setting.visit),  # outside of whatever answers a call, so that every answer is seen
        Malformed(setting.tools, setting.emit),  # before the ledger: a call that cannot be read is no effect
        EffectsOnce(setting),  # outside the error handler: a failure is a result to replay, too
        Faults(),  # innermost: a tool's exception would end the whole run
    ]
