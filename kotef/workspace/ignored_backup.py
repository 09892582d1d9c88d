"""Copies of ignored files, made before the first edit, because no snapshot contains them."""

import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from kotef.files import copy_in, copy_out, facts_within, os_fault
from kotef.workspace.snapshot_scope import REBUILT_FOLDERS

BACKUP_LIMIT: Final = 100 * 1024 * 1024
"""Bytes of all copies together."""

_TREES_KEPT: Final = 5

_MOST_FILES: Final = 10_000
"""Files looked at; directories beyond are left out as a whole."""


def copy_ignored(
    root: Path, ignored: Iterable[str], kept: Path, *, cap: int, links: bool = False
) -> tuple[list[str], list[str]]:
    """Copy files (and those in directories, which end in a slash) to `kept`, small ones first, up to `cap` bytes.

    Returns what was copied and what was left out, sorted. Links are copied as links, or, without `links`, not at all.
    Raises `WorkspaceError`.
    """
    left_out: list[str] = []
    sizes: dict[str, int] = {}
    for path in _files(root, sorted(ignored), left_out):
        try:
            found = (root / path).lstat()
        except FileNotFoundError:
            continue
        if stat.S_ISREG(found.st_mode) or (links and stat.S_ISLNK(found.st_mode)):
            sizes[path] = found.st_size
    copied: list[str] = []
    room = cap
    for path in sorted(sizes, key=lambda path: (sizes[path], path)):
        make_private(kept, Path(path).parent)
        if sizes[path] <= room and _copied(root, path, kept / path):
            room -= sizes[path]
            copied.append(path)
        else:
            left_out.append(path)
    return sorted(copied), sorted(left_out)


def _files(root: Path, ignored: Iterable[str], left_out: list[str]) -> Iterator[str]:
    """Single paths; directories that are rebuilt (by name, or marked as cache or environment) are passed over."""
    seen = 0
    for path in ignored:
        if not path.endswith("/"):
            seen += 1
            yield path
            continue
        for directory, names, files in os.walk(root / path):
            here = Path(directory)
            if (here / "CACHEDIR.TAG").exists() or (here / "pyvenv.cfg").exists() or (here / ".git").exists():
                names.clear()
                continue
            if here == root / ".sdd":
                names[:] = [name for name in names if name != "runs"]  # kotef's own
            names[:] = sorted(set(names) - REBUILT_FOLDERS)
            linked = [name for name in names if (here / name).is_symlink()]
            if seen + len(files) > _MOST_FILES:
                left_out.append(f"{here.relative_to(root)}/")
                names.clear()
                continue
            seen += len(files)
            yield from (str((here / name).relative_to(root)) for name in (*files, *linked))


def restore_ignored(
    root: Path, kept: Path, copied: Iterable[str], left_out: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Copy back the copied files that are gone; returns them, and those gone that had been left out.

    Nothing is written where a directory of the path is a link or a file now.
    """
    back = [path for path in copied if facts_within(root, path) is None and _brought(kept / path, root, path)]
    lost = [path for path in left_out if facts_within(root, path) is None]
    return tuple(back), tuple(lost)


def make_private(top: Path, below: Path = Path()) -> None:
    """Make a folder and its subfolders with mode 0700: the copies inside keep their own modes, to restore them."""
    top.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for folder in (top.parent, top, *(top / Path(*below.parts[: depth + 1]) for depth in range(len(below.parts)))):
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)


def ignored_files(root: Path, ignored: Iterable[str], *, most: int) -> Iterator[str]:
    """Single files among the ignored paths, at most `most`; those of dependencies and caches are skipped."""
    return islice(_files(root, sorted(ignored), []), most)


def modes_of(kept: Path, tree: str) -> dict[str, int]:
    """Path → permission bits that were kept with a tree; empty if none were."""
    try:
        modes = json.loads((kept / f"{tree}.json").read_bytes())["details"]["modes"]
        return {str(path): int(mode) for path, mode in modes.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def drop_oldest(kept: Path) -> None:
    """Delete all but the newest copies: they are a net under the runs of these days, not an archive."""
    records = sorted(kept.glob("*.json"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for record in records[_TREES_KEPT:]:
        for copies in (record.with_suffix(""), record.with_suffix(".git")):
            shutil.rmtree(copies, ignore_errors=True)
        record.unlink()


def _copied(root: Path, path: str, target: Path) -> bool:
    """Copy one file with its mode; False when it cannot be read."""
    try:
        copy_out(root, path, target)
    except (FileNotFoundError, PermissionError, NotADirectoryError):
        target.unlink(missing_ok=True)
        return False
    except OSError as error:
        raise os_fault(target, error) from error
    return True


def _brought(copy: Path, root: Path, path: str) -> bool:
    """Copy one file back; False if there is no copy, or a link or a file is in the way."""
    try:
        copy_in(copy, root, path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise os_fault(root / path, error) from error
    return True
