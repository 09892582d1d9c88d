"""Do the project's own checks pass, compared with the state before the run?"""

import time
from collections.abc import Sequence
from typing import Final

from langgraph.runtime import Runtime

from kotef.checks.steering import absent_modules
from kotef.checks.verdict import Verification, compared, failure_entries, judge, judge_baseline
from kotef.deps import Deps
from kotef.failures.history import MAX_SUMMARY
from kotef.nodes.checking import QUICK, baseline_results, run_checks
from kotef.nodes.confirming import Judged, confirm
from kotef.nodes.decide import NEEDS_REVIEW
from kotef.nodes.guarding import all_is_protected
from kotef.nodes.other_runner import other_runner
from kotef.nodes.proof import prove_new_tests
from kotef.nodes.putting_back import make_fresh, put_back
from kotef.nodes.standing_in import end_standing_in
from kotef.nodes.unheld import look_for_unheld, remember_unheld
from kotef.sdd.ticket import open_lines
from kotef.state import AgentState, Edits, Spent, StateUpdate, StoppedBy, Task, Usage

NOTHING_DONE: Final[frozenset[StoppedBy]] = frozenset(
    {"model_error", "exhausted", "search_time", "none_is_right", "tokens", "calls", "money", "time"}
)
"""What can end a visit that is no attempt, if it changed nothing."""

NO_CHECKS = (
    "no check is named or found here, so nothing could tell success from failure: name one with --check, in the "
    "ticket's ## Tests block or in .sdd/kotef.toml, or pass --allow-unverified"
)


async def verifier(state: AgentState, runtime: Runtime[Deps]) -> StateUpdate:
    """Judge the tree by running every check once; no model is asked. Visit 0 is the baseline.

    A visit that was over before anything was changed, because the endpoint failed, every coder declined or a budget of
    the run was spent, leaves nothing to judge: it is not an attempt.
    """
    deps = runtime.context
    started = time.monotonic()
    baseline, edits = state.get("baseline"), state.get("edits")
    if baseline is None or edits is None:
        verification, update = await _baseline(state["task"], deps)
    elif edits.stopped_by in NOTHING_DONE and not edits.changed:
        return {}
    else:
        verification, update = await _visit(state, baseline, edits, deps)
    deps.emit(
        "verified",
        visit=verification.visit,
        passed=verification.passed,
        detail=verification.detail,
        summary=verification.summary,
        fixed=list(verification.fixed),
        broken=list(verification.broken),
        put_back=list(verification.put_back),
        left=list(verification.left),
    )
    kept = deps.run_dir / f"visit-{verification.visit}.json"
    kept.write_text(verification.model_dump_json(), encoding="utf-8")
    spent = Spent(seconds=time.monotonic() - started, commands=len(verification.checks))
    update["usage"] = Usage(by_call={f"{verification.visit}/verifier/checks": spent})
    return update


async def _baseline(task: Task, deps: Deps) -> tuple[Verification, StateUpdate]:
    """The state before the run: what is red already is known before a token is paid for."""
    tree = deps.snapshots.take()
    kept, left_out = deps.snapshots.preserve_ignored()
    deps.emit("snapshot", tree=tree, kept=len(kept), left_out=[*deps.snapshots.left_out, *left_out][:50])
    results, wrote = await baseline_results(task, tree, (*kept, *left_out), deps)
    verification = judge_baseline(results, named_text=_named_text(task), tree=tree)
    absent = absent_modules(f"{result.stdout}\n{result.stderr}" for _, result in results)
    verification = verification.model_copy(
        update={"wrote": wrote, "absent": absent, "unheld": remember_unheld(task, tree, deps)}
    )
    if hint := other_runner(verification, deps.snapshots):
        verification = verification.model_copy(update={"summary": f"{verification.summary}; {hint}"[:MAX_SUMMARY]})
    if verification.targets and (closed := all_is_protected(task, tree, deps.snapshots)):
        deps.emit("notice", text=closed)
    if not task.checks and not task.allow_unverified:
        verification = verification.model_copy(update={"environment": "no_checks", "summary": NO_CHECKS})
    return verification, {
        "baseline": verification,
        "test_results": verification,
        "snapshots": {0: tree},
        "failure_history": failure_entries(verification),
    }


def _named_text(task: Task) -> str:
    """Where the goal and the ticket may name tests and checks: all they say but the risks and what is not wanted."""
    ticket = task.ticket
    said = (ticket.title, ticket.objective, *(line.text for line in ticket.done), *ticket.steps) if ticket else ()
    return "\n".join((task.goal, *said))


async def _visit(
    state: AgentState, baseline: Verification, edits: Edits, deps: Deps
) -> tuple[Verification, StateUpdate]:
    """Put back what judges, run the checks, compare with the baseline; not passed means the history grows.

    New tests are tried on the code as it was where they have to prove the goal, and where that takes no long: a person
    is told of each what it is worth.
    """
    task = state["task"]
    theirs = end_standing_in(deps)
    edits = edits.model_copy(update={"foreign": tuple(sorted({*edits.foreign, *theirs}))})
    restored = put_back(task, edits, state["snapshots"], deps)
    unheld = look_for_unheld(task, baseline, state["snapshots"], edits.visit, deps)
    tree = deps.snapshots.take()
    before = state["snapshots"][0]
    changed = tuple(path for path in deps.snapshots.changed(before, tree) if path not in baseline.wrote)
    (deps.run_dir / f"visit-{edits.visit}.patch").write_text(
        deps.snapshots.patch(before, tree), encoding="utf-8", errors="surrogateescape"
    )
    make_fresh(deps.root, [path for path in changed if path not in edits.foreign])
    results = await run_checks(task.checks, edits.visit, deps, reruns=task.limits.reruns, baseline=baseline)

    def verdict(*, proved: Sequence[str] | None = None, accepted: bool = False) -> Verification:
        return judge(
            baseline,
            results,
            visit=edits.visit,
            tree=tree,
            changed=changed,
            needs_proof=bool(task.goal or open_lines(task.ticket)),
            proved=proved,
            review_accepted=accepted,
            put_back=(*restored.put_back, *unheld.restored.put_back),
            left=(*restored.left, *unheld.restored.left),
            allow=task.allow_edits,
        )

    proved: Sequence[str] | None = None
    verification = verdict()
    quick = verification.seconds <= min(QUICK, deps.clock.left())
    if verification.new_tests and (verification.detail == "nothing_proves_the_goal" or (verification.passed and quick)):
        proved = await prove_new_tests(task, verification, before=before, tree=tree, changed=changed, deps=deps)
        verification = verdict(proved=proved)
    if verification.detail == "nothing_proves_the_goal" and deps.planner is not None:
        pending = verdict(proved=proved, accepted=True)
        if pending.passed:
            verification = pending.model_copy(update={"detail": NEEDS_REVIEW})
    judged = Judged(task, baseline, results, before, tree, changed, unheld)
    verification = compared(await confirm(verification, judged, deps), state.get("test_results", baseline))
    update: StateUpdate = {
        "test_results": verification,
        "snapshots": {edits.visit: tree},
        "failure_history": failure_entries(verification),
    }
    return verification, update | ({"edits": edits} if theirs else {})
