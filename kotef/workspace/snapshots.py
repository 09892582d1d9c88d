"""How is the state of the workspace kept, compared and brought back, whatever happens to it?"""

import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from subprocess import CompletedProcess
from typing import Final

from kotef.errors import NoSpaceError, WorkspaceError
from kotef.workspace.details import opened
from kotef.workspace.entries import DIRECTORY, Entry, blob_id, delete_entry, entry_at, write_entry
from kotef.workspace.git import git, git_error, run_git
from kotef.workspace.git_layout import OF_THE_TREE
from kotef.workspace.kept import modes_of
from kotef.workspace.listing import LARGEST, Listing, split
from kotef.workspace.nested import Repositories, repositories
from kotef.workspace.paths import os_fault, state_dir
from kotef.workspace.transfer import move_out

_CONFIG: Final = """\
[core]
\trepositoryformatversion = 0
\tbare = true
\tfilemode = true
\tsymlinks = true
\tignorecase = false
\tprecomposeunicode = false
\tprotectHFS = false
\tprotectNTFS = false
\tautocrlf = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""
_ATTRIBUTES: Final = "* -text -filter -ident -working-tree-encoding\n"
"""Stands above every `.gitattributes`: contents go in and come out byte for byte, and no filter is run."""

_ID: Final = re.compile(rb"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")
_NOBODY: Final = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "kotef"), ("EMAIL", "kotef@localhost"), ("DATE", "@0 +0000"))
}
"""Author and committer of a bundle's commit: fixed values, since only kotef reads that commit."""
_BUNDLED: Final = "refs/kotef/bundled"
"""Exists only while a bundle is written."""
_TREE: Final = re.compile("[0-9a-f]{40}")
_MOST_SPECIAL: Final = 20
"""Special files that one `take` moves away at most."""
_AT_ONCE: Final = 32
"""Files read from the store at a time; each is at most `LARGEST` bytes."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did; paths are relative to the workspace and sorted."""

    put_back: tuple[str, ...]
    """Written or deleted. Paths that were as wanted already are in neither."""
    left: tuple[str, ...]
    """Not as wanted and left so: somebody else changed them, or they cannot be written."""


class Snapshots:
    """Trees of the workspace in a bare repository of kotef's own, outside the workspace and never collected.

    The user's `.git` is only read. One writer at a time: the caller holds `workspace_lock`.
    """

    def __init__(self, root: Path, store: Path, index: str = "index") -> None:
        """`index` is the name of a file in the store; each workspace that shares the store has its own."""
        self.root = root
        self.store = store
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
        self._index = store / index
        self._listing = Listing(root, store)
        self._indexed: frozenset[str] | None = None
        self._entries = lru_cache(maxsize=8)(self._read_entries)
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
                _make_store(store)
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
        failed = self._update_index()
        if failed:  # a file changed its kind under our eyes, or the index is damaged: once more, from nothing
            self._start_over()
            failed = self._update_index()
        if failed:
            raise failed
        tree = self._git("write-tree").decode().strip()
        if self.told is not None:
            self.told(tree)
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

    def changed(self, old: str, new: str) -> tuple[str, ...]:
        """Paths that differ between two trees, sorted; a renamed file is two of them."""
        if old == new:
            return ()
        trees = self._trees(old, new)
        return tuple(sorted(split(self._git("diff-tree", "-r", "-z", "--name-only", "--no-renames", *trees))))

    def patch(self, old: str, new: str) -> str:
        """A unified diff that `git apply` takes, binary files included; bytes that are no UTF-8 are surrogates."""
        options = ("--binary", "--no-renames", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")
        return self._git("diff-tree", "-r", "-p", *options, *self._trees(old, new)).decode("utf-8", "surrogateescape")

    def stat(self, old: str, new: str) -> tuple[int, int]:
        """Lines added and removed; binary files count nothing."""
        trees = self._trees(old, new)
        lines = self._git("diff-tree", "-r", "-z", "--numstat", "--no-renames", *trees).split(b"\0")
        counts = [line.split(b"\t", 2)[:2] for line in lines if line]
        text = [(int(added), int(removed)) for added, removed in counts if added != b"-"]
        return sum(added for added, _ in text), sum(removed for _, removed in text)

    def read(self, tree: str, path: str) -> bytes | None:
        """The content of a file of a tree (of a link: its target); None when the tree has no such file."""
        entry = self._entries(tree).get(path)
        return self._blobs([entry.oid])[0] if entry else None

    def paths(self, tree: str) -> frozenset[str]:
        """All files of a tree."""
        return frozenset(self._entries(tree))

    def entries(self, tree: str) -> Mapping[str, Entry]:
        """Path → mode and content id of a tree."""
        return self._entries(tree)

    def ids(self, tree: str) -> Mapping[str, str]:
        """Path → content id of a tree; git's own for the same bytes."""
        return {path: entry.oid for path, entry in self._entries(tree).items()}

    def keep(self, content: bytes) -> str:
        """Keep some bytes under the id this returns."""
        return self._git("hash-object", "-w", "--stdin", stdin=content).decode().strip()

    def keep_files(self, paths: Sequence[str]) -> dict[str, str]:
        """Keep the contents of regular files, whether a snapshot holds them or not; returns path → id."""
        if not paths:
            return {}
        names = b"".join(os.fsencode(self.root / path) + b"\n" for path in paths)
        kept = self._git("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=names).decode().split()
        return dict(zip(paths, kept, strict=True))

    def blob(self, name: str) -> bytes | None:
        """What was kept under this id; None when it is lost, or something else now."""
        done = self._run("cat-file", "blob", name)
        return done.stdout if not done.returncode and blob_id(done.stdout) == name else None

    def prune(self, needed: Collection[str], *, dry_run: bool) -> int:
        """Delete every object that none of the `needed` ids leads to; returns the bytes they take, or took.

        Contents kept under one of these ids may name other ids (`keep`, `keep_files`), and so on; so may the records
        of what was kept besides the trees.
        """
        there = self._reached({*needed, *self._beside(needed)})
        (self.store / "refs" / "needed").mkdir(parents=True, exist_ok=True)
        for name in there:
            (self.store / "refs" / "needed" / name).write_text(f"{name}\n")
        try:
            listed = self._git("prune", "--dry-run", "--expire=now").decode().split("\n")
            gone = [self.store / "objects" / line[:2] / line[2:40] for line in listed if line]
            freed = sum(path.lstat().st_size for path in gone)
            if not dry_run:
                self._git("prune", "--expire=now")
        finally:
            shutil.rmtree(self.store / "refs" / "needed")
        return freed

    def write_bundle(self, path: Path, names: Collection[str]) -> None:
        """Write every object that the `names` lead to, followed as in `prune`, to one git bundle.

        Ids without an object are skipped. Raises `WorkspaceError`.
        """
        kinds = self._reached(names)
        modes = {"tree": "040000 tree", "blob": "100644 blob"}
        lines = "".join(f"{modes[kind]} {name}\t{name}\n" for name, kind in sorted(kinds.items()) if kind in modes)
        top = self._git("mktree", stdin=lines.encode()).decode().strip()
        commit = self._git("commit-tree", "-m", "run", top, env=_NOBODY).decode().strip()
        self._git("update-ref", _BUNDLED, commit)
        try:
            self._git("bundle", "create", "--quiet", str(path), _BUNDLED)
        finally:
            self._git("update-ref", "-d", _BUNDLED)

    def read_bundle(self, path: Path) -> None:
        """Import the objects of a bundle; git checks each of them. Raises `WorkspaceError` if the bundle is damaged."""
        content = path.read_bytes()
        header, gap, pack = content.partition(b"\n\nPACK")
        if not gap or not header.startswith(b"# v2 git bundle\n"):
            raise WorkspaceError(path, "is not a git bundle", hint="export the run again")
        self._git("unpack-objects", "-q", "--strict", stdin=b"PACK" + pack)

    def _reached(self, names: Collection[str]) -> dict[str, str]:
        """Those of the ids that exist, with their kinds, and all ids that their contents name."""
        found: dict[str, str] = {}
        while new := self._kinds(names).items() - found.items():
            found.update(new)
            blobs = [name for name, kind in new if kind == "blob"]
            names = {id_.decode() for name in blobs for id_ in _ID.findall(self.blob(name) or b"")}
        return found

    def _beside(self, needed: Collection[str]) -> Iterator[str]:
        """The ids in the records of what was kept besides these trees."""
        for record in (self.store.parent / "kept").glob("*.json"):
            if record.stem in needed:
                yield from (found.decode() for found in _ID.findall(record.read_bytes()))

    def _kinds(self, names: Collection[str]) -> dict[str, str]:
        """Those of the ids that the store has an object of, with its kind."""
        asked = "".join(f"{name}\n" for name in sorted(names)).encode()
        lines = self._git("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=asked).decode().splitlines()
        return {name: kind for name, kind in (line.split(" ")[:2] for line in lines) if kind != "missing"}

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
        wanted, seen = self._entries(target), self._entries(last)
        chosen = set(self.changed(last, target) if paths is None else paths)
        known = self.modes(target) if modes is None else modes
        chosen -= self.modes(target).keys() - wanted.keys()  # ignored when the tree was taken: not ours to delete
        put_back: list[str] = []
        left: list[str] = []
        with opened(self.root, chosen, known):
            for path, content in self._in_order(chosen, wanted):
                want, now = wanted.get(path), entry_at(self.root, path, largest=LARGEST)
                if now == want or (want is None and now == DIRECTORY):
                    continue
                ours = (path in wanted or path in seen) and now == seen.get(path) and path not in keep
                done = ours and self._apply(path, want, content, known.get(path))
                (put_back if done else left).append(path)
        return Restored(tuple(sorted(put_back)), tuple(sorted(left)))

    def _in_order(self, chosen: set[str], wanted: Mapping[str, Entry]) -> Iterator[tuple[str, bytes]]:
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

    def _apply(self, path: str, want: Entry | None, content: bytes, permissions: int | None) -> bool:
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

    def _update_index(self) -> WorkspaceError | None:
        """Make the private index hold the workspace; unchanged files are not read again (git's own stat cache)."""
        held, self.left_out = self._listing.held()
        self.size = self._listing.size
        if self._indexed is None:
            listed = self._run("ls-files", "-z")
            if listed.returncode:
                return git_error(listed, ["ls-files"], self.root)
            self._indexed = frozenset(split(listed.stdout))
        gone, self._indexed = self._indexed - held, None  # not known until all went well
        for option, paths in (("--force-remove", gone), ("--replace", held)):
            command = ("update-index", "-z", "--add", "--remove", option, "--stdin")
            if paths:
                done = self._run(*command, stdin=b"".join(os.fsencode(path) + b"\0" for path in sorted(paths)))
                if done.returncode:
                    return git_error(done, command, self.root)
        self._indexed = held
        return None

    def _start_over(self) -> None:
        for path in (self._index, self._index.with_name(f"{self._index.name}.lock")):
            path.unlink(missing_ok=True)

    def _read_entries(self, tree: str) -> Mapping[str, Entry]:
        lines = self._git("ls-tree", "-r", "-z", "--full-tree", *self._trees(tree)).split(b"\0")
        entries = {}
        for line in filter(None, lines):
            facts, _, path = line.partition(b"\t")
            mode, _, oid = facts.decode().split(" ")
            entries[os.fsdecode(path)] = Entry(mode, oid)
        return entries

    def _blobs(self, oids: Sequence[str]) -> list[bytes]:
        """Contents, in the order asked for."""
        answer = self._git("cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in oids).encode())
        found: list[bytes] = []
        start = 0
        for oid in oids:
            end = answer.index(b"\n", start)
            words = answer[start:end].split()
            if words[-1] == b"missing":
                raise self._lacks(oid)
            size = int(words[-1])
            found.append(answer[end + 1 : end + 1 + size])
            start = end + size + 2
        return found

    def _trees(self, *names: str) -> tuple[str, ...]:
        """The same names, each checked to be an object id and not an option of git: records may come from a file."""
        for name in names:
            if not _TREE.fullmatch(name):
                raise WorkspaceError(self.store, f"{name!r:.80} is not the id of a tree", hint="start a new run")
        return names

    def _must_have(self, oids: Collection[str]) -> None:
        """Raises WorkspaceError if the store lacks one of these contents."""
        if missing := set(oids).difference(self._kinds(oids)):
            raise self._lacks(min(missing))

    def _lacks(self, oid: str) -> WorkspaceError:
        return WorkspaceError(self.store, f"{oid} is missing", hint="remove the directory to start afresh")

    def _git(self, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> bytes:
        done = self._run(*args, stdin=stdin, env=env)
        if done.returncode:
            raise git_error(done, args, self.store)
        return done.stdout

    def _run(
        self, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None
    ) -> CompletedProcess[bytes]:
        places = {"GIT_DIR": str(self.store), "GIT_WORK_TREE": str(self.root), "GIT_INDEX_FILE": str(self._index)}
        return run_git(args, cwd=self.root, env=places | dict(env or {}), stdin=stdin)


def _make_store(store: Path) -> None:
    """Make the store beside its place and move it there, so that a killed run leaves no half of one."""
    new = store.with_name(f"store-{secrets.token_hex(4)}.new")
    git(["init", "--quiet", "--bare", "--template=", "--object-format=sha1", str(new)], cwd=store.parent)
    (new / "config").write_text(_CONFIG)
    (new / "info").mkdir()
    (new / "info" / "attributes").write_text(_ATTRIBUTES)
    new.rename(store)
