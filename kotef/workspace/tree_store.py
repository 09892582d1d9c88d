"""The bare repository that holds trees and contents of a workspace: reading, comparing, packing and pruning them."""

import os
import re
import secrets
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from subprocess import CompletedProcess
from typing import Final

from kotef.errors import WorkspaceError
from kotef.files import os_fault
from kotef.git import git_error, run_git
from kotef.workspace.file_entry import FileEntry, blob_id
from kotef.workspace.loose_objects import LooseObjects, UnreadableObjectError
from kotef.workspace.snapshot_scope import split_names

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


class TreeStore:
    """Trees and contents by their ids, outside the workspace; git never collects any by itself."""

    def __init__(self, root: Path, store: Path, index: str) -> None:
        """`root` is the workspace, `index` the name of a file in the `store`."""
        self.root = root
        self.store = store
        self._index = store / index
        self._loose = LooseObjects(store / "objects")
        self._entries = lru_cache(maxsize=8)(self._read_entries)
        self._changed = lru_cache(maxsize=32)(self._compare)
        self._patch = lru_cache(maxsize=4)(self._write_patch)

    def changed(self, old: str, new: str) -> tuple[str, ...]:
        """Paths that differ between two trees, sorted; a renamed file is two of them."""
        return () if old == new else self._changed(old, new)

    def patch(self, old: str, new: str) -> str:
        """A unified diff that `git apply` takes, binary files included; bytes that are no UTF-8 are surrogates."""
        return "" if old == new else self._patch(old, new)

    def stat(self, old: str, new: str) -> tuple[int, int]:
        """Lines added and removed; binary files count nothing."""
        if old == new:
            return 0, 0
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

    def entries(self, tree: str) -> Mapping[str, FileEntry]:
        """Path → mode and content id of a tree."""
        return self._entries(tree)

    def ids(self, tree: str) -> Mapping[str, str]:
        """Path → content id of a tree; git's own for the same bytes."""
        return {path: entry.oid for path, entry in self._entries(tree).items()}

    def keep(self, content: bytes) -> str:
        """Keep some bytes under the id this returns. Raises `NoSpaceError`, `WorkspaceError`."""
        try:
            return self._loose.write("blob", content)
        except OSError as error:
            raise os_fault(self.store, error) from error

    def keep_files(self, paths: Sequence[str]) -> dict[str, str]:
        """Keep the contents of regular files, whether a snapshot holds them or not; returns path → id."""
        if not paths:
            return {}
        names = b"".join(os.fsencode(self.root / path) + b"\n" for path in paths)
        kept = self._git("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=names).decode().split()
        return dict(zip(paths, kept, strict=True))

    def blob(self, name: str) -> bytes | None:
        """The content with this id; None if it is lost or damaged."""
        with suppress(UnreadableObjectError):
            return self._loose.read(name, "blob")
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
            gone = self._unreached()
            if gone and not dry_run:
                if any((self.store / "objects" / "pack").glob("*.pack")):
                    self._git("repack", "-a", "-d", "-q", "--window=0", config={"repack.writeBitmaps": "false"})
                self._git("prune", "--expire=now")
        finally:
            shutil.rmtree(self.store / "refs" / "needed")
        return sum(gone.values())

    def _unreached(self) -> dict[str, int]:
        """Objects that neither a ref nor the index leads to, with the bytes that each takes on the disk."""
        reached = self._git("rev-list", "--objects", "--no-object-names", "--all", "--indexed-objects").decode()
        sizes = "--batch-check=%(objectname) %(objectsize:disk)"
        listed = self._git("cat-file", sizes, "--batch-all-objects", "--unordered").decode().splitlines()
        kept = set(reached.split())
        return {name: int(size) for name, size in (line.split() for line in listed) if name not in kept}

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
        request = "".join(f"{name}\n" for name in sorted(names)).encode()
        lines = self._git("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=request).decode().splitlines()
        return {name: kind for name, kind in (line.split(" ")[:2] for line in lines) if kind != "missing"}

    def _write_patch(self, old: str, new: str) -> str:
        options = ("--binary", "--no-renames", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")
        return self._git("diff-tree", "-r", "-p", *options, *self._trees(old, new)).decode("utf-8", "surrogateescape")

    def _compare(self, old: str, new: str) -> tuple[str, ...]:
        trees = self._trees(old, new)
        with suppress(UnreadableObjectError):
            return self._loose.changed(old, new)
        return tuple(sorted(split_names(self._git("diff-tree", "-r", "-z", "--name-only", "--no-renames", *trees))))

    def _read_entries(self, tree: str) -> Mapping[str, FileEntry]:
        known = self._trees(tree)
        with suppress(UnreadableObjectError):
            return self._loose.files(tree)
        lines = self._git("ls-tree", "-r", "-z", "--full-tree", *known).split(b"\0")
        entries = {}
        for line in filter(None, lines):
            facts, _, path = line.partition(b"\t")
            mode, _, oid = facts.decode().split(" ")
            entries[os.fsdecode(path)] = FileEntry(mode, oid)
        return entries

    def _blobs(self, oids: Sequence[str]) -> list[bytes]:
        """Contents, in the order asked for."""
        with suppress(UnreadableObjectError):
            return [self._loose.read(oid, "blob") for oid in oids]
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
        return WorkspaceError(self.store, f"{oid} is missing", hint="remove the directory to start over")

    def _git(
        self,
        *args: str,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        config: Mapping[str, str] | None = None,
    ) -> bytes:
        done = self._run(*args, stdin=stdin, env=env, config=config)
        if done.returncode:
            raise git_error(done, args, self.store)
        return done.stdout

    def _run(
        self,
        *args: str,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        config: Mapping[str, str] | None = None,
    ) -> CompletedProcess[bytes]:
        places = {"GIT_DIR": str(self.store), "GIT_WORK_TREE": str(self.root), "GIT_INDEX_FILE": str(self._index)}
        return run_git(args, cwd=self.root, env=places | dict(env or {}), stdin=stdin, config=config)


def make_store(store: Path) -> None:
    """Make the store beside its place and move it there, so that a killed run leaves no half of one."""
    new = store.with_name(f"store-{secrets.token_hex(4)}.new")
    for folder in ("info", "objects/info", "objects/pack", "refs/heads", "refs/tags"):
        (new / folder).mkdir(parents=True)
    (new / "HEAD").write_text("ref: refs/heads/main\n")
    (new / "config").write_text(_CONFIG)
    (new / "info" / "attributes").write_text(_ATTRIBUTES)
    new.rename(store)
