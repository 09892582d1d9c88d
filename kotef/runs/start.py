"""Start of a run, and its resume after a kill or an ending."""

import asyncio
from typing import TYPE_CHECKING

from kotef.coders.chain import parse_chain
from kotef.errors import UsageError
from kotef.failures.outcomes import RESUMABLE
from kotef.failures.plural import counted
from kotef.nodes.next_step_advice import longer_search
from kotef.runs.dead_runs import note_aborted
from kotef.runs.elapsed_time import counting
from kotef.runs.garbage_collection import loaded
from kotef.runs.public_record import RecordWriter
from kotef.runs.result import Result
from kotef.runs.resume_compatibility import must_be_current, must_fit, not_as_left
from kotef.runs.run_config import RunConfig
from kotef.runs.session import RunSession, open_session
from kotef.runs.signals import Signals
from kotef.runs.store import RunDir
from kotef.state import VISIT_CAPS, Task
from kotef.workspace import Snapshots, workspace_lock

if TYPE_CHECKING:
    from kotef.runs.loop import RunLoop


def start(config: RunConfig) -> Result:
    """Run a task from its baseline to its ending.

    BusyError when another run works here, WorkspaceError when the run directory cannot be made; nothing else.
    """
    run = config.run
    with workspace_lock(config.root, run.run_id), _signals(config) as signals:
        aborted = note_aborted(config.root)
        RecordWriter(run.path, run.record).create()
        run.create()
        config = config.noting(aborted).redacted()
        run.write_task(config.task)
        return _to_its_end(config, signals, begin=True)


def resume(config: RunConfig) -> Result:
    """Continue a run that `may_resume` allows; the task of `config` has the current limits.

    BusyError when another run works here, UsageError if the run has ended meanwhile, or is not this kotef's to read.
    An earlier ending is forgotten first, so that a kill finds none.
    """
    run, task = config.run, config.task
    run.must_be_own("resume")
    with workspace_lock(config.root, run.run_id), _signals(config) as signals:
        kept = run.task() or task
        may_resume(run, kept, task)
        must_be_current(run, kept)
        must_fit(run)
        changed = not_as_left(run, task, Snapshots.open(config.root))
        config = config.noting(changed).redacted()
        run.write_task(config.task)
        run.forget_result()
        return _to_its_end(config, signals, begin=False)


def _signals(config: RunConfig) -> Signals:
    """What answers signals from before the run's directory exists until its result does."""
    return Signals(gently=config.attended, stop=config.stop)


def _to_its_end(config: RunConfig, signals: Signals, *, begin: bool) -> Result:
    """Run to the result; where none can be written, the entry is, as if the run had been killed."""
    try:
        return asyncio.run(_run(config, signals, begin=begin))
    except BaseException:
        note_aborted(config.root)
        raise


async def _run(config: RunConfig, signals: Signals, *, begin: bool) -> Result:
    """Run to the end; the baseline of a new run works while a thread imports the frameworks."""
    async with open_session(config, signals, begin=begin) as session:
        if begin:
            session.announce(resumed=False)
        signals.catch(session.baseline)
        async with counting(config.run, session.context.clock):
            loop = await asyncio.to_thread(_loop, session)
            loaded()
            return await loop.go()


def _loop(session: RunSession) -> "RunLoop":
    """The loop, whose imports take a second or two, with models and coders."""
    from kotef.runs.loop import RunLoop

    return RunLoop(session)


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
            why = "each of its coders already tried this failure on exactly this tree"
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
    """Whether the chain has a new coder: a model may answer differently each time, others do not."""
    before, now = ({link.name for link in parse_chain(each.coder, extensions=None)} for each in (task, changed))
    return (
        any(link.name == "model" or link.command for link in parse_chain(changed.coder, extensions=None))
        or not now <= before
    )
