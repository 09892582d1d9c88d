"""The user's branches, index and reflogs, and their restoration after a command."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final, NamedTuple

from kotef.errors import WorkspaceError
from kotef.files import write_atomic
from kotef.git.commands import run_git
from kotef.git.objects import GitObjects
from kotef.git.state import places

_MAX_BYTES: Final = 64 * 1024 * 1024
"""A larger file is not remembered."""

_FILES: Final = (
    *("HEAD", "packed-refs", "index", "shallow", "commondir", "gitdir"),
    *("MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "AUTO_MERGE"),
    *("SQUASH_MSG", "BISECT_LOG", "BISECT_START", "BISECT_TERMS", "BISECT_NAMES"),
)
_DIRECTORIES: Final = ("refs", "logs", "info", "reftable", "rebase-merge", "rebase-apply", "sequencer")


class _Known(NamedTuple):
    signature: tuple[int, ...]
    """Inode, size and times: while they are the same, so is the content."""
    mode: int
    content: bytes


class GitHistory:
    """HEAD, branches, tags, stashes, reflogs, the index, and the objects they name; one instance a run.

    A file that changed while a command ran is the command's doing. An index that only learnt when files were looked at
    (`git status`) has not changed.
    """

    def __init__(self, root: Path, store: Path, beside: Path) -> None:
        """Links to objects are kept in `store`, or in `beside` where that is on another file system."""
        self._root, self._stores = root, (store, beside)
        self._places: tuple[Path, ...] = ()
        self._files: dict[Path, _Known] = {}
        self._objects: GitObjects | None = None

    def look(self) -> None:
        """Remember how all stands now. Raises `WorkspaceError` if the objects cannot be kept."""
        try:
            self._places = places(self._root)
        except PermissionError:
            self._places = ()
        self._files = dict(self._read())
        if self._places and self._objects is None:
            objects = self._places[-1] / "objects"
            self._objects = GitObjects(objects, _on_the_same_disk(objects, self._stores))
            self._objects.keep()

    def put_back(self, aside: Path) -> tuple[str, ...]:
        """Make all as it was at the last look; returns what differed, by its name below `.git`, sorted.

        What stood there is copied into `aside`. Raises `WorkspaceError` if something cannot be put back.
        """
        if not self._places:
            return ()
        try:
            lost = self._objects.bring_back() if self._objects else 0
            now = dict(self._read())
            differ = [path for path, was in self._files.items() if self._differs(path, was, now.get(path))]
            extra = [path for path in now if path not in self._files]
            for path in (*extra, *differ):
                if path in now:
                    write_atomic(aside / self._name(path), now[path].content)
            for path in extra:
                path.unlink(missing_ok=True)
            for path in differ:
                self._write(path)
        except OSError as error:
            why = f"cannot be put back: {(error.strerror or str(error)).lower()}"
            raise WorkspaceError(error.filename or self._places[0], why, hint="check it by hand") from error
        names = sorted({self._name(path) for path in (*extra, *differ)})
        return (*names, *(("objects",) if lost else ()))

    def _read(self) -> Iterator[tuple[Path, _Known]]:
        for place in self._places:
            for path in _listed(place):
                if known := _known(path, self._files.get(path)):
                    yield path, known

    def _differs(self, path: Path, was: _Known, now: _Known | None) -> bool:
        if now is None:
            return True
        if (was.content, was.mode) == (now.content, now.mode):
            return False
        return path.name != "index" or path.parent not in self._places or not self._same_index(was.content, path)

    def _same_index(self, was: bytes, path: Path) -> bool:
        """Whether two indexes hold the same files, whatever they know of times."""
        own = {
            "GIT_DIR": str(self._places[0]),
            "GIT_WORK_TREE": str(self._root),
        }  # if this repository is broken, git must not use an outer one
        with NamedTemporaryFile(prefix="kotef-") as before:
            before.write(was)
            before.flush()
            command = ("ls-files", "-z", "--stage", "-v")
            names = (before.name, str(path))
            held = [run_git(command, cwd=self._root, env=own | {"GIT_INDEX_FILE": name}) for name in names]
        return not any(each.returncode for each in held) and held[0].stdout == held[1].stdout

    def _name(self, path: Path) -> str:
        place = next(place for place in self._places if path.is_relative_to(place))
        return str(path.relative_to(place))

    def _write(self, path: Path) -> None:
        if path.is_dir() and not path.is_symlink():  # a branch `a` where `a/b` stood for a while
            shutil.rmtree(path)
        for above in path.parents:
            if above.is_symlink() or above.is_file():
                above.unlink()
            if above in self._places:
                break
        was = self._files[path]
        write_atomic(path, was.content)
        path.chmod(stat.S_IMODE(was.mode))


def _listed(place: Path) -> Iterator[Path]:
    yield from (place / name for name in _FILES)
    for name in _DIRECTORIES:
        for directory, _, files in os.walk(place / name):
            yield from (Path(directory, file) for file in files if not file.endswith(".lock"))  # git's, while it works


def _known(path: Path, before: _Known | None) -> _Known | None:
    """A regular file; its content is read only where its signature is new."""
    try:
        facts = path.lstat()
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _MAX_BYTES:
            return None
        signature = (facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
        if before and before.signature == signature and before.mode == facts.st_mode:
            return before
        return _Known(signature, facts.st_mode, path.read_bytes())
    except OSError:
        return None


def _on_the_same_disk(objects: Path, stores: tuple[Path, Path]) -> Path:
    for store in stores:
        with suppress(OSError):
            store.parent.mkdir(parents=True, exist_ok=True)
            if store.parent.stat().st_dev == objects.stat().st_dev:
                return store
    return stores[-1]
