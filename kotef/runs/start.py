"""The start of a run, and its continuation after a kill."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kotef.checks.baselines import Baselines
from kotef.checks.verification import Verification
from kotef.coders.chain import parse_chain
from kotef.deps import Clock, Emit, JudgeDeps
from kotef.errors import UsageError
from kotef.failures.outcomes import RESUMABLE
from kotef.failures.plural import counted
from kotef.files import state_dir
from kotef.nodes.baseline import take_baseline
from kotef.nodes.next_step_advice import longer_search
from kotef.redaction import redactor
from kotef.replay import RECORD_NAME, Recorder
from kotef.report import keeps_page
from kotef.runs.check_copies import CopiedSurroundings
from kotef.runs.dead_runs import note_aborted
from kotef.runs.elapsed_time import counting, seconds_worked
from kotef.runs.events import EventLog
from kotef.runs.executor import Workshop
from kotef.runs.garbage_collection import loaded
from kotef.runs.git_history_guard import HistoryKept
from kotef.runs.public_record import RecordWriter
from kotef.runs.result import Result
from kotef.runs.resume_compatibility import must_be_current, must_fit, not_as_left
from kotef.runs.run_config import RunConfig
from kotef.runs.session import Opened
from kotef.runs.setup import set_up
from kotef.runs.signals import Signals
from kotef.runs.store import RunDir
from kotef.runs.user_prompts import RunPrompts
from kotef.sandbox import child_environment
from kotef.state import VISIT_CAPS, StateUpdate, Task
from kotef.stop_gate import guard_steps
from kotef.tools.approvals import Permits
from kotef.tools.stash import drop_old
from kotef.workspace.lock import workspace_lock
from kotef.workspace.snapshots import Snapshots

if TYPE_CHECKING:
    from kotef.runs.loop import RunLoop


def start(run: RunDir, task: Task, setting: RunConfig) -> Result:
    """Run `task` from its baseline to its ending.

    BusyError when another run works here, WorkspaceError when the run directory cannot be made; nothing else.
    """
    with workspace_lock(setting.root, run.run_id):
        told = note_aborted(setting.root)
        RecordWriter(run.path, run.record).create()
        run.create()
        task = redactor().whole(task)
        run.write_task(task)
        return asyncio.run(_go(run, task, _with(setting, told), resumed=False))


def resume(run: RunDir, task: Task, setting: RunConfig) -> Result:
    """Go on with a run that `may_resume` allows; `task` is its task with the limits now in force.

    BusyError when another run works here, UsageError where the run has ended meanwhile, or is not this kotef's to read.
    An earlier ending is forgotten first, so that a kill finds none.
    """
    run.must_be_own("resume")
    with workspace_lock(setting.root, run.run_id):
        kept = run.task() or task
        may_resume(run, kept, task)
        must_be_current(run, kept)
        must_fit(run)
        told = not_as_left(run, task, Snapshots.open(setting.root))
        task = redactor().whole(task)
        run.write_task(task)
        run.forget_result()
        return asyncio.run(_go(run, task, _with(setting, told), resumed=True))


def _with(setting: RunConfig, told: Sequence[str]) -> RunConfig:
    return replace(setting, notices=(*told, *setting.notices))


async def _go(run: RunDir, task: Task, setting: RunConfig, *, resumed: bool) -> Result:
    """A new run's baseline is begun, and waits for its commands while a thread imports the frameworks."""
    opened = open_run(run, task, setting, resumed=resumed)
    if not resumed:
        announce(opened)
    opened.signals.catch(opened.baseline)
    try:
        async with counting(run, opened.ground.clock):
            loop = await asyncio.to_thread(_loop, opened)
            loaded()
            return await loop.go()
    finally:
        opened.signals.let_go()
        if opened.baseline is not None:
            opened.baseline.cancel()
            await asyncio.gather(opened.baseline, return_exceptions=True)
        opened.shop.leave()
        if opened.shop.history is not None:
            opened.shop.history.close()


def open_run(run: RunDir, task: Task, setting: RunConfig, *, resumed: bool) -> Opened:
    """What a run needs before the frameworks are there; a new one's baseline is begun. The workspace is locked."""
    snapshots = Snapshots.open(setting.root)
    snapshots.sweep()
    drop_old(run.path.parent)
    tape = setting.tape or Recorder(run.path / RECORD_NAME, setting.root)
    record = RecordWriter(run.path, run.record)
    emit = EventLog(run.events, (tape.see, *setting.watchers, keeps_page(run, record.update), record.see))
    signals = Signals(emit, gently=setting.attended, stop=setting.stop)
    guard_steps(signals.gate)
    clock = Clock(task.limits.max_time, used=seconds_worked(run) if resumed else 0.0)
    env = child_environment(os.environ, allow=task.passed)
    tape.begin(clock, snapshots, setting.kit)
    known = Baselines(state_dir(setting.root) / "baselines", setting.root, env, setting.confined.sandbox)
    baselines = tape.baselines(known)
    asking = RunPrompts(emit, clock, signals)
    approval = asking.approval(tape.approval(setting.approval))
    shop = Workshop(
        setting.root,
        run,
        task,
        snapshots,
        setting.prompts,
        emit,
        clock,
        baselines,
        asking.choices(setting.ask),
        tape=tape,
        kit=setting.kit,
        sandbox=setting.confined.sandbox,
        opened=setting.confined.opened,
        hired=setting.hired,
        history=_history_kept(setting, run, snapshots, emit),
        permits=Permits(approval.command if approval else None),
    )
    ground = JudgeDeps(
        root=setting.root,
        run_dir=run.path,
        snapshots=snapshots,
        run_check=shop.run_check,
        surroundings=CopiedSurroundings(shop),
        before_edits=shop.rooms.first,
        close_off=shop.close_off,
        baselines=baselines,
        emit=emit,
        clock=clock,
        confined=setting.confined.level,
    )

    async def ready() -> None:
        if setting.confined.refused:
            raise setting.confined.refused
        await set_up(task.setup, run, shop.run_setup, snapshots, emit)

    async def first() -> tuple[Verification, StateUpdate]:
        await ready()
        return await take_baseline(task, ground)

    baseline = None if resumed else asyncio.create_task(first())
    return Opened(run, task, setting, emit, tape, signals, shop, ground, ready, baseline, approval)


def announce(opened: Opened) -> None:
    """That the run begins; a baseline that was made a task has not taken a step yet."""
    task = opened.task
    opened.emit(
        "run_started",
        run=opened.run.run_id,
        goal=task.goal,
        ticket=task.ticket.id if task.ticket else None,
        checks=[check.command for check in task.checks],
        coder=task.coder,
        model=task.model,
        sandbox=opened.setting.confined.level,
        network=opened.setting.confined.sandbox.network,
    )
    opened.tell_notices()


def _loop(opened: Opened) -> "RunLoop":
    """What takes a second or two to import, with the models and the coders."""
    from kotef.runs.loop import RunLoop

    return RunLoop(opened)


def may_resume(run: RunDir, task: Task, changed: Task) -> None:
    """UsageError, with the reason and the way out, when a resume with the `changed` task could not change anything."""
    result, limits = run.result(), changed.limits
    if result is None or result.outcome in RESUMABLE - {"budget_exceeded"}:
        return
    if result.outcome in ("bounded_attempts_exceeded", "stuck"):
        used = result.failure_history.attempts
        granted = ", or --continue" if result.stopped_by in VISIT_CAPS else ""
        if limits.max_attempts <= used:
            raise UsageError(
                f"run {run.run_id} has used its {counted(used, 'attempt')}",
                hint=f"pass --max-attempts {min(20, used + 1)} or more{granted}",
            )
        if result.reason in ("nothing_left_to_try", "search_time_over") and not _somebody_new(task, changed):
            why = "each of its coders already worked on this failure with this exact tree"
            new = longer_search(task) if result.reason == "search_time_over" else "`kotef run`"
            raise UsageError(f"run {run.run_id}: {why}", hint=f"name a model, or start a new run with {new}")
    elif result.outcome == "budget_exceeded":
        if limits == task.limits:
            raise UsageError(f"run {run.run_id}: {result.sentence}", hint="raise that limit to continue")
    elif result.reason == "ambiguous_repair":
        if not changed.accept_ambiguous:
            raise UsageError(f"run {run.run_id}: {result.sentence}", hint="--accept-ambiguous keeps the edit as it is")
    else:
        why = "it is done" if result.done else "a person must act first; see its entry in .sdd/issues.md"
        raise UsageError(f"run {run.run_id} ended {result.outcome}: {why}", hint="start a new run with `kotef run`")


def _somebody_new(task: Task, changed: Task) -> bool:
    """Whether a coder is asked that was not: a model answers again each time, the others do not."""
    before, now = ({link.name for link in parse_chain(each.coder)} for each in (task, changed))
    return any(link.name == "model" or link.command for link in parse_chain(changed.coder)) or not now <= before


def _history_kept(setting: RunConfig, run: RunDir, snapshots: Snapshots, emit: Emit) -> HistoryKept | None:
    """The protection of git's history and `.sdd`; None if the sandbox protects them (bwrap)."""
    if setting.confined.sandbox.level == "bwrap":
        return None
    return HistoryKept(setting.root, run, emit, lambda: snapshots.repositories().kept)
