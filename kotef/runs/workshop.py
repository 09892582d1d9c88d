"""With which hands do the nodes and the coder work in this workspace?"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from langchain_core.language_models import BaseChatModel

from kotef.checks.model import Check, CommandResult
from kotef.checks.runner import run_check
from kotef.coders.model import ModelCoder
from kotef.context.prompts import Prompts
from kotef.deps import Clock, Emit
from kotef.runs.store import RunDir
from kotef.settings import Price
from kotef.state import Task
from kotef.workspace.environment import child_environment
from kotef.workspace.snapshots import Snapshots


@dataclass(slots=True)
class Workshop:
    """Runs checks and commands with one environment, one clock and one place for logs."""

    root: Path
    run: RunDir
    task: Task
    snapshots: Snapshots
    prompts: Prompts
    emit: Emit
    clock: Clock
    _seconds: dict[str, float] = field(default_factory=dict)
    """Check name → wall seconds of its last run, for what must be kept back for judging."""
    _commands: int = 0

    async def run_check(self, check: Check, log_name: str) -> CommandResult:
        """One check in the project's environment; its full output goes to `logs/`."""
        result = await self._run(check.command, log_name)
        self._seconds[check.name] = result.seconds
        return result

    async def run_command(self, command: str, timeout: float | None) -> CommandResult:
        """One command of the coder, with the same environment and bounds as a check."""
        self._commands += 1
        return await self._run(command, f"command-{os.getpid()}-{self._commands}", timeout=timeout)

    async def run_checks(self, names: Sequence[str] | None) -> str:
        """The named checks, or all, as text for the coder: what it sees is what the verifier will see."""
        wanted = [check for check in self.task.checks if not names or check.name in names]
        if not wanted:
            return f"no such check; there are: {', '.join(check.name for check in self.task.checks)}"
        shown = []
        for check in wanted:
            self._commands += 1
            result = await self.run_check(check, f"coder-{os.getpid()}-{self._commands}-{check.name}")
            state = "passed" if result.passed else f"FAILED ({result.kind}/{result.detail})\n{result.summary}"
            tail = "" if result.passed else f"\n{(result.stdout + result.stderr)[-4000:]}"
            shown.append(f"{check.name}: `{check.command}` {state}{tail}")
        return "\n\n".join(shown)

    def reserve(self) -> float:
        """Seconds one verification is expected to take: what the checks took last."""
        return min(sum(self._seconds.values()), self.clock.limit / 2)

    def coder(self, model: BaseChatModel, *, name: str, price: Price | None) -> ModelCoder:
        """The coder of this run."""
        return ModelCoder(
            model=model,
            root=self.root,
            run_dir=self.run.path,
            snapshots=self.snapshots,
            prompts=self.prompts,
            run=self.run_command,
            run_checks=self.run_checks,
            emit=self.emit,
            clock=self.clock,
            reserve=self.reserve,
            price=price,
            name=name,
        )

    async def _run(self, command: str, log_name: str, *, timeout: float | None = None) -> CommandResult:
        wall, idle = self.clock.cap(self.task.limits)
        log = self.run.logs / f"{re.sub(r'[^A-Za-z0-9._-]+', '_', log_name)[:100]}.log"
        return await run_check(
            command,
            root=self.root,
            env=child_environment(os.environ),
            timeout=min(timeout or wall, wall),
            idle_timeout=idle,
            log=log,
            log_name=f"logs/{log.name}",
        )
