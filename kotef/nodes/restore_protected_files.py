"""Restoration of protected files before judging."""

import stat
from collections.abc import Collection, Iterable
from contextlib import suppress
from itertools import accumulate
from pathlib import Path

from kotef.deps import RunContext
from kotef.files import chmod_within, touch_within, write_atomic
from kotef.integrity import is_shared, put_tables_back
from kotef.nodes.edit_guard import guard_of
from kotef.state import Edits, Task
from kotef.workspace import Restored


def put_back(
    task: Task, edits: Edits, snapshots: dict[int, str], context: RunContext, test_files: Collection[str] = ()
) -> Restored:
    """Make everything that judges as it was before the run, but never what someone else changed meanwhile.

    Whole files, with what is in their way; of shared files only the judging tables, named as `FILE [table]`.
    """
    before, last = snapshots[0], snapshots[edits.visit]
    guard = guard_of(task, before, context.snapshots, test_files)
    make_accessible(context.root, guard.protected)
    touched = context.snapshots.changed(before, last)
    whole = {path for path in touched if guard.may_edit(path) is not None}
    whole.update(_in_the_way(touched, context.snapshots.paths(before), guard.protected))
    texts: dict[str, tuple[bytes, tuple[str, ...]]] = {}
    for path in touched:
        if is_shared(path) and path in context.snapshots.paths(before) and not guard.allows(path) and path not in whole:
            old, new = context.snapshots.read(before, path) or b"", context.snapshots.read(last, path)
            spliced = put_tables_back(path, old, new or b"")
            if spliced and spliced.tables and new is not None and path not in edits.foreign:
                texts[path] = (spliced.content, spliced.tables)
            elif spliced:
                whole.add(path)
    if not whole and not texts:
        return Restored((), ())
    restored = context.snapshots.restore(before, last=last, paths=whole, keep=edits.foreign)
    tables: list[str] = []
    for path, (content, names) in texts.items():
        write_atomic(context.root / path, content, root=context.root)
        tables += [f"{path} [{name}]" for name in names]
    if restored.put_back or tables:
        keep_patch(context, last, edits.visit)
    return Restored((*restored.put_back, *tables), restored.left)


def keep_patch(context: RunContext, last: str, visit: int) -> None:
    """Write what was put back to `visit-N.put-back.patch`, so that it is not lost."""
    kept = context.snapshots.patch(context.snapshots.take(), last)
    (context.run_dir / f"visit-{visit}.put-back.patch").write_text(kept, encoding="utf-8", errors="surrogateescape")


def make_fresh(root: Path, changed: Iterable[str]) -> None:
    """Touch the changed files whose modification time was set, or make would believe what was built before the change.

    A change time cannot be set; a file that is only written has the same one.
    """
    for path in changed:
        with suppress(OSError):  # gone, or someone else's
            found = (root / path).lstat()
            if stat.S_ISREG(found.st_mode) and found.st_mtime_ns != found.st_ctime_ns:
                touch_within(root, path)


def make_accessible(root: Path, protected: Iterable[str]) -> None:
    """Give ourselves back the right to read and write what judges, and to look into the directories it lies in."""
    for path in sorted({above for name in protected for above in accumulate(name.split("/"), "{}/{}".format)}):
        with suppress(OSError):  # gone, or someone else's: put-back says so
            mode = (root / path).lstat().st_mode
            needed = stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR
            if not stat.S_ISLNK(mode) and mode & needed != needed:
                chmod_within(root, path, stat.S_IMODE(mode) | needed)


def _in_the_way(touched: Iterable[str], before: frozenset[str], protected: frozenset[str]) -> Iterable[str]:
    """New paths that block a protected file: below it if it became a directory, or in place of its directory."""
    above = {place for path in protected for place in accumulate(path.split("/"), "{}/{}".format)}
    for path in touched:
        if path not in before:
            parents = accumulate(path.split("/"), "{}/{}".format)
            if path in above or any(parent in protected for parent in parents if parent != path):
                yield path
