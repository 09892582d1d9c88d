"""Session of a run: one process, from the workspace lock to the last command."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from kotef.checks.baselines import Baselines
from kotef.checks.verification import Verification
from kotef.deps import Clock, RunContext
from kotef.files import state_dir
from kotef.nodes.baseline import take_baseline
from kotef.replay import RECORD_NAME, Recorder, Tape
from kotef.report import keeps_page
from kotef.runs.check_copies import CopiedSurroundings
from kotef.runs.elapsed_time import seconds_worked
from kotef.runs.events import EventLog
from kotef.runs.executor import RecordedExecutor
from kotef.runs.git_history_guard import HistoryKept
from kotef.runs.public_record import RecordWriter
from kotef.runs.run_config import RunConfig
from kotef.runs.setup import set_up
from kotef.runs.signals import Signals
from kotef.runs.user_prompts import RunPrompts
from kotef.sandbox import child_environment
from kotef.state import StateUpdate
from kotef.stop_gate import guard_steps
from kotef.tools.approvals import Permits
from kotef.tools.stash import drop_old
from kotef.workspace import Snapshots

Baseline = asyncio.Task[tuple[Verification, StateUpdate]]


@dataclass(frozen=True, slots=True)
class RunSession:
    """The open resources of a working run. It needs no framework."""

    config: RunConfig
    context: RunContext
    executor: RecordedExecutor
    tape: Tape
    signals: Signals
    emit: EventLog
    baseline: Baseline | None
    """The running baseline; None on a resume."""

    async def prepare_workspace(self) -> None:
        """Run `[setup]` if that is still needed. Raises `SandboxError`, `SetupError`."""
        await _prepare(self.config, self.context, self.executor)

    def announce(self, *, resumed: bool, outcome: str | None = None, attempt: int | None = None) -> None:
        """Announce that the run begins or continues (at this attempt), with notices for the person."""
        task, confined = self.config.task, self.config.confined
        sandbox, network = confined.level, confined.sandbox.network
        if resumed:
            self.emit(
                "run_resumed", run=task.run_id, outcome=outcome, sandbox=sandbox, network=network, attempt=attempt
            )
        else:
            self.emit(
                "run_started",
                run=task.run_id,
                goal=task.goal,
                ticket=task.ticket.id if task.ticket else None,
                checks=[check.command for check in task.checks],
                coder=task.coder,
                model=task.model,
                sandbox=sandbox,
                network=network,
            )
        if task.extensions:
            self.emit("extensions", active=[each.title for each in task.extensions])
        for text in self.config.notices:
            self.emit("notice", text=text)


@asynccontextmanager
async def open_session(config: RunConfig, signals: Signals, *, begin: bool) -> AsyncIterator[RunSession]:
    """Open a run in a workspace that is locked; with `begin` its baseline starts at the first wait.

    At the end the baseline is cancelled if it still works, and what the session holds is closed.
    """
    session = _opened(config, signals, begin=begin)
    try:
        yield session
    finally:
        if session.baseline is not None:
            session.baseline.cancel()
            await asyncio.gather(session.baseline, return_exceptions=True)
        session.executor.close()


def _opened(config: RunConfig, signals: Signals, *, begin: bool) -> RunSession:
    root, run, task = config.root, config.run, config.task
    snapshots = Snapshots.open(root)
    snapshots.sweep()
    drop_old(run.path.parent)

    tape = config.tape or Recorder(run.path / RECORD_NAME, root)
    record = RecordWriter(run.path, run.record)
    emit = EventLog(run.events, (tape.see, *config.watchers, keeps_page(run, record.update), record.see))
    signals.emit = emit
    guard_steps(signals.gate)
    clock = Clock(task.limits.max_time, used=0.0 if begin else seconds_worked(run))
    tape.begin(clock, snapshots, config.kit)

    env = child_environment(os.environ, allow=task.passed)
    baselines = tape.baselines(Baselines(state_dir(root) / "baselines", root, env, config.confined.sandbox))
    history = _history_guard(config, snapshots, emit)
    executor = RecordedExecutor(config, clock, baselines, tape, history)
    prompts = RunPrompts(emit, clock, signals)
    approval = prompts.approval(tape.approval(config.approval))
    context = RunContext(
        root=root,
        run_dir=run.path,
        task=task,
        snapshots=snapshots,
        prompts=config.prompts,
        emit=emit,
        clock=clock,
        baselines=baselines,
        executor=executor,
        surroundings=CopiedSurroundings(executor, snapshots),
        confined=config.confined.level,
        kit=config.kit,
        ask=prompts.choices(config.ask),
        approval=approval,
        permits=Permits(approval.command if approval else None),
    )

    async def first() -> tuple[Verification, StateUpdate]:
        await _prepare(config, context, executor)
        return await take_baseline(context)

    baseline = asyncio.create_task(first()) if begin else None
    return RunSession(config, context, executor, tape, signals, emit, baseline)


async def _prepare(config: RunConfig, context: RunContext, executor: RecordedExecutor) -> None:
    if config.confined.refused:
        raise config.confined.refused
    await set_up(context, executor.run_setup)


def _history_guard(config: RunConfig, snapshots: Snapshots, emit: EventLog) -> HistoryKept | None:
    """The protection of git's history and `.sdd`; None if the sandbox protects them (bwrap)."""
    if config.confined.sandbox.level == "bwrap":
        return None
    return HistoryKept(config.root, config.run, emit, lambda: snapshots.repositories().kept)
