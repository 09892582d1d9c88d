"""The coder node: one visit."""

from langgraph.runtime import Runtime

from kotef.checks.verification import Verification
from kotef.coders.base import Brief
from kotef.context.seen_files import Files
from kotef.deps import Deps, RunContext
from kotef.nodes.approval import approved
from kotef.nodes.edit_guard import guard_of
from kotef.state import AgentState, Spent, StateUpdate, Usage
from kotef.workspace import HIDDEN_FILES, forget_last_tree, note_last_tree

SHOWN_ENTRIES = 6
"""Failure entries a coder is shown, the newest."""


def _test_files(baseline: Verification | None) -> tuple[str, ...]:
    return baseline.test_files if baseline else ()


async def coder(state: AgentState, runtime: Runtime[Deps]) -> StateUpdate:
    """Give the plan to the coder and take the tree it leaves; what it says about it is only a claim."""
    deps, plan = runtime.context, state.get("plan")
    context = deps.run
    judged = state.get("test_results")
    assert plan is not None, "the only edge to here is taken with a plan"  # noqa: S101
    assert judged is not None, "the graph starts in the verifier"  # noqa: S101
    started = context.clock.elapsed()
    before = _tree_before(context, plan.visit)
    forget_last_tree(context.run_dir)
    context.snapshots.aside = context.run_dir / HIDDEN_FILES
    plan = await approved(plan, context)
    context.emit("coder_started", visit=plan.visit, coder=deps.coder.name)
    files = earlier.files if (earlier := state.get("edits")) else Files()
    brief = Brief(
        task=state["task"],
        plan=plan,
        failures=state["failure_history"].entries[-SHOWN_ENTRIES:],
        changed=context.snapshots.changed(state["snapshots"][0], before),
        judged=judged,
        tree=before,
        guard=guard_of(state["task"], state["snapshots"][0], context.snapshots, _test_files(state.get("baseline"))),
        spent=state["usage"],
        tried=state["tried"],
        visits=state["visits"],
        files=files,
    )
    work = await deps.coder.work(brief)
    after = context.snapshots.take()
    while context.snapshots.set_aside:
        name = context.snapshots.set_aside.pop()
        context.emit(
            "notice", text=f"{name} was a special file that would block git; moved to {HIDDEN_FILES}/ of the run"
        )
    note_last_tree(context.run_dir, after)
    changed = context.snapshots.changed(before, after)
    idle = "" if changed else work.edits.idle
    edits = work.edits.model_copy(update={"changed": changed, "idle": idle, "files": files.merged(work.edits.files)})
    context.emit(
        "coder_finished",
        visit=plan.visit,
        stopped_by=edits.stopped_by,
        changed=list(edits.changed),
        detail=edits.detail,
        summary=edits.summary,
        idle=edits.idle,
    )
    spent = Usage(by_call={f"{plan.visit}/coder/seconds": Spent(seconds=context.clock.elapsed() - started)})
    return {
        "edits": edits,
        "snapshots": {plan.visit: after},
        "usage": Usage(by_call=work.usage.by_call | spent.by_call),
        "tried": work.tried,
    }


def _tree_before(context: RunContext, visit: int) -> str:
    """The tree that this visit started from, also if a kill made it start twice."""
    note = context.run_dir / f"visit-{visit}.base"
    if note.exists() and (known := note.read_text(errors="replace").strip()):
        return known
    tree = context.snapshots.take()
    note.write_text(tree + "\n")
    return tree
