"""The session of a run: what is open before the frameworks are loaded."""

from asyncio import Task as Work
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kotef.checks.verification import Verification
from kotef.deps import Approval, JudgeDeps
from kotef.replay import Tape
from kotef.runs.events import EventLog
from kotef.runs.executor import Workshop
from kotef.runs.run_config import RunConfig
from kotef.runs.signals import Signals
from kotef.runs.store import RunDir
from kotef.state import StateUpdate, Task


@dataclass(frozen=True, slots=True)
class Opened:
    """One process's share of a run."""

    run: RunDir
    task: Task
    setting: RunConfig
    emit: EventLog
    tape: Tape
    signals: Signals
    shop: Workshop
    ground: JudgeDeps
    ready: Callable[[], Awaitable[None]]
    """Prepares the workspace where that is still to be done. Raises `SandboxError`, `SetupError`."""
    baseline: Work[tuple[Verification, StateUpdate]] | None
    """At work already; None on a resume."""
    approval: Approval | None = None
    """Asks the person who sits beside the run."""

    def tell_notices(self) -> None:
        """Say what a person should know before it works."""
        for text in self.setting.notices:
            self.emit("notice", text=text)
