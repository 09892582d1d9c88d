"""Files outside every snapshot that a check may believe, and those that the run added."""

import json
import os
import stat
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from kotef.files import facts_of, touch_within
from kotef.workspace.installed_environments import InstalledEnvironments
from kotef.workspace.snapshot_scope import LARGEST_FILE, REBUILT_FOLDERS
from kotef.workspace.snapshots import Snapshots

IMPORTED_SUFFIXES: Final = (".py", ".pyc", ".so", ".pyd")
"""What Python imports. What other languages import from ignored files (`dist/`) is built by their checks."""

_RECORDS: Final = ".sdd/runs"
_COARSE: Final = 5
"""CLOCK_REALTIME_COARSE of linux/time.h: the clock that file systems use; it lags behind the usual one."""
_LAG: Final = 0.1
"""Seconds by which file times may lag behind the clock on other systems."""
_MOST: Final = 2000
"""Files whose contents are remembered; of more, only what judges."""
_CACHE: Final = "__pycache__"
_ABOVE: Final = ("conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml")
_CUSTOMIZE: Final = ".local/lib/python*/site-packages/*customize.py"

Judges = Callable[[str], bool]
"""Whether a path of the workspace belongs to what judges."""


class UntrackedFiles(BaseModel):
    """Files outside snapshots when the baseline was judged. Kept in the store, its id with the verification."""

    model_config = ConfigDict(frozen=True)

    since: float
    """Change time of a file written just then, in seconds: of the clock of this file system, which a run cannot set."""
    files: dict[str, str]
    """Python code, and what judges: path → blob id; empty for a file whose content is not kept."""
    judging: frozenset[str]
    """Those of `files` that judge."""
    outside: dict[str, str]
    """Judging files behind a link out of the workspace: path → blob id."""
    installed: frozenset[str]
    """Environments, dependencies and caches, which are believed as the interpreter is, and not read."""
    repositories: frozenset[str]
    """Directories that were repositories of their own."""
    awaited: frozenset[str]
    """Names or globs of files that the checks read if they exist."""
    complete: bool = True
    """Whether `files` is all there was."""
    environments: InstalledEnvironments = InstalledEnvironments()
    """The environments among `installed`, and their state."""


class UntrackedChanges(BaseModel):
    """Files that were added or changed since the baseline."""

    model_config = ConfigDict(frozen=True)

    compiled: tuple[str, ...]
    """Bytecode in caches."""
    new: tuple[str, ...]
    """Python code and what judges, new or changed."""
    gone: tuple[str, ...]
    """Deleted files that judged."""
    outside: tuple[str, ...]
    """Changed files outside the workspace that judge."""


def remember_untracked(
    snapshots: Snapshots,
    tree: str,
    *,
    judges: Judges,
    linked: Collection[str] = (),
    awaited: Collection[str] = (),
    environments: InstalledEnvironments | None = None,
) -> str:
    """Keep what no snapshot holds, as it is now; returns the id under which `read_untracked` finds it.

    `linked` are paths of links behind which tests lie.
    """
    since = change_time(snapshots.root)
    root, held = snapshots.root, snapshots.paths(tree)
    installed, repositories = _landmarks(root, held)
    found = (path for path, is_link in _files(snapshots, held, installed) if not is_link)
    paths = [
        path for path in found if f"/{_CACHE}/" not in f"/{path}" and (path.endswith(IMPORTED_SUFFIXES) or judges(path))
    ]
    judging = frozenset(filter(judges, paths))
    known = paths if len(paths) <= _MOST else sorted(judging)[:_MOST]
    plain = [path for path in known if _is_plain(root / path)]
    outside = [path for link in linked for path in _behind(root, link)]
    record = UntrackedFiles(
        since=since,
        files=dict.fromkeys(known, "") | snapshots.keep_files(plain),
        judging=judging,
        outside=snapshots.keep_files(outside),
        installed=installed,
        repositories=repositories,
        awaited=frozenset(awaited),
        complete=len(paths) <= _MOST,
        environments=environments or InstalledEnvironments(),
    )
    return snapshots.keep(
        json.dumps(record.model_dump(), default=list).encode()
    )  # in ASCII, so that every file name comes back


def change_time(root: Path) -> float:
    """The time of the workspace's file system, which a run cannot set; of the local clock if that fails.

    Touches the folder of the records, because on a network file system the server's clock counts.
    """
    with suppress(OSError):
        touch_within(root, _RECORDS)
        return (root / _RECORDS).lstat().st_ctime
    return time.clock_gettime(_COARSE) if sys.platform == "linux" else time.time() - _LAG


def read_untracked(snapshots: Snapshots, name: str) -> UntrackedFiles | None:
    """The files that `remember_untracked` kept; None if the store lost them."""
    content = snapshots.blob(name) if name else None
    try:
        return UntrackedFiles.model_validate(json.loads(content)) if content is not None else None
    except ValueError:
        return None


def scan_untracked(snapshots: Snapshots, tree: str, known: UntrackedFiles, *, judges: Judges) -> UntrackedChanges:
    """Files added, changed or deleted since; a file with an older change time is unchanged and not read."""
    root = snapshots.root
    compiled: list[str] = []
    fresh: list[str] = []
    seen: set[str] = set()
    for path, is_link in _files(snapshots, snapshots.paths(tree), known.installed):
        is_code = path.endswith(IMPORTED_SUFFIXES)
        if path in known.judging:
            seen.add(path)
        elif not is_code and not is_link and not judges(path):
            continue
        found = facts_of(root / path)
        if found is None or found.st_ctime < known.since:
            continue
        if f"/{_CACHE}/" in f"/{path}":
            compiled += [path] if is_code else []
        elif stat.S_ISREG(found.st_mode) or _leads_to_code(root / path):
            fresh.append(path)
    plain = [path for path in fresh if known.files.get(path) and _is_plain(root / path)]
    same = {path for path, blob in snapshots.keep_files(plain).items() if known.files[path] == blob}
    outside = snapshots.keep_files([path for path in known.outside if (root / path).is_file()])
    return UntrackedChanges(
        compiled=tuple(compiled),
        new=tuple(sorted(set(fresh) - same)),
        gone=tuple(sorted(known.judging - seen)),
        outside=tuple(path for path, blob in known.outside.items() if outside.get(path) != blob),
    )


def steering_from_outside(root: Path, environment: Mapping[str, str], since: float) -> Iterator[str]:
    """Files above the workspace and in the user's packages that steer runners, and that changed since."""
    places = [parent / name for parent in root.parents for name in _ABOVE]
    if home := environment.get("HOME"):
        places += Path(home).glob(_CUSTOMIZE)
    for place in places:
        found = facts_of(place)
        if found is not None and found.st_ctime >= since:
            yield str(place)


def _files(snapshots: Snapshots, held: Collection[str], installed: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Files outside snapshots, and links to directories (True); of environments only the top level."""
    root, own = snapshots.root, (".sdd/runs", _relative(snapshots.store.parent, snapshots.root))
    for directory, names, files in os.walk(root):
        here = _relative(Path(directory), root)
        below = f"{here}/" if here else ""
        if here in own:
            names.clear()
            continue
        yield from ((path, False) for name in files if (path := f"{below}{name}") not in held)
        links = [name for name in names if os.path.islink(os.path.join(directory, name))]  # noqa: PTH114, PTH118 - quick
        yield from ((path, True) for name in links if (path := f"{below}{name}") not in held)
        if here in installed:
            names.clear()
        else:
            names[:] = [name for name in names if name != ".git"]


def _landmarks(root: Path, held: Collection[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Directories of what is installed, and repositories inside the workspace."""
    installed, repositories = set(), set()
    for directory, names, files in os.walk(root):
        here = _relative(Path(directory), root)
        if here and ".git" in (*names, *files):
            repositories.add(here)
        is_known = Path(directory).name in REBUILT_FOLDERS - {_CACHE} or "pyvenv.cfg" in files
        if here and is_known and not any(path.startswith(f"{here}/") for path in held):
            installed.add(here)
            names.clear()
        names[:] = [name for name in names if name not in {".git", _CACHE}]
    return frozenset(installed), frozenset(repositories)


def _relative(path: Path, root: Path) -> str:
    text, base = os.fspath(path), os.fspath(root)
    if text == base:
        return ""
    return text.removeprefix(f"{base}/")


def _behind(root: Path, link: str) -> Iterator[str]:
    """Files behind a link that leads out of the workspace, by their paths through it."""
    if not Path(os.path.realpath(root / link)).is_relative_to(root):
        for directory, names, files in os.walk(root / link):
            names[:] = [name for name in names if name not in REBUILT_FOLDERS]
            paths = [Path(directory, name) for name in files]
            yield from (_relative(path, root) for path in paths[:_MOST] if _is_plain(path))


def _leads_to_code(path: Path) -> bool:
    """Whether a link leads to something that Python would import."""
    if not path.is_symlink() or not path.is_dir():
        return path.is_symlink() and path.suffix in IMPORTED_SUFFIXES
    try:
        return any(inside.name.endswith(IMPORTED_SUFFIXES) for inside in path.iterdir())
    except OSError:
        return False


def _is_plain(path: Path) -> bool:
    found = facts_of(path)
    readable = found is not None and stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_FILE
    return readable and os.access(path, os.R_OK) and "\n" not in str(path)
