"""The end of a run: its result, report, records and clean-up."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from kotef import __version__
from kotef.checks.verification import Verification
from kotef.deps import RunContext
from kotef.errors import KotefError, WorkspaceError
from kotef.failures.outcomes import EXIT_STATUS
from kotef.files import write_atomic
from kotef.nodes.decide import Ending
from kotef.nodes.differences import lines_of, next_replaced, noted_lines
from kotef.nodes.restore_best import is_undone
from kotef.nodes.snitch import ASIDE, IssuePlace, entry_of, next_step, resume_hint, write_entry
from kotef.nodes.visit_record import left_by_checks
from kotef.redaction import encodable, redactor
from kotef.report import render_report
from kotef.runs.attempt_trees import note_left
from kotef.runs.attempts import attempts_of
from kotef.runs.commit import commit_work
from kotef.runs.events import read_events
from kotef.runs.lost_work import lost_work
from kotef.runs.result import (
    Result,
    ResultCheck,
    ResultContradiction,
    ResultDone,
    ResultEdit,
    ResultExtension,
    ResultHistory,
    ResultModified,
    ResultProbe,
    ResultUsage,
)
from kotef.runs.run_history import RunHistory
from kotef.runs.store import RunDir
from kotef.sdd.done_evidence import Evidence, trace
from kotef.sdd.issue_log import has_entry, issues_path, settle, timestamp
from kotef.sdd.ticket_closure import close_asked
from kotef.state import AgentState, Edits
from kotef.workspace import Snapshots, activity_of, note_last_tree, restore_remainder

OF_SIGNALS = 128
"""Added to the number of the signal that ended a run, as in a shell: 129 SIGHUP, 130 SIGINT, 143 SIGTERM."""


def finish(
    run: RunDir,
    state: AgentState,
    ending: Ending,
    context: RunContext,
    *,
    priced: bool,
    started_at: str,
    notices: Sequence[str],
    signal: int = 0,
) -> Result:
    """Close the ticket or make sure of the entry, then write `report.md` and `result.json`, both without secrets."""
    state, context, now, lost = _held(state, context)  # before kotef itself moves a ticket
    lines = [*notices, *lost]
    issue: str | None = None
    lines += _differences(run, state, context, now)
    changed = _changed(state, context, now)
    evidence = _evidence(state, ending, [path for path in changed if (context.root / path).is_file()])
    if ending.outcome == "verified":
        lines += _settle_success(state, ending, evidence, context)
    else:
        issue, trouble = _entry(state, ending, context)
        lines += [f"the issue entry of this run is next to its result, because {trouble}"] if trouble else []
    result = _result(
        run, state, ending, context, now=now, priced=priced, started_at=started_at, signal=signal
    ).model_copy(
        update={
            "changed": changed,
            "definition_of_done": tuple(ResultDone(**found.model_dump()) for found in evidence),
            "issue": issue,
            "notices": tuple(lines),
        }
    )
    if ending.outcome == "verified" and state["task"].branch:
        result = result.model_copy(update={"branch": commit_work(state, context.root, context.snapshots)})
    result = encodable(redactor().whole(result))
    with suppress(WorkspaceError):  # a full disk: the result says the same in less room, and `kotef report` tells it
        write_atomic(run.path / "report.md", render_report(result).encode())
    note_left(run, context.snapshots, {path for visit in state["visits"].values() for path in visit.foreign})
    if now:
        note_last_tree(run.path, now)
    run.write_result(result)  # the last of all: what has a result is not resumed, and so lacks nothing
    context.emit(
        "run_finished",
        outcome=result.outcome,
        reason=result.reason,
        exit_code=result.exit_code,
        seconds=round(result.usage.seconds, 3),
        cost=result.usage.cost,
    )
    return result


def _held(state: AgentState, context: RunContext) -> tuple[AgentState, RunContext, str, list[str]]:
    """The run, its tree now, and, where its snapshots were lost while it worked, that they were.

    Then the run has no tree but the one of a new store, and none at all (empty) where there can be no such store.
    """
    try:
        for tree in state["snapshots"].values():
            context.snapshots.paths(tree)
        return state, context, context.snapshots.take(), []
    except WorkspaceError as error:
        lines = [f"the snapshots of this run are lost; only patches of its attempts remain: {error}"]
    bare: AgentState = {**state, "snapshots": {}}
    try:
        fresh = replace(context, snapshots=Snapshots.open(context.root))
        return bare, fresh, fresh.snapshots.take(), lines
    except WorkspaceError:
        return bare, context, "", lines


def _entry(state: AgentState, ending: Ending, context: RunContext) -> IssuePlace:
    """The place of this run's entry; written by the snitch, unless the run succeeded or ended outside the graph."""
    issue = issues_path(context.root)
    try:
        written = has_entry(issue, state["task"].run_id)
    except WorkspaceError:
        written = False
    if written and ending.outcome == state.get("outcome"):
        return IssuePlace(str(issue.relative_to(context.root)))
    return write_entry(state, ending, context)


def _differences(run: RunDir, state: AgentState, context: RunContext, now: str) -> list[str]:
    """What was restored, uncommitted work that is lost, and what else differs from the state before the run.

    An undone run has already reported this; for any other run it is reported now.
    """
    before = state["snapshots"].get(0)
    if before is None:
        return []
    if is_undone(state, context):
        return list(noted_lines(context.run_dir))
    undo = f"kotef undo {run.run_id}" if (run.path / "visit-0.json").exists() else ""
    replaced = next_replaced(context.run_dir)
    try:
        report = restore_remainder(context.snapshots, before, activity_of(context.run_dir), replaced, whole=False)
        lines = list(lines_of(report, context.snapshots, before, replaced=replaced, undo=undo))
    except WorkspaceError as error:
        lines = [f"the workspace could not be compared with the state before the run: {error}"]
    lost = lost_work(context.snapshots, before, now, undo=undo) if now else ""
    lines += [lost] if lost else []
    for text in lines:
        context.emit("notice", text=text)
    return lines


def _evidence(state: AgentState, ending: Ending, written: Sequence[str]) -> tuple[Evidence, ...]:
    """Evidence for each line of the ticket's Definition of Done; none unless the run ended verified."""
    ticket, judged = state["task"].ticket, state.get("test_results")
    if judged is not None and ending.outcome != "verified":
        judged = judged.model_copy(update={"passed": False})
    return trace(ticket.done, judged, written) if ticket else ()


def _settle_success(state: AgentState, ending: Ending, evidence: Sequence[Evidence], context: RunContext) -> list[str]:
    """Tick the proved lines, close the ticket, and resolve the entries of the run and its task."""
    ticket = state["task"].ticket
    lines: list[str] = []
    if ticket is not None:
        try:
            lines += (left := close_asked(context.root, ticket, evidence))
            for text in left:
                context.emit("notice", text=text)
        except KotefError as error:
            lines.append(f"the ticket stays where it is: {error}")
            context.emit("notice", text=lines[-1])
    (context.run_dir / ASIDE).unlink(missing_ok=True)
    issues = issues_path(context.root)
    try:
        done = settle(issues, entry_of(state, ending, context)) if issues.exists() else ()
    except WorkspaceError as error:
        lines.append(f"no issue entry was resolved: {error}")
    else:
        lines += [f"resolved in .sdd/issues.md: {', '.join(done)}"] if done else []
    return lines


def _result(
    run: RunDir,
    state: AgentState,
    ending: Ending,
    context: RunContext,
    *,
    now: str,
    priced: bool,
    started_at: str,
    signal: int,
) -> Result:
    task, history = state["task"], state["failure_history"]
    judged, edits = state.get("test_results"), state.get("edits")
    trees = state["snapshots"]
    exit_code = EXIT_STATUS[ending.outcome]
    if ending.outcome == "interrupted" and signal:
        exit_code = OF_SIGNALS + signal
    verified = ending.outcome == "verified"
    spent = state["usage"].total.model_copy(update={"seconds": round(context.clock.elapsed(), 3)})
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
        contradiction=_contradiction(edits),
        model=task.model,
        base=task.base,
        profile=task.profile,
        sandbox=context.confined,
        network=task.network,
        extensions=tuple(ResultExtension(**each.model_dump()) for each in task.extensions),
        max_attempts=task.limits.max_attempts,
        visits=edits.visit if edits else 0,
        failure_history=ResultHistory.of(history),
        attempts=attempts_of(RunHistory.of(read_events(run.events))),
        checks=tuple(
            ResultCheck(**check.model_dump(include=set(ResultCheck.model_fields)))
            for check in (judged.checks if judged else ())
        ),
        evidence=judged.summary if judged else "",
        targets=judged.targets if judged else (),
        fixed=judged.fixed if judged else (),
        broken=judged.broken if judged else (),
        flaky=_flaky(state),
        missing=judged.missing if judged else (),
        preexisting=judged.preexisting if judged else (),
        new_tests=judged.new_tests if judged else (),
        proved=judged.proved if judged else (),
        unproved=judged.unproved if judged else None,
        probes=_probes(judged),
        put_back=judged.put_back if judged else (),
        left=judged.left if judged else (),
        files_read=edits.files.read if edits else (),
        files_listed=edits.files.listed if edits else (),
        files_modified=tuple(ResultModified(**one.model_dump()) for one in edits.files.modified) if edits else (),
        tree_visit=next(
            (visit for visit in sorted(trees, reverse=True) if trees[visit] == now), edits.visit if edits else 0
        ),
        patches=tuple(path.name for path in sorted(run.path.glob("visit-*.patch"))),
        usage=ResultUsage.of(spent, priced=not task.model or priced),
        started_at=started_at,
        finished_at=timestamp(),
        next_step=None if verified else next_step(state, ending, context),
        resume=resume_hint(ending, run.run_id, task.limits.max_attempts, edits) if run.checkpoints.exists() else None,
    )


def _probes(judged: Verification | None) -> tuple[ResultProbe, ...]:
    found = judged.probes if judged else ()
    return tuple(ResultProbe(**one.model_dump(exclude={"proves_life", "complete"})) for one in found)


def _flaky(state: AgentState) -> tuple[str, ...]:
    """Tests that were flaky before the run, then those that are flaky now."""
    found = [judged.flaky for judged in (state.get("baseline"), state.get("test_results")) if judged]
    return tuple(dict.fromkeys(unit for units in found for unit in units))


def _contradiction(edits: Edits | None) -> ResultContradiction | None:
    claim = edits.contradiction if edits else None
    return ResultContradiction(**claim.model_dump()) if claim else None


def _edit(edits: Edits) -> ResultEdit:
    return ResultEdit(**edits.model_dump(include=set(ResultEdit.model_fields)))


def _changed(state: AgentState, context: RunContext, now: str) -> tuple[str, ...]:
    """Paths that the run changed and left changed, except those the checks wrote."""
    before = state["snapshots"].get(0)
    if before is None or not now:
        return ()
    theirs = left_by_checks(state, context.snapshots)
    return tuple(path for path in context.snapshots.changed(before, now) if path not in theirs)
