"""In which visit do the guards of the inner loop stand?"""

from dataclasses import dataclass
from pathlib import Path

from kotef.context.prompts import Prompts
from kotef.deps import Emit
from kotef.settings import Limits
from kotef.workspace.effects import Effects


@dataclass(frozen=True, slots=True)
class Setting:
    """What the guards of one visit share. They hold no count of their own: all is taken from the conversation."""

    visit: int
    root: Path
    run_dir: Path
    limits: Limits
    emit: Emit
    prompts: Prompts
    effects: Effects
    """Which effects of tools have happened already."""
    tools: tuple[str, ...]
    """Names of the tools offered."""
