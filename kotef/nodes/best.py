"""Which visit's tree should an unsuccessful run leave behind?"""

from pathlib import Path

from pydantic import ValidationError

from kotef.checks.verdict import Verification, rank
from kotef.deps import Deps
from kotef.state import AgentState


def leave_baseline(state: AgentState, deps: Deps) -> None:
    """Leave the workspace as it was before the run; what the run did stays in its patches and snapshots."""
    trees, edits = state["snapshots"], state.get("edits")
    if edits is not None and edits.visit in trees:
        restored = deps.snapshots.restore(trees[0], last=trees[edits.visit], keep=edits.foreign)
        deps.emit("restored", visit=0, put_back=list(restored.put_back), left=list(restored.left))


def leave_best(state: AgentState, deps: Deps) -> int:
    """Leave the workspace at its best visit: known before unknown, fewest regressions, most fixed, smallest diff.

    Returns that visit; 0 when every visit was worse than the state before the run. A file that somebody else
    changed since kotef last looked is left as it is, and named in the event.
    """
    trees = state["snapshots"]
    edits = state.get("edits")
    if edits is None or edits.visit not in trees:
        return 0
    judged = {visit: found for visit in trees if (found := _judged(deps.run_dir, visit))}
    if not judged:
        return edits.visit

    def order(visit: int) -> tuple[object, ...]:
        return (*rank(judged[visit]), sum(deps.snapshots.stat(trees[0], trees[visit])), visit)

    best = min(judged, key=order)
    if trees[best] != trees[edits.visit]:
        restored = deps.snapshots.restore(trees[best], last=trees[edits.visit], keep=edits.foreign)
        deps.emit("restored", visit=best, put_back=list(restored.put_back), left=list(restored.left))
    return best


def _judged(run_dir: Path, visit: int) -> Verification | None:
    kept = run_dir / f"visit-{visit}.json"
    try:
        return Verification.model_validate_json(kept.read_bytes())
    except (OSError, ValidationError):
        return None
