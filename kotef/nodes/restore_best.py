"""Choice of the tree that an unsuccessful run leaves behind."""

from typing import Final

from kotef.deps import RunContext
from kotef.errors import WorkspaceError
from kotef.nodes.differences import lines_of, next_replaced, note_lines
from kotef.nodes.visit_record import edited
from kotef.sdd.follow_up import AMBIGUOUS
from kotef.state import AgentState, Edits
from kotef.workspace import Restored, RestoreReport, activity_of, read_last_tree, restore_remainder

_NAMED: Final = 50


def leave_baseline(state: AgentState, context: RunContext) -> None:
    """Restore the workspace to its state before the run; the edits stay in patches and snapshots."""
    trees, edits = state["snapshots"], state.get("edits")
    if edits is not None and edits.visit in trees:
        restored = _restore(trees[0], state, edits, context)
        patch = f"{context.shown}/visit-{edits.visit}.patch"
        put_back, left, differs = list(restored.put_back), list(restored.left), _undo_rest(restored, state, context)
        context.emit("withheld", visit=edits.visit, patch=patch, put_back=put_back, left=left, differs=differs)


def leave_best(state: AgentState, context: RunContext) -> int:
    """Leave the workspace at its best visit: known before unknown, fewest regressions, most fixed, smallest diff.

    Returns that visit; 0 when every visit was worse than the state before the run. A file that someone else
    changed since kotef last looked is left as it is, and named in the event.
    """
    trees, edits = state["snapshots"], state.get("edits")
    if edits is None or edits.visit not in trees:
        return 0
    best = _best(state, context)
    if best is None:
        return edits.visit
    same = trees[best] == trees[edits.visit]
    restored = Restored((), ()) if same else _restore(trees[best], state, edits, context)
    differs = _undo_rest(restored, state, context) if best == 0 else []
    if not same or differs:
        put_back, left = list(restored.put_back), list(restored.left)
        context.emit("restored", visit=best, put_back=put_back, left=left, differs=differs)
    return best


def is_undone(state: AgentState, context: RunContext) -> bool:
    """Whether `leave_baseline`, or `leave_best` at visit 0, put the workspace back to the state before the run."""
    edits = state.get("edits")
    if edits is None or edits.visit not in state["snapshots"]:
        return False
    if state.get("outcome") in {None, "verified", "unverified"}:
        return False
    return state.get("reason") == AMBIGUOUS or _best(state, context) == 0


def put_again(state: AgentState, context: RunContext) -> None:
    """Restore the newest visit's tree in place of the one that `leave_best` left."""
    trees, edits = state["snapshots"], state.get("edits")
    best = _best(state, context)
    if edits is not None and edits.visit in trees and best is not None:
        modes = context.snapshots.modes(trees[0])
        context.snapshots.restore(trees[edits.visit], last=trees[best], keep=edits.foreign, modes=modes)


def _undo_rest(restored: Restored, state: AgentState, context: RunContext) -> list[str]:
    """Undo changes outside trees, compare the whole workspace, and name what differs from before the run."""
    before, edits = state["snapshots"][0], state.get("edits")
    replaced = next_replaced(context.run_dir)
    try:
        report = restore_remainder(
            context.snapshots, before, activity_of(context.run_dir), replaced, whole=True, touched=restored.put_back
        )
        now = context.snapshots.take()
    except WorkspaceError as error:
        lines = [f"the workspace could not be compared with the state before the run: {error}"]
        report, now = RestoreReport(), ""
    else:
        lines = list(lines_of(report, context.snapshots, before, replaced=replaced))
    known = {*restored.left, *(edits.foreign if edits else ())}
    others = [path for path in context.snapshots.changed(before, now) if path not in known] if now else []
    if others:
        lines.append(f"different from before the run; the checks or someone else changed it: {', '.join(others[:10])}")
    for text in lines:
        context.emit("notice", text=text)
    note_lines(context.run_dir, lines)
    differs = [*others, *report.unknown, *report.gone, *(each.path for each in report.differences)]
    return (differs if now else ["."])[:_NAMED]


def _restore(target: str, state: AgentState, edits: Edits, context: RunContext) -> Restored:
    """Make the workspace as in `target`, what the checks write included; what someone else changed since is left.

    While the last tree was judged, checks may have written: their own files, or, as a formatter does, the coder's.
    Those are compared with the tree seen after that, and what was written then is kept as a patch.
    """
    judged = state["snapshots"][edits.visit]
    modes = context.snapshots.modes(state["snapshots"][0])
    restored = context.snapshots.restore(target, last=judged, keep=edits.foreign, modes=modes)
    baseline = state.get("baseline")
    theirs = (
        edited(state).union(baseline.wrote if baseline else ()).intersection(restored.left).difference(edits.foreign)
    )
    if not theirs or not (last := read_last_tree(context.run_dir)):
        return restored
    again = context.snapshots.restore(target, last=last, paths=theirs, modes=modes)
    if again.put_back:
        patch = context.snapshots.patch(judged, last)
        place = context.run_dir / f"visit-{edits.visit}.written-by-checks.patch"
        place.write_text(patch, encoding="utf-8", errors="surrogateescape")
    left = (*again.left, *(path for path in restored.left if path not in theirs))
    return Restored(tuple(sorted((*restored.put_back, *again.put_back))), tuple(sorted(left)))


def _best(state: AgentState, context: RunContext) -> int | None:
    """The first by rank; among equals the smallest diff, then the earliest. None when no attempt was judged.

    The state before the run is its own measure: nothing in it is broken, fixed or unknown.
    """
    trees, visits = state["snapshots"], state["visits"]
    attempts = [visit for visit in visits if visit and visit in trees]
    if not attempts:
        return None
    start = (True, False, 0, 0)

    def order(visit: int) -> tuple[object, ...]:
        rank = visits[visit].rank if visit else start
        return (*rank, sum(context.snapshots.stat(trees[0], trees[visit])), visit)

    return min((0, *attempts), key=order)
