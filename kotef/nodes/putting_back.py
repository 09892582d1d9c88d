"""What is put back to the state before the run, so that the judge is the one there was?"""

from kotef.deps import Deps
from kotef.nodes.guarding import guard_of
from kotef.state import Edits, Task
from kotef.workspace.snapshots import Restored


def put_back(task: Task, edits: Edits, snapshots: dict[int, str], deps: Deps) -> Restored:
    """Make everything that judges as it was before the run, but never what somebody else changed meanwhile."""
    before, last = snapshots[0], snapshots[edits.visit]
    touched = deps.snapshots.changed(before, last)
    guard = guard_of(task, before, deps.snapshots)
    guarded_now = [path for path in touched if guard.may_edit(path) is not None]
    if not guarded_now:
        return Restored((), ())
    restored = deps.snapshots.restore(before, last=last, paths=guarded_now, keep=edits.foreign)
    if restored.put_back:  # whatever was there, and whoever wrote it, can be got back
        kept = deps.snapshots.patch(deps.snapshots.take(), last)
        name = f"visit-{edits.visit}.put-back.patch"
        (deps.run_dir / name).write_text(kept, encoding="utf-8", errors="surrogateescape")
    return restored
