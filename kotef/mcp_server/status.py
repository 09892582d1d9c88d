"""The status of a run for a client."""

from collections.abc import Callable, Iterable
from pathlib import Path

from kotef.events import RecordedEvent
from kotef.mcp_server.background_run import at_work
from kotef.runs import store
from kotef.runs.events import read_events
from kotef.runs.progress import State
from kotef.runs.result import Camel
from kotef.runs.run_history import RunHistory

Told = Callable[[Iterable[RecordedEvent], int], list[str]]
"""The events as lines a person reads; the number is that of the attempts allowed."""

SHOWN = 400
"""Events among which the last lines are looked for."""


class Status(Camel):
    """Where a run stands, or how it ended."""

    run_id: str
    goal: str
    ticket: str | None
    state: State
    doing: str
    attempt: int
    """0: the state before the run is judged."""
    max_attempts: int
    outcome: str | None
    """Null while it is at work, and when it was killed."""
    done: bool
    """Only with the outcome `verified`."""
    exit_code: int | None
    reason: str
    sentence: str
    changed: list[str]
    """Paths that differ from the state before the run; known once it has ended."""
    tokens_in: int
    tokens_out: int
    cost: float | None
    """Null where a model was used whose price is not configured, and until the run has ended."""
    issue: str | None
    """Where its issue entry stands; null without one."""
    resume: str | None
    """The command that continues; null if there is nothing to resume."""
    report: str | None
    lines: list[str]


def status_of(root: Path, run: store.RunDir, told: Told, lines: int) -> Status:
    """The run as its directory reports it. UsageError if that cannot be read."""
    task = run.task()
    alive = at_work(root, run)  # before the events are read: it may end meanwhile, and then has its last event
    history = RunHistory.of(read_events(run.events))
    result = None if alive else run.result()
    now = history.progress if alive else history.progress.lost()
    most = task.limits.max_attempts if task else 0
    last = told(history.recorded[-SHOWN:], most)[-lines:] if lines else []
    killed = f"kotef resume {run.run_id}" if task and not alive else None
    return Status(
        run_id=run.run_id,
        goal=task.goal if task else "",
        ticket=task.ticket.id if task and task.ticket else None,
        state=now.state,
        doing=now.what,
        attempt=now.attempt,
        max_attempts=most,
        outcome=result.outcome if result else None,
        done=bool(result and result.done),
        exit_code=result.exit_code if result else None,
        reason=result.reason if result else now.reason,
        sentence=result.sentence if result else now.sentence,
        changed=list(result.changed) if result else [],
        tokens_in=result.usage.tokens_in if result else now.tokens_in,
        tokens_out=result.usage.tokens_out if result else now.tokens_out,
        cost=result.usage.cost if result else None,
        issue=result.issue if result else None,
        resume=result.resume if result else killed,
        report=f"{run.shown}/report.md" if result else None,
        lines=last,
    )
