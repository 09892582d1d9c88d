"""The verifier node: the project's own checks, compared with the baseline."""

import time
from typing import Final

from langgraph.runtime import Runtime

from kotef.checks.verdict import Verification, compared, failure_entries
from kotef.checks.verdict_inputs import Judging
from kotef.deps import Deps
from kotef.nodes.baseline import take_baseline
from kotef.nodes.confirm_green import Judged, confirm
from kotef.nodes.decide import NEEDS_REVIEW
from kotef.nodes.file_swap import end_standing_in
from kotef.nodes.judge_probes import probe
from kotef.nodes.red_first import prove_new_tests
from kotef.nodes.restore_environments import put_environments_back
from kotef.nodes.restore_protected_files import make_fresh, put_back
from kotef.nodes.run_checks import QUICK, run_checks, usage_of
from kotef.nodes.untracked_files import look_for_unheld
from kotef.nodes.visit_record import left_by_checks
from kotef.redaction import encodable
from kotef.sdd.ticket import open_lines
from kotef.state import AgentState, Edits, StateUpdate, StoppedBy
from kotef.workspace import forget_last_tree, note_last_tree

NOTHING_DONE: Final[frozenset[StoppedBy]] = frozenset(
    {
        *("model_error", "login_refused", "exhausted", "search_time", "none_is_right", "contradiction"),
        *("tokens", "calls", "money", "time", "call_time", "commands", "written"),
    }
)
"""Reasons that end a visit without an attempt, if it changed nothing."""


async def verifier(state: AgentState, runtime: Runtime[Deps]) -> StateUpdate:
    """Judge the tree by running every check once; no model is asked. Visit 0 is the baseline.

    A visit that was over before anything was changed, because the endpoint failed, every coder declined or a budget of
    the run was spent, leaves nothing to judge: it is not an attempt.
    """
    deps = runtime.context
    context = deps.run
    started = time.monotonic()
    baseline, edits = state.get("baseline"), state.get("edits")
    if baseline is None or edits is None:
        verification, update = await (deps.baseline or take_baseline(context))
    elif edits.stopped_by in NOTHING_DONE and not edits.changed:
        return {}
    else:
        verification, update = await _visit(state, baseline, edits, deps)
        update["usage"] = usage_of(verification, seconds=time.monotonic() - started)
    kept = context.run_dir / f"visit-{verification.visit}.json"
    kept.write_text(encodable(verification).model_dump_json(), encoding="utf-8")
    context.emit(
        "verified",
        visit=verification.visit,
        passed=verification.passed,
        detail=verification.detail,
        summary=verification.summary,
        fixed=list(verification.fixed),
        broken=list(verification.broken),
        put_back=list(verification.put_back),
        left=list(verification.left),
        steering=verification.steering,
    )
    note_last_tree(context.run_dir, context.snapshots.take())
    return update


async def _visit(
    state: AgentState, baseline: Verification, edits: Edits, deps: Deps
) -> tuple[Verification, StateUpdate]:
    """Put back what judges, run the checks, compare with the baseline; not passed means the history grows.

    New tests are tried on the code as it was where they have to prove the goal, and where that takes no long: a person
    is told of each what it is worth.
    """
    task, context = state["task"], deps.run
    forget_last_tree(context.run_dir)
    theirs = end_standing_in(context)
    edits = edits.model_copy(update={"foreign": tuple(sorted({*edits.foreign, *theirs}))})
    restored = put_back(task, edits, state["snapshots"], context, baseline.test_files)
    installed = put_environments_back(task, baseline, state["snapshots"], edits.visit, context)
    unheld = look_for_unheld(task, baseline, state["snapshots"], edits.visit, context)
    tree = context.snapshots.take()
    before = state["snapshots"][0]
    written = left_by_checks(state, context.snapshots)
    changed = tuple(path for path in context.snapshots.changed(before, tree) if path not in written)
    (context.run_dir / f"visit-{edits.visit}.patch").write_text(
        context.snapshots.patch(before, tree), encoding="utf-8", errors="surrogateescape"
    )
    make_fresh(context.root, [path for path in changed if path not in edits.foreign])
    results = await run_checks(task.checks, edits.visit, context, reruns=task.limits.reruns, baseline=baseline)

    judging = Judging(
        visit=edits.visit,
        tree=tree,
        results=tuple(results),
        changed=changed,
        needs_proof=bool(task.goal or open_lines(task.ticket)),
        put_back=(*installed.put_back, *restored.put_back, *unheld.restored.put_back),
        left=(*installed.left, *restored.left, *unheld.restored.left),
        allow=task.allow_edits,
    )
    verification = judging.verdict(baseline)
    quick = verification.seconds <= min(QUICK, context.clock.left())
    if verification.new_tests and (verification.detail == "nothing_proves_the_goal" or (verification.passed and quick)):
        proved = await prove_new_tests(task, verification, before=before, tree=tree, changed=changed, context=context)
        judging = judging.model_copy(update={"proved": proved})
        verification = judging.verdict(baseline)
    if verification.detail == "nothing_proves_the_goal" and deps.models.planner is not None:
        accepted = judging.model_copy(update={"review_accepted": True})
        pending = accepted.verdict(baseline)
        if pending.passed:
            judging, verification = accepted, pending.model_copy(update={"detail": NEEDS_REVIEW})
    judging.keep(context.run_dir)
    judged = Judged(task, baseline, results, before, tree, changed, unheld)
    confirmed = await confirm(verification, judged, context)
    verification = await probe(verification, confirmed, judged, context) if verification.passed else confirmed
    verification = compared(verification, state.get("test_results", baseline))
    update: StateUpdate = {
        "test_results": verification,
        "snapshots": {edits.visit: tree},
        "failure_history": failure_entries(verification),
    }
    return verification, update | ({"edits": edits} if theirs else {})
