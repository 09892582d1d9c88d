"""Which files of this workspace judge the run, or are forbidden to it?"""

from collections.abc import Iterator
from functools import lru_cache
from posixpath import dirname, join, normpath

from kotef.checks.behind import scripts_behind
from kotef.checks.protected import is_protected, protected_paths
from kotef.state import Task
from kotef.tools.guard import EditGuard
from kotef.workspace.snapshots import Snapshots


def guard_of(task: Task, baseline: str, snapshots: Snapshots) -> EditGuard:
    """The guard of a run: what judges it, as it stood in the tree `baseline`, and the paths KOTEF.md forbids."""
    commands = [check.command for check in task.checks]
    paths = snapshots.paths(baseline)

    @lru_cache(maxsize=256)
    def read(path: str) -> str | None:
        content = snapshots.read(baseline, path) if path in paths else None
        return None if content is None else content.decode("utf-8", "surrogateescape")

    behind = {*scripts_behind(commands, read), *_linked_tests(paths, snapshots, baseline)}
    protected = protected_paths(paths, allow=task.allow_edits, commands=commands, behind=behind)
    return EditGuard(protected=protected, forbidden=task.spec.forbidden, allowed=task.allow_edits)


def _linked_tests(paths: frozenset[str], snapshots: Snapshots, tree: str) -> Iterator[str]:
    """A link that stands where a directory of tests would, and what it leads to inside the workspace."""
    for path in paths:
        name = path.rpartition("/")[2]
        if "." not in name and is_protected(f"{path}/inside") and not is_protected(path):
            target = (snapshots.read(tree, path) or b"").decode("utf-8", "surrogateescape")
            real = normpath(join(dirname(path), target))
            below = [inside for inside in paths if inside.startswith(f"{real}/")]
            if below:
                yield path
                yield from below
