"""What is a coder asked, and what does it owe in return?"""

from dataclasses import dataclass, field
from typing import Protocol

from kotef.failures.history import FailureEntry
from kotef.state import Edits, Plan, Task, Usage
from kotef.tools.guard import Guard


@dataclass(frozen=True, slots=True)
class Brief:
    """Everything one visit starts from: never the transcript of an earlier one."""

    task: Task
    plan: Plan
    failures: tuple[FailureEntry, ...]
    """The newest entries, newest last."""
    changed: tuple[str, ...]
    """Files this run has changed before this visit."""
    guard: Guard
    """Says which files the coder may not change; the verifier puts those back."""
    spent: Usage
    """What the run has used up to now; the visit's budget is what the limits leave."""


@dataclass(frozen=True, slots=True)
class Work:
    """One finished visit: the edits are on disk, the claims are unchecked."""

    edits: Edits
    usage: Usage = field(default_factory=Usage)


class Coder(Protocol):
    """Edits files until it believes the plan is done, within its budget; never judges itself."""

    @property
    def name(self) -> str:
        """As in `--coder` and in the result: `model`, `scripted`."""
        ...

    @property
    def needs_model(self) -> bool:
        """False for a coder that works without asking any endpoint."""
        ...

    async def work(self, brief: Brief) -> Work:
        """Edit the workspace. What goes wrong inside the visit is `Edits.stopped_by`, not an exception."""
        ...
