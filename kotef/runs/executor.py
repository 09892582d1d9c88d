"""Executor of a run: its checks and commands, within the sandbox, the clock and the record."""

import os
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from kotef.checks.baselines import Baselines
from kotef.checks.runner import run_check
from kotef.checks.types import Check, CommandResult
from kotef.deps import Clock
from kotef.failures.tool_calls import Category
from kotef.replay import CommandKey, Tape
from kotef.runs.external_agents import AgentGrant
from kotef.runs.git_history_guard import HistoryKept
from kotef.runs.run_config import RunConfig
from kotef.sandbox import (
    OUTPUT_KEPT,
    BaseCheckout,
    Completed,
    Rooms,
    Sandbox,
    child_environment,
    filling_room,
    run_process,
)
from kotef.stop_gate import next_step
from kotef.tools.background import LOG_CAP
from kotef.tools.command_outcome import ToolAnswer, checks_of, red_of
from kotef.tools.errors import ToolFault
from kotef.tools.stash import WHOLE
from kotef.tools.truncated_output import Keep, clip_kept
from kotef.workspace import ActivityLog, InstalledEnvironments, Worker

_MARGIN: Final = 1.5
"""Factor by which a verification may take longer than the last one."""
MAX_OUTPUT: Final = 4_000
"""Characters of a red check's output shown to the coder; the rest is kept."""
_UNKNOWN: Final = 8
"""Fraction of the time reserved for a check that did not end, because its duration is unknown."""


@dataclass(slots=True)
class RecordedExecutor:
    """Runs checks and commands with one environment, one clock and one place for logs."""

    config: RunConfig
    clock: Clock
    baselines: Baselines
    tape: Tape
    """Records answers of commands and models, or replays them."""
    history: HistoryKept | None = None
    """Restores the user's git if no sandbox protects it."""
    rooms: Rooms = field(init=False)
    """The home, temporary files and caches of the coder's commands and of the checks that judge."""
    activity: ActivityLog = field(init=False)
    _seconds: dict[str, float] = field(default_factory=dict)
    """Check name → wall seconds of its last run, used to reserve time for judging."""
    _commands: int = 0

    def __post_init__(self) -> None:
        """The activity log is in the run directory."""
        self.activity = ActivityLog(self.config.run.path)
        self.rooms = Rooms(self.config.confined.sandbox, apart=self.config.task.allow_install)

    def before_edits(self) -> AbstractContextManager[None]:
        """See `Executor`."""
        return self.rooms.first()

    def coder_sandbox(self) -> Sandbox:
        """See `Executor`."""
        return self.rooms.coder()

    def close_off(self, installed: InstalledEnvironments) -> None:
        """Make installed environments read-only for commands, if the sandbox can.

        With `--allow-install` they become read-only for the checks only.
        """
        closed = {path: one for path, one in installed.places.items() if path not in installed.open}
        confined, agents = self.config.confined, self.config.hired.given.values()
        others = (confined.sandbox, confined.opened, *(given.sandbox for given in agents))
        for sandbox in (self.rooms.judging, *(() if self.config.task.allow_install else others)):
            if sandbox.level == "bwrap" and sandbox.confinement is not None:
                sandbox.confinement.environments.close_off(closed)

    def close(self) -> None:
        """Called after the last command."""
        self.rooms.close()
        for sandbox in (self.rooms.judging, self.config.confined.sandbox, self.config.confined.opened):
            if sandbox.confinement is not None:
                sandbox.confinement.environments.open_again()
        if self.history is not None:
            self.history.close()

    async def run_check(self, check: Check, log_name: str) -> CommandResult:
        """Run one check that judges, in a fresh room of its own."""

        async def judge() -> CommandResult:
            with self.rooms.judge() as sandbox:
                return await self._run(check.command, log_name, sandbox, worker="check", keep=OUTPUT_KEPT)

        return await self._checked(check, log_name, judge)

    async def run_in(
        self, check: Check, log_name: str, place: Callable[[], AbstractContextManager[BaseCheckout]]
    ) -> CommandResult:
        """Run one check that judges in a copy of the workspace."""
        with place() as copy, self.rooms.judge() as sandbox:
            return await self._run(
                check.command, log_name, copy.sandbox(sandbox), worker="check", keep=OUTPUT_KEPT, root=copy.directory
            )

    async def try_check(self, check: Check, log_name: str, *, keep: int = OUTPUT_KEPT) -> CommandResult:
        """Run one check for the coder, in its room; logs the full output, returns `keep` bytes per stream."""
        return await self._checked(
            check, log_name, lambda: self._run(check.command, log_name, self.rooms.coder(), worker="check", keep=keep)
        )

    async def _checked(self, check: Check, log_name: str, run: Callable[[], Awaitable[CommandResult]]) -> CommandResult:
        result = await self.tape.command(CommandKey("check", log_name, check.command), run)
        if check in self.config.task.checks:  # not a part of one, with a command line of its own
            unknown = self.clock.limit / _UNKNOWN
            self._seconds[check.name] = min(result.seconds, unknown) if result.timed_out else result.seconds
        return result

    async def run_command(self, command: str, timeout: float | None) -> CommandResult:
        """One command of the coder, with the same environment and bounds as a check."""
        self._commands += 1
        log_name = f"command-{os.getpid()}-{self._commands}"
        ran = CommandKey("command", "", command)
        return await self.tape.command(
            ran, lambda: self._run(command, log_name, self.rooms.coder(), worker="command", timeout=timeout, keep=WHOLE)
        )

    async def run_setup(self, command: str, log_name: str) -> CommandResult:
        """Run a command of `[setup]`, with the network and without an idle limit."""
        with filling_room(self.config.confined.opened) as sandbox:
            return await run_check(
                command,
                root=self.config.root,
                env=self.environment(),
                timeout=self.clock.left(),
                idle_timeout=None,
                sandbox=sandbox,
                log=self.config.run.logs / f"{log_name}.log",
                log_name=f"logs/{log_name}.log",
            )

    def environment(self) -> dict[str, str]:
        """The environment of a command."""
        return child_environment(os.environ, allow=self.config.task.passed)

    async def run_on(self, command: str, log: Path, timeout: float | None) -> Completed:
        """Run a coder's command in the background, without an idle limit, for as long as the run may take."""
        left = self.clock.left()
        with self._watched("command"):
            return await run_process(
                command,
                cwd=self.config.root,
                env=self.environment(),
                timeout=min(timeout or left, left),
                idle_timeout=None,
                sandbox=self.rooms.coder(),
                log=log,
                log_cap=LOG_CAP,
                keep=1,
            )

    async def run_checks(self, names: Sequence[str] | None, keep: Keep | None) -> ToolAnswer:
        """The named checks, or all, as text for the coder: what it sees is what the verifier will see.

        `keep` takes an output that is cut.
        """
        wanted = [check for check in self.config.task.checks if not names or check.name in names]
        if not wanted:
            known = ", ".join(check.name for check in self.config.task.checks)
            raise ToolFault("exec_error", f"no such check; the checks are: {known}")
        shown, red, found = [], list[Category](), dict[str, tuple[str, ...]]()
        for check in wanted:
            self._commands += 1
            result = await self.try_check(check, f"coder-{os.getpid()}-{self._commands}-{check.name}", keep=WHOLE)
            state = "passed" if result.passed else f"FAILED ({result.kind}/{result.detail})\n{result.summary}"
            output = "" if result.passed else f"\n{clip_kept(result.stdout + result.stderr, MAX_OUTPUT, keep)}"
            shown.append(f"{check.name}: `{check.command}` {state}{output}")
            found |= checks_of(result, check.name)
            if (kind := red_of(result)) or not result.passed:
                red.append(kind or "tool_error")
        worst = "test_failure" if "test_failure" in red else next(iter(red), None)
        return ToolAnswer("\n\n".join(shown), worst, found)

    async def run_program(
        self, command: str, grant: AgentGrant, variables: Mapping[str, str], *, seconds: float, idle: float, log: Path
    ) -> Completed:
        """Run an external agent with its grants and these variables; it may be silent for `idle` seconds."""
        env = child_environment(os.environ, allow=(*self.config.task.passed, *grant.names))
        with self._watched("command") as notices:
            done = await run_process(
                command,
                cwd=self.config.root,
                env={**env, **variables},
                timeout=seconds,
                idle_timeout=idle,
                sandbox=grant.sandbox,
                log=log,
                log_cap=LOG_CAP,
                keep=WHOLE,
            )
        return replace(done, stderr="\n".join(filter(None, (done.stderr, *notices)))) if notices else done

    def reserve(self) -> float:
        """Seconds to reserve for one verification: the last duration of the checks, plus a margin."""
        seconds = self.baselines.seconds | self._seconds
        return min(_MARGIN * sum(seconds.values()), self.clock.limit / 4)

    async def _run(
        self,
        command: str,
        log_name: str,
        sandbox: Sandbox,
        *,
        worker: Worker,
        timeout: float | None = None,
        keep: int,
        root: Path | None = None,
    ) -> CommandResult:
        await next_step()
        wall, idle = self.clock.cap(self.config.task.limits)
        log = self.config.run.logs / f"{re.sub(r'[^A-Za-z0-9._-]+', '_', log_name)[:100]}.log"
        with self._watched(worker) as notices:
            result = await run_check(
                command,
                root=root or self.config.root,
                env=self.environment(),
                timeout=min(timeout or wall, wall),
                idle_timeout=idle,
                sandbox=sandbox,
                log=log,
                log_name=f"logs/{log.name}",
                keep=keep,
            )
        return (
            result.model_copy(update={"stderr": "\n".join(filter(None, (result.stderr, *notices)))})
            if notices
            else result
        )

    @contextmanager
    def _watched(self, worker: Worker) -> Iterator[list[str]]:
        """Record when a command runs; where no sandbox protects git's history and `.sdd`, put them back after it.

        Yields the lines to add to the command's output; they are complete after the block.
        """
        kept = nullcontext[list[str]]([]) if self.history is None else self.history.kept()
        with self.activity.noted(worker), kept as notices:
            yield notices
