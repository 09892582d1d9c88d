"""Which files of this workspace judge the run, or are forbidden to it?"""

from kotef.checks.protected import protected_paths
from kotef.state import Task
from kotef.tools.guard import EditGuard
from kotef.workspace.snapshots import Snapshots


def guard_of(task: Task, baseline: str, snapshots: Snapshots) -> EditGuard:
    """The guard of a run: what judges it, as it stood in the tree `baseline`, and the paths KOTEF.md forbids."""
    commands = [check.command for check in task.checks]
    protected = protected_paths(snapshots.paths(baseline), allow=task.allow_edits, commands=commands)
    return EditGuard(protected=protected, forbidden=task.spec.forbidden)
