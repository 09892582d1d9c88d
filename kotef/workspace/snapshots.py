"""Snapshots: the workspace as trees in kotef's own store, and their restoration."""

import hashlib
import math
import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from kotef.errors import NoSpaceError, WorkspaceError
from kotef.files import move_out, os_fault, state_dir
from kotef.git import OF_THE_TREE, git_error
from kotef.workspace.file_entry import DIRECTORY, UNKNOWN, FileEntry, content_at, delete_entry, entry_at, write_entry
from kotef.workspace.file_metadata import opened
from kotef.workspace.ignored_backup import modes_of
from kotef.workspace.loose_objects import UnreadableObjectError
from kotef.workspace.nested_repositories import Repositories, repositories
from kotef.workspace.snapshot_scope import LARGEST_FILE, FileMark, Listing, split_names
from kotef.workspace.tree_store import TreeStore, make_store

_MOST_SPECIAL: Final = 20
"""Special files that one `take` moves away at most."""
_AT_ONCE: Final = 32
"""Files read from the store at a time; each is at most `LARGEST` bytes."""
_READ_HERE: Final = 100
"""Files that `take` reads itself; if more are new or changed, git reads them."""
_BYTES_HERE: Final = 4 * 1024 * 1024
"""Bytes of such files."""
_PACKED: Final = 200
"""Files whose contents git writes into one pack, if more are new or changed: each object alone takes a block."""
_AS_PACK: Final = {"core.bigFileThreshold": "1"}
""""Big" files, here all but empty ones, go into a pack as they are read."""
_CLOCK_LAG: Final = 0.05
"""Seconds by which the times of files may lag behind `time.time()`."""
_LONGEST_LOOK: Final = 10.0
"""Seconds that a look of an earlier process is assumed to have taken."""


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of a restore; paths are relative to the workspace and sorted."""

    put_back: tuple[str, ...]
    """Written or deleted. Paths that were as wanted already are in neither."""
    left: tuple[str, ...]
    """Not as wanted and left so: someone else changed them, or they cannot be written."""


class Snapshots(TreeStore):
    """Trees of the workspace: taken of what is there, and put in place again.

    The user's `.git` is only read. One writer at a time: the caller holds `workspace_lock`.
    """

    def __init__(self, root: Path, store: Path, index: str = "index") -> None:
        """`index` is the name of a file in the store: what each of its workspaces held last."""
        super().__init__(root, store, index)
        self.left_out: tuple[str, ...] = ()
        """What the last `take` could not hold: repositories inside, files above 5 MB, unreadable or special files."""
        self.size = 0
        """Bytes of the files it held and of those it left out."""
        self.aside: Path | None = None
        """Folder for special files that block git; None: such a file is the user's, and `take` fails."""
        self.set_aside: list[str] = []
        """Special files that were moved to `aside`."""
        self.told: Callable[[str], None] | None = None
        """Called with each tree that is taken."""
        self._listing = Listing(root, store)
        self._looked: float | None = None
        """When the last look of this process began, in seconds since the epoch."""
        self._indexed: frozenset[str] | None = None
        """The paths in the private index; None: not known."""
        self._index_looked: float | None = None
        """When the look began that the private index was last updated from."""
        self._last: tuple[str, Mapping[str, FileMark]] | None = None
        """The tree of the last `take`, and the marks of its files; None: not known."""
        self._modes = lru_cache(maxsize=2)(lambda tree: modes_of(store.parent / "kept", tree))
        self._repositories: Repositories | None = None
        self._inside: dict[str, Snapshots] = {}

    @classmethod
    def open(cls, root: Path) -> "Snapshots":
        """The snapshots of a workspace; the store is made at the first time. Raises `WorkspaceError`."""
        root = Path(os.path.realpath(root))
        store = state_dir(root) / "store.git"
        try:
            if not store.is_dir():
                make_store(store)
            (store / "index.lock").unlink(missing_ok=True)  # of a run that was killed: we hold the workspace now
        except OSError as error:
            raise os_fault(store, error) from error
        return cls(root, store)

    def sweep(self) -> None:
        """Delete what a killed run has left of files it was about to put in place."""
        with suppress(WorkspaceError):  # a workspace that cannot be listed is the next snapshot's to tell
            for path in self._listing.unfinished():
                with suppress(OSError):  # it is litter, and stays where it cannot be deleted
                    (self.root / path).unlink()

    def take(self) -> str:
        """Keep the tracked files and the untracked ones that are not ignored, as they are now; returns the tree id.

        Equal trees mean equal files: names, bytes, links and execute bits. Raises `NoSpaceError`, `WorkspaceError`.
        """
        for _ in range(_MOST_SPECIAL):
            try:
                return self._take()
            except WorkspaceError as error:
                if not self._set_aside(error):
                    raise
        return self._take()

    def _set_aside(self, error: WorkspaceError) -> bool:
        """Move away the file of this error, if it is a special file that would block git; returns whether it did."""
        path = Path(error.path)
        if self.aside is None or path.name not in OF_THE_TREE or not path.is_relative_to(self.root):
            return False
        name = path.relative_to(self.root).as_posix()
        try:
            kind = path.lstat().st_mode
            if stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISLNK(kind):
                return False
            move_out(self.root, name, self.aside / name)
        except OSError:
            return False
        self.set_aside.append(name)
        return True

    def _take(self) -> str:
        began, held = time.time(), self._look()
        tree = self._next_tree(held)
        if tree is None:
            tree = self._write_tree(held, began)
        self._looked = began
        if self.told is not None:
            self.told(tree)
        return tree

    def _look(self) -> frozenset[str]:
        """The paths of the files to hold; says what they leave out, too."""
        held, self.left_out = self._listing.held()
        self.size = self._listing.size
        return held

    def _next_tree(self, held: frozenset[str]) -> str | None:
        """The tree of these files, made from that of the last `take` without git; None if git is to be asked.

        Files are read here if they are new, if their mark changed, and if they changed in or after the second of the
        last look, whatever their marks say; git is asked if they are many, or if one cannot be read.
        """
        tree, marks = self._last or ("", {})
        if tree and not self._loose.has(tree):
            return None
        now = self._listing.marks
        moved = {path for path in held if now[path] != marks.get(path)} | self._recent(held)
        if len(moved) > _READ_HERE or sum(now[path].size for path in moved) > _BYTES_HERE:
            return None
        gone = marks.keys() - held
        try:
            if moved or gone or not tree:
                tree = self._tree_with(tree, moved, gone)
        except UnreadableObjectError:
            return None
        except OSError as error:
            raise os_fault(self.store, error) from error
        self._last = tree, {path: now[path] for path in held}
        return tree

    def _tree_with(self, tree: str, moved: Collection[str], gone: Collection[str]) -> str:
        """The tree in which the moved files are as they stand now. Raises `UnreadableObjectError`, `OSError`."""
        known = self.entries(tree) if tree else {}
        changes: dict[str, FileEntry | None] = dict.fromkeys(gone)
        for path in moved:
            entry, content = content_at(self.root, path, largest=LARGEST_FILE)
            if entry is None or entry in {UNKNOWN, DIRECTORY}:  # it changed under our eyes
                raise UnreadableObjectError(path)
            if entry != known.get(path):
                self._loose.write("blob", content)
                changes[path] = entry
        return self._loose.updated(tree, changes) if changes or not tree else tree

    def _write_tree(self, held: frozenset[str], began: float) -> str:
        failed = self._update_index(held, began)
        if failed:  # a file changed its kind under our eyes, or the index is damaged: again, from nothing
            self._start_over()
            began, held = time.time(), self._look()
            failed = self._update_index(held, began)
        if failed:
            raise failed
        tree = self._git("write-tree").decode().strip()
        self._last = tree, {path: self._listing.marks[path] for path in held}
        return tree

    def ignored(self) -> Iterable[str]:
        """Ignored files, and folders (with a trailing slash) ignored as a whole; nothing that tools rebuild."""
        return self._listing.ignored()

    def repositories(self) -> Repositories:
        """The repositories inside the workspace, as found by the first call."""
        if self._repositories is None:
            self._repositories = repositories(self.root)
        return self._repositories

    def inside(self, path: str) -> "Snapshots":
        """The snapshots of a repository inside the workspace: its own trees, in the same store."""
        if path not in self._inside:
            index = f"index-{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}"
            with suppress(FileNotFoundError):
                (self.store / f"{index}.lock").unlink()
            self._inside[path] = Snapshots(self.root / path, self.store, index)
        return self._inside[path]

    def modes(self, tree: str) -> Mapping[str, int]:
        """Path → permission bits, if they were kept with this tree; folders end with a slash."""
        return self._modes(tree)

    def restore(
        self,
        target: str,
        *,
        last: str,
        paths: Collection[str] | None = None,
        keep: Collection[str] = (),
        modes: Mapping[str, int] | None = None,
    ) -> Restored:
        """Make `paths` (None: all that differ between the two trees) as they are in `target`.

        `last` is the tree that kotef saw last: a file is written or deleted only if it is unchanged since then. Other
        files, and those in `keep`, are left. No link is followed. A written file gets its permissions from `modes`
        (None: from `modes(target)`). Raises `NoSpaceError`, and `WorkspaceError` when the store is damaged.
        """
        wanted, seen = self.entries(target), self.entries(last)
        chosen = set(self.changed(last, target) if paths is None else paths)
        known = self.modes(target) if modes is None else modes
        chosen -= self.modes(target).keys() - wanted.keys()  # ignored when the tree was taken: not ours to delete
        put_back: list[str] = []
        left: list[str] = []
        with opened(self.root, chosen, known):
            for path, content in self._in_order(chosen, wanted):
                want, now = wanted.get(path), entry_at(self.root, path, largest=LARGEST_FILE)
                if now == want or (want is None and now == DIRECTORY):
                    continue
                ours = (path in wanted or path in seen) and now == seen.get(path) and path not in keep
                done = ours and self._apply(path, want, content, known.get(path))
                (put_back if done else left).append(path)
        return Restored(tuple(sorted(put_back)), tuple(sorted(left)))

    def _in_order(self, chosen: set[str], wanted: Mapping[str, FileEntry]) -> Iterator[tuple[str, bytes]]:
        """Deletions first, because they make room where a file becomes a directory or the reverse; then the writes.

        All contents are known to exist before the first deletion, so a damaged store costs no file.
        """
        written = sorted(chosen.intersection(wanted))
        first = written[:_AT_ONCE]
        contents = self._blobs([wanted[path].oid for path in first]) if first else []
        if len(written) > _AT_ONCE:
            self._must_have([wanted[path].oid for path in written])
        yield from ((path, b"") for path in sorted(chosen.difference(wanted), reverse=True))
        yield from zip(first, contents, strict=True)
        for start in range(_AT_ONCE, len(written), _AT_ONCE):
            some = written[start : start + _AT_ONCE]
            yield from zip(some, self._blobs([wanted[path].oid for path in some]), strict=True)

    def _apply(self, path: str, want: FileEntry | None, content: bytes, permissions: int | None) -> bool:
        try:
            if want is None:
                delete_entry(self.root, path)
            else:
                write_entry(self.root, path, want.mode, content, permissions)
        except OSError as error:
            fault = os_fault(path, error)
            if isinstance(fault, NoSpaceError):
                raise fault from error
            return False
        return True

    def _update_index(self, held: frozenset[str], began: float) -> WorkspaceError | None:
        """Make the private index hold these files; unchanged ones are not read again (git's own stat cache).

        git compares times in seconds. A file that changed in or after the second of the last look is therefore read
        again whatever its times are: a command can restore a file's modification time, but not its change time.
        `began` is when the look began that found the files.
        """
        self._last = None
        if self._indexed is None:
            listed = self._run("ls-files", "-z")
            if listed.returncode:
                return git_error(listed, ["ls-files"], self.root)
            self._indexed = frozenset(split_names(listed.stdout))
        recent = self._recent(self._indexed & held, since=self._indexed_since())
        config = _AS_PACK if len(held - (self._indexed - recent)) > _PACKED else {}
        gone, self._indexed = (self._indexed - held) | recent, None  # not known until all went well
        for option, paths in (("--force-remove", gone), ("--replace", held)):
            command = ("update-index", "-z", "--add", "--remove", option, "--stdin")
            if paths:
                names = b"".join(os.fsencode(path) + b"\0" for path in sorted(paths))
                done = self._run(*command, stdin=names, config=config)
                if done.returncode:
                    return git_error(done, command, self.root)
        self._indexed, self._index_looked = held, began
        return None

    def _recent(self, paths: Iterable[str], *, since: float | None = None) -> frozenset[str]:
        """Those of the files that changed in or after the second of the last look, or after `since`."""
        start = (_second_of(self._looked) if since is None else since) * 1e9
        return frozenset(path for path in paths if self._listing.marks[path].changed >= start)

    def _indexed_since(self) -> float:
        """The second in which the look of the private index began; of a look by an earlier process a time before it."""
        if self._index_looked is not None:
            return _second_of(self._index_looked)
        try:
            return self._index.stat().st_mtime - _LONGEST_LOOK
        except FileNotFoundError:
            return 0.0

    def _start_over(self) -> None:
        for path in (self._index, self._index.with_name(f"{self._index.name}.lock")):
            path.unlink(missing_ok=True)


def _second_of(look: float | None) -> float:
    """The second in which a look began; 0 if there was none."""
    return 0.0 if look is None else math.floor(look - _CLOCK_LAG)
