"""Which visit's tree should an unsuccessful run leave behind?"""

from kotef.deps import Deps
from kotef.nodes.visits import edited
from kotef.state import AgentState, Edits
from kotef.workspace.seen import seen
from kotef.workspace.snapshots import Restored


def leave_baseline(state: AgentState, deps: Deps) -> None:
    """Leave the workspace as it was before the run; what the run did stays in its patches and snapshots."""
    trees, edits = state["snapshots"], state.get("edits")
    if edits is not None and edits.visit in trees:
        restored = _restore(trees[0], state, edits, deps)
        patch = f"{deps.shown}/visit-{edits.visit}.patch"
        put_back, left = list(restored.put_back), list(restored.left)
        deps.emit("withheld", visit=edits.visit, patch=patch, put_back=put_back, left=left)


def leave_best(state: AgentState, deps: Deps) -> int:
    """Leave the workspace at its best visit: known before unknown, fewest regressions, most fixed, smallest diff.

    Returns that visit; 0 when every visit was worse than the state before the run. A file that somebody else
    changed since kotef last looked is left as it is, and named in the event.
    """
    trees, edits = state["snapshots"], state.get("edits")
    if edits is None or edits.visit not in trees:
        return 0
    best = _best(state, deps)
    if best is None:
        return edits.visit
    if trees[best] != trees[edits.visit]:
        restored = _restore(trees[best], state, edits, deps)
        deps.emit("restored", visit=best, put_back=list(restored.put_back), left=list(restored.left))
    return best


def put_again(state: AgentState, deps: Deps) -> None:
    """Put the newest visit's tree in place of the one that `leave_best` left."""
    trees, edits = state["snapshots"], state.get("edits")
    best = _best(state, deps)
    if edits is not None and edits.visit in trees and best is not None:
        deps.snapshots.restore(trees[edits.visit], last=trees[best], keep=edits.foreign)


def _restore(target: str, state: AgentState, edits: Edits, deps: Deps) -> Restored:
    """Make the workspace as in `target`, what the checks write included; what somebody else changed since is left.

    While the last tree was judged, checks may have written: their own files, or, as a formatter does, the coder's.
    Those are compared with the tree seen after that, and what was written then is kept as a patch.
    """
    judged = state["snapshots"][edits.visit]
    restored = deps.snapshots.restore(target, last=judged, keep=edits.foreign)
    baseline = state.get("baseline")
    theirs = (
        edited(state).union(baseline.wrote if baseline else ()).intersection(restored.left).difference(edits.foreign)
    )
    if not theirs or not (last := seen(deps.run_dir)):
        return restored
    again = deps.snapshots.restore(target, last=last, paths=theirs)
    if again.put_back:
        patch = deps.snapshots.patch(judged, last)
        place = deps.run_dir / f"visit-{edits.visit}.written-by-checks.patch"
        place.write_text(patch, encoding="utf-8", errors="surrogateescape")
    left = (*again.left, *(path for path in restored.left if path not in theirs))
    return Restored(tuple(sorted((*restored.put_back, *again.put_back))), tuple(sorted(left)))


def _best(state: AgentState, deps: Deps) -> int | None:
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
        return (*rank, sum(deps.snapshots.stat(trees[0], trees[visit])), visit)

    return min((0, *attempts), key=order)
