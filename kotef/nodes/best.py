"""Which visit's tree should an unsuccessful run leave behind?"""

from kotef.deps import Deps
from kotef.state import AgentState


def leave_baseline(state: AgentState, deps: Deps) -> None:
    """Leave the workspace as it was before the run; what the run did stays in its patches and snapshots."""
    trees, edits = state["snapshots"], state.get("edits")
    if edits is not None and edits.visit in trees:
        restored = deps.snapshots.restore(trees[0], last=trees[edits.visit], keep=edits.foreign)
        patch = f".sdd/runs/{deps.run_dir.name}/visit-{edits.visit}.patch"
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
        restored = deps.snapshots.restore(trees[best], last=trees[edits.visit], keep=edits.foreign)
        deps.emit("restored", visit=best, put_back=list(restored.put_back), left=list(restored.left))
    return best


def put_again(state: AgentState, deps: Deps) -> None:
    """Put the newest visit's tree in place of the one that `leave_best` left."""
    trees, edits = state["snapshots"], state.get("edits")
    best = _best(state, deps)
    if edits is not None and edits.visit in trees and best is not None:
        deps.snapshots.restore(trees[edits.visit], last=trees[best], keep=edits.foreign)


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
