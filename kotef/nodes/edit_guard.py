"""Files of this workspace that judge the run or that it must not edit."""

from collections.abc import Collection, Iterator
from functools import lru_cache
from posixpath import dirname, join, normpath
from typing import Final

from kotef.files import matches_globs
from kotef.integrity import helpers_beside_tests, is_protected, protected_paths
from kotef.shell import judging_files, names_behind
from kotef.state import Task
from kotef.tools.guard import EditGuard
from kotef.workspace import Snapshots, environment_around

_CODE: Final = (
    *(".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go", ".rs", ".rb", ".php", ".java", ".kt"),
    *(
        ".c",
        ".h",
        ".cc",
        ".cpp",
        ".hpp",
        ".cs",
        ".swift",
        ".scala",
        ".pl",
        ".lua",
        ".ex",
        ".exs",
        ".dart",
        ".sh",
        ".bash",
    ),
)


def guard_of(task: Task, baseline: str, snapshots: Snapshots, test_files: Collection[str]) -> EditGuard:
    """The guard of a run: what judges it, as it stood in the tree `baseline`, and the paths KOTEF.md forbids.

    `test_files` are those of the baseline's verification, which names alone do not say.
    """
    commands = [check.command for check in task.checks]
    paths = snapshots.paths(baseline)

    @lru_cache(maxsize=256)
    def read(path: str) -> str | None:
        content = snapshots.read(baseline, path) if path in paths else None
        return None if content is None else content.decode("utf-8", "surrogateescape")

    found, awaited = names_behind(commands, read)
    globs = [name for name in awaited if "*" in name]
    included = (path for path in paths if matches_globs(path, globs)) if globs else ()
    ticket_files = task.ticket.files if task.ticket else ()  # a spec of another tool, whose boxes only code ticks
    linked = _linked_tests(paths, snapshots, baseline)
    behind = {*found, *included, *linked, *helpers_beside_tests(paths), *ticket_files, *test_files}
    protected = protected_paths(paths, allow=task.allow_edits, commands=commands, behind=behind)
    return EditGuard(
        protected=protected,
        forbidden=task.spec.forbidden,
        environment=lambda path: environment_around(snapshots.root, path, paths),
        allowed=task.allow_edits,
    )


def all_is_protected(task: Task, baseline: str, snapshots: Snapshots, test_files: Collection[str]) -> str:
    """A message if the checks run or source all code, with how to open some of it; else empty."""
    protected = guard_of(task, baseline, snapshots, test_files).protected
    named = {path for check in task.checks for path in judging_files(check.command)}
    paths = [path for path in snapshots.paths(baseline) if path.endswith(_CODE)]
    code = sorted(path for path in paths if not is_protected(path) and path not in named)
    if not code or not protected.issuperset(code):
        return ""
    some = ", ".join(code[:5]) + (", …" if code[5:] else "")
    return (
        f"the checks run or source all code that could be changed, so it judges and is put back: "
        f"{some}; if a file is product code, open it, for example with `--allow-edits {code[0]}`"
    )


def _linked_tests(paths: frozenset[str], snapshots: Snapshots, tree: str) -> Iterator[str]:
    """A link in place of a test directory, and its target inside the workspace."""
    for path in paths:
        name = path.rpartition("/")[2]
        if "." not in name and is_protected(f"{path}/inside") and not is_protected(path):
            target = (snapshots.read(tree, path) or b"").decode("utf-8", "surrogateescape")
            real = normpath(join(dirname(path), target))
            below = [inside for inside in paths if inside.startswith(f"{real}/")]
            if below:
                yield path
                yield from below
