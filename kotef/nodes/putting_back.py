"""What is put back to the state before the run, so that the judge is the one there was?"""

import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Final

from kotef.checks.protected import is_configuration, is_shared
from kotef.checks.steering import configures
from kotef.checks.tables import put_tables_back
from kotef.deps import Deps
from kotef.nodes.guarding import guard_of
from kotef.state import Edits, Task
from kotef.tools.guard import EditGuard
from kotef.workspace.listing import REBUILT
from kotef.workspace.paths import write_atomic
from kotef.workspace.snapshots import Restored

BASELINE: Final = "visit-0.json"
"""In the run directory, written when the baseline was judged: what is newer came with the run."""

HIDDEN: Final = "hidden"
"""Directory of the run for files that steer the judge and that no snapshot could hold."""


def put_back(task: Task, edits: Edits, snapshots: dict[int, str], deps: Deps) -> Restored:
    """Make everything that judges as it was before the run, but never what somebody else changed meanwhile.

    Whole files, with what stands in their way; of shared files only the judging tables, named as `FILE [table]`.
    """
    before, last = snapshots[0], snapshots[edits.visit]
    guard = guard_of(task, before, deps.snapshots)
    make_accessible(deps.root, guard.protected)
    forget_bytecode(deps)
    hidden = put_hidden_away(deps, last, guard)
    touched = deps.snapshots.changed(before, last)
    whole = {path for path in touched if guard.may_edit(path) is not None}
    whole.update(_in_the_way(touched, deps.snapshots.paths(before), guard.protected))
    texts: dict[str, tuple[bytes, tuple[str, ...]]] = {}
    for path in touched:
        if is_shared(path) and path in deps.snapshots.paths(before) and not guard.allows(path) and path not in whole:
            old, new = deps.snapshots.read(before, path) or b"", deps.snapshots.read(last, path)
            spliced = put_tables_back(path, old, new or b"")
            if spliced and spliced.tables and new is not None and path not in edits.foreign:
                texts[path] = (spliced.content, spliced.tables)
            elif spliced:
                whole.add(path)
    if not whole and not texts:
        return Restored(hidden, ())
    restored = deps.snapshots.restore(before, last=last, paths=whole, keep=edits.foreign)
    tables: list[str] = []
    for path, (content, names) in texts.items():
        write_atomic(deps.root / path, content, root=deps.root)
        tables += [f"{path} [{name}]" for name in names]
    if restored.put_back or tables:
        keep_patch(deps, last, edits.visit)
    return Restored((*restored.put_back, *tables, *hidden), restored.left)


def keep_patch(deps: Deps, last: str, visit: int) -> None:
    """Write what was put back, whoever wrote it, to `visit-N.put-back.patch`, so that it can be got back."""
    kept = deps.snapshots.patch(deps.snapshots.take(), last)
    (deps.run_dir / f"visit-{visit}.put-back.patch").write_text(kept, encoding="utf-8", errors="surrogateescape")


def make_accessible(root: Path, protected: Iterable[str]) -> None:
    """Give ourselves back the right to read and write what judges, and to look into the directories it lies in."""
    for path in sorted({above for name in protected for above in accumulate(name.split("/"), "{}/{}".format)}):
        with suppress(OSError):  # gone, or somebody else's: put-back says so
            mode = (root / path).lstat().st_mode
            needed = stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR
            if not stat.S_ISLNK(mode) and mode & needed != needed:
                (root / path).chmod(stat.S_IMODE(mode) | needed)


def forget_bytecode(deps: Deps) -> None:
    """Remove compiled modules that are newer than the baseline: Python would believe them rather than the source.

    kotef's own commands write none (PYTHONDONTWRITEBYTECODE); the change time of a file cannot be set back.
    """
    with suppress(FileNotFoundError):
        since = (deps.run_dir / BASELINE).stat().st_mtime
        for directory in _caches(deps.root):
            for compiled in directory.glob("*.pyc"):
                if compiled.lstat().st_ctime >= since:
                    compiled.unlink()


def _caches(root: Path) -> Iterable[Path]:
    for directory, names, _ in os.walk(root):
        if "__pycache__" in names:
            yield Path(directory, "__pycache__")
        names[:] = [name for name in names if name not in REBUILT and name != ".git"]


def put_hidden_away(deps: Deps, tree: str, guard: EditGuard) -> tuple[str, ...]:
    """Move files that configure a runner, are newer than the baseline and in no snapshot to the run directory.

    Something like `conftest.py` in `.gitignore` hides them; nothing else would keep them from judging.
    """
    note, held = deps.run_dir / BASELINE, deps.snapshots.paths(tree)
    moved: list[str] = []
    for directory, names, files in os.walk(deps.root) if note.exists() else ():
        names[:] = [name for name in names if name not in REBUILT and name not in {".git", ".sdd"}]
        if "pyvenv.cfg" in files:
            names.clear()
            continue
        for path in (Path(directory, name).relative_to(deps.root).as_posix() for name in files):
            if path in held or not is_configuration(path) or guard.may_edit(path) or guard.allows(path):
                continue
            found = (deps.root / path).lstat()
            if found.st_ctime >= note.stat().st_mtime and stat.S_ISREG(found.st_mode) and _configures(deps.root, path):
                place = deps.run_dir / HIDDEN / path
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(deps.root / path, place)
                moved.append(f"{path} (hidden by .gitignore; moved to {HIDDEN}/ of the run)")
    return tuple(moved)


def _configures(root: Path, path: str) -> bool:
    try:
        return configures(path, (root / path).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return True


def _in_the_way(touched: Iterable[str], before: frozenset[str], protected: frozenset[str]) -> Iterable[str]:
    """New paths below a protected file that became a directory, or where the directory of protected files was."""
    above = {place for path in protected for place in accumulate(path.split("/"), "{}/{}".format)}
    for path in touched:
        if path not in before:
            parents = accumulate(path.split("/"), "{}/{}".format)
            if path in above or any(parent in protected for parent in parents if parent != path):
                yield path
