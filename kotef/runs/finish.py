"""What is left behind when a run is over?"""

import datetime as dt
from collections.abc import Sequence

from kotef import __version__
from kotef.deps import Deps
from kotef.errors import KotefError
from kotef.failures.outcomes import EXIT_STATUS
from kotef.nodes.decide import Ending
from kotef.nodes.snitch import entry_of, resume_hint, write_entry
from kotef.runs.report import render_report
from kotef.runs.result import Result, ResultCheck, ResultEdit, ResultHistory, ResultUsage
from kotef.runs.store import RunDir
from kotef.sdd.issues import has_entry, record
from kotef.sdd.proof import proved_lines
from kotef.sdd.tickets import close_ticket
from kotef.state import AgentState, Edits
from kotef.workspace.paths import write_atomic

SIGTERM_EXIT = 143


def finish(
    run: RunDir,
    state: AgentState,
    ending: Ending,
    deps: Deps,
    *,
    started_at: str,
    notices: Sequence[str],
    signal: int = 0,
) -> Result:
    """Close the ticket or make sure of the entry, then write `result.json` and `report.md`."""
    issue = deps.root / ".sdd" / "issues.md"
    said = list(notices)
    now = deps.snapshots.take()  # before kotef itself moves a ticket
    said += _bring_back_ignored(state, deps)
    if ending.outcome == "verified":
        said += _settle_success(state, ending, deps)
    elif not has_entry(issue, run.run_id) or ending.outcome != state.get("outcome"):
        write_entry(state, ending, deps)
    result = _result(run, state, ending, deps, now=now, started_at=started_at, notices=said, signal=signal)
    run.write_result(result)
    write_atomic(run.path / "report.md", render_report(result).encode())
    deps.emit(
        "run_finished",
        outcome=result.outcome,
        reason=result.reason,
        exit_code=result.exit_code,
        seconds=round(result.usage.seconds, 3),
    )
    return result


def _bring_back_ignored(state: AgentState, deps: Deps) -> list[str]:
    """Ignored files that the run deleted are copied back; what could not be kept is named."""
    before = state["snapshots"].get(0)
    if before is None:
        return []
    back, gone = deps.snapshots.bring_back(before)
    said = [f"deleted during the run and brought back: {', '.join(back[:10])}"] if back else []
    return [*said, f"deleted during the run, and too large to have been kept: {', '.join(gone[:10])}"] if gone else said


def _settle_success(state: AgentState, ending: Ending, deps: Deps) -> list[str]:
    """Tick what was proved, close the ticket, resolve this run's entry if an earlier end wrote one."""
    task, judged = state["task"], state.get("test_results")
    issue = deps.root / ".sdd" / "issues.md"
    said: list[str] = []
    if task.ticket is not None and judged is not None:
        try:
            close_ticket(deps.root, task.ticket, set(proved_lines(task.ticket.done, judged)))
        except KotefError as error:
            said.append(f"the ticket stays where it is: {error}")
    if has_entry(issue, task.run_id):
        record(issue, entry_of(state, ending, deps).model_copy(update={"state": "resolved"}))
    return said


def _result(
    run: RunDir,
    state: AgentState,
    ending: Ending,
    deps: Deps,
    *,
    now: str,
    started_at: str,
    notices: Sequence[str],
    signal: int,
) -> Result:
    task, history = state["task"], state["failure_history"]
    judged, edits = state.get("test_results"), state.get("edits")
    trees = state["snapshots"]
    proved = proved_lines(task.ticket.done, judged) if task.ticket and judged else {}
    exit_code = SIGTERM_EXIT if signal == 15 else EXIT_STATUS[ending.outcome]  # noqa: PLR2004  SIGTERM
    verified = ending.outcome == "verified"
    spent = state["usage"].total.model_copy(update={"seconds": round(deps.clock.elapsed(), 3)})
    return Result(
        kotef_version=__version__,
        run_id=run.run_id,
        outcome=ending.outcome,
        reason=ending.reason,
        sentence=ending.sentence,
        done=verified,
        exit_code=exit_code,
        goal=task.goal,
        ticket=task.ticket.id if task.ticket else None,
        coder=task.coder,
        stopped_by=edits.stopped_by if edits else None,
        winner=edits.coder if edits and verified else None,
        edit=_edit(edits) if edits and edits.rationale else None,
        model=task.model,
        profile=task.profile,
        max_attempts=task.limits.max_attempts,
        visits=edits.visit if edits else 0,
        failure_history=ResultHistory.of(history),
        checks=tuple(
            ResultCheck(**check.model_dump(include=set(ResultCheck.model_fields)))
            for check in (judged.checks if judged else ())
        ),
        evidence=judged.summary if judged else "",
        targets=judged.targets if judged else (),
        fixed=judged.fixed if judged else (),
        broken=judged.broken if judged else (),
        missing=judged.missing if judged else (),
        preexisting=judged.preexisting if judged else (),
        new_tests=judged.new_tests if judged else (),
        proved=judged.proved if judged else (),
        put_back=judged.put_back if judged else (),
        left=judged.left if judged else (),
        done_lines={line.text: proved.get(line.line, "") for line in task.ticket.done} if task.ticket else {},
        changed=_changed(state, deps, now),
        tree_visit=next(
            (visit for visit in sorted(trees, reverse=True) if trees[visit] == now), edits.visit if edits else 0
        ),
        patches=tuple(path.name for path in sorted(run.path.glob("visit-*.patch"))),
        usage=ResultUsage.of(spent, priced=not task.model or deps.priced),
        started_at=started_at,
        finished_at=timestamp(),
        issue=None if verified else ".sdd/issues.md",
        resume=resume_hint(ending, run.run_id, task.limits.max_attempts) if run.checkpoints.exists() else None,
        notices=tuple(notices),
    )


def _edit(edits: Edits) -> ResultEdit:
    return ResultEdit(**edits.model_dump(include=set(ResultEdit.model_fields)))


def _changed(state: AgentState, deps: Deps, now: str) -> tuple[str, ...]:
    """What the run changed and left so; what the checks themselves wrote is no part of it."""
    before, baseline = state["snapshots"].get(0), state.get("baseline")
    if before is None:
        return ()
    wrote = baseline.wrote if baseline else ()
    return tuple(path for path in deps.snapshots.changed(before, now) if path not in wrote)


def timestamp() -> str:
    """Now, in UTC, ISO 8601 to the second."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
