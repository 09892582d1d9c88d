"""Index of what the workspace defines and uses, kept current."""

import gc
import hashlib
import json
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from kotef.context.repomap.languages import Language, language_of
from kotef.context.repomap.rank import rank
from kotef.context.repomap.sketch import Sketch, sketch
from kotef.context.repomap.symbols import Symbol, read_by, symbols
from kotef.errors import WorkspaceError
from kotef.files import is_below, read_within, resolve_inside, state_dir
from kotef.git import run_git
from kotef.tools.errors import ToolFault
from kotef.tools.workspace_files import NOISE, RUNS, walk

LARGEST: Final = 1_000_000
"""Largest file, in bytes, that is indexed; larger ones are usually generated."""
SECONDS: Final = 1.25
"""Wall seconds for indexing files in one call; the next call continues. Ranking takes extra time."""
_LISTING: Final = 5.0
"""Seconds after which a walk through a workspace without git ends."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, stamp TEXT, hash TEXT, rank REAL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sketches (hash TEXT PRIMARY KEY, defines TEXT, uses TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS symbols (hash TEXT, reader TEXT, found TEXT, PRIMARY KEY (hash, reader)) WITHOUT ROWID;
PRAGMA synchronous = OFF;
"""
"""A lost map is rebuilt; `stamp` shows that a file is unchanged without reading it, `hash` is of its content."""
_ONE_AT_A_TIME: Final = threading.Lock()
"""Lock, so that a second call of the same turn uses the index of the first; parsers are shared as well."""


class IndexedFile(NamedTuple):
    """One source file as indexed."""

    path: str
    hash: str


class User(NamedTuple):
    """A file that has a word."""

    file: IndexedFile
    words: str
    """All of its words, separated by spaces."""


@dataclass(frozen=True, slots=True)
class RepositoryIndex:
    """The index of the workspace; `opened` opens and closes it."""

    root: Path
    paths: tuple[str, ...]
    """Every file, relative to the workspace, sorted; nothing ignored, no dependencies, environments or caches."""
    left: int
    """Number of source files that are not indexed yet."""
    kept: sqlite3.Connection

    def ranked(self) -> Iterator[IndexedFile]:
        """The indexed source files, the most used first."""
        return map(IndexedFile._make, self.kept.execute("SELECT path, hash FROM files ORDER BY rank DESC, path"))

    def using(self, word: str) -> Iterator[User]:
        """The files that have a word with `word` in it, in any case; those that define one first, then by rank."""
        like = "%" + word.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_") + "%"
        query = (
            r"SELECT path, hash, uses FROM files JOIN sketches USING (hash) WHERE uses LIKE ?1 ESCAPE '\' "
            r"ORDER BY (defines LIKE ?1 ESCAPE '\') DESC, rank DESC, path"
        )
        return (User(IndexedFile(path, digest), words) for path, digest, words in self.kept.execute(query, (like,)))

    def file(self, path: str) -> IndexedFile | None:
        """The source file of this path; None if it is not indexed."""
        row = self.kept.execute("SELECT path, hash FROM files WHERE path = ?", (path,)).fetchone()
        return IndexedFile(*row) if row else None

    def definitions(self) -> Iterator[tuple[IndexedFile, list[str]]]:
        """The indexed files, with the names that each defines."""
        rows = self.kept.execute("SELECT path, hash, defines FROM files JOIN sketches USING (hash)")
        return ((IndexedFile(path, digest), names.split()) for path, digest, names in rows)

    def words(self, file: IndexedFile) -> list[str]:
        """All words of a file."""
        row = self.kept.execute("SELECT uses FROM sketches WHERE hash = ?", (file.hash,)).fetchone()
        return row[0].split() if row else []

    def symbols(self, file: IndexedFile) -> list[Symbol]:
        """The definitions of a file; none when it has gone since, or may not be read."""
        language = language_of(file.path)
        if language is None:
            return []
        reader = f"{language.name} by {read_by(language)}"
        query = "SELECT found FROM symbols WHERE hash = ? AND reader = ?"
        if known := self.kept.execute(query, (file.hash, reader)).fetchone():
            return [Symbol(*each) for each in json.loads(known[0])]
        try:
            top = resolve_inside(self.root, ".", write=False)
            if resolve_inside(top, file.path, write=False) != top / file.path:
                return []
            content = read_within(top, file.path, largest=LARGEST)
        except (OSError, WorkspaceError):
            return []
        found = symbols(content, language)
        row = (_hash(content), reader, json.dumps(found))
        self.kept.execute("INSERT OR REPLACE INTO symbols VALUES (?, ?, ?)", row)
        return found


@contextmanager
def opened(root: Path) -> Iterator[RepositoryIndex]:
    """The map of the workspace, brought up to date; what changed is looked into for `SECONDS` at most.

    Raises `ToolFault` if it cannot be kept: a full disk, another process at work on it.
    """
    try:
        yield from _opened(root)
    except sqlite3.Error as error:
        reason = "the map of the workspace cannot be used now; use grep and find_files, or try again later"
        raise ToolFault("exec_error", reason) from error


def _opened(root: Path) -> Iterator[RepositoryIndex]:
    with _ONE_AT_A_TIME, _no_collector(), closing(_kept(root)) as kept:
        paths = tuple(_listed(root))
        yield RepositoryIndex(root, paths, _refresh(kept, os.path.realpath(root), paths), kept)
        kept.commit()


@contextmanager
def _no_collector() -> Iterator[None]:
    """No search for garbage in between: so many small objects come into being that it takes a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _kept(root: Path) -> sqlite3.Connection:
    """The stored index; if it cannot be opened, an index in memory that every call rebuilds."""
    try:
        return _with_schema(state_dir(root) / "map-1.sqlite")
    except (WorkspaceError, sqlite3.DatabaseError):
        return _with_schema(":memory:")


def _with_schema(path: Path | str) -> sqlite3.Connection:
    kept = sqlite3.connect(path, timeout=1)
    try:
        kept.executescript(_SCHEMA)
    except sqlite3.DatabaseError:
        kept.close()
        raise
    return kept


def _listed(root: Path) -> Iterable[str]:
    """Every file git knows or would add, sorted; without git, every file but noise."""
    arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    answer = run_git(arguments, cwd=root, user_config=True)
    if answer.returncode or not answer.stdout:  # no repository, or one that ignores this directory as a whole
        return sorted(walk(Path(os.path.realpath(root)), deadline=time.monotonic() + _LISTING))
    names = answer.stdout.decode("utf-8", "surrogateescape").split("\0")
    names = [
        name for name in names if is_below(name) and not name.endswith("/")
    ]  # nested repositories are on their own
    return sorted(name for name in names if NOISE.isdisjoint(name.split("/")) and not name.startswith(RUNS))


def _refresh(kept: sqlite3.Connection, top: str, paths: Sequence[str]) -> int:
    """Index new and changed files, drop deleted ones, and rank again if needed; returns how many are left."""
    stamps = dict(_stamps(top, paths))
    known = dict(kept.execute("SELECT path, stamp FROM files"))
    if stamps == known:
        return 0
    todo = sorted(
        (path for path in stamps if known.get(path) != stamps[path]), key=lambda path: (path.count("/"), path)
    )
    kept.executemany("DELETE FROM files WHERE path = ?", [(path,) for path in known.keys() - stamps.keys()])
    done = _look(kept, top, [(path, stamps[path]) for path in todo])
    for table in ("sketches", "symbols"):
        kept.execute(f"DELETE FROM {table} WHERE hash NOT IN (SELECT hash FROM files)")  # noqa: S608  names of ours
    rows = kept.execute("SELECT path, defines, uses FROM files JOIN sketches USING (hash)")
    ranks = rank({path: Sketch(defines, uses) for path, defines, uses in rows})
    kept.executemany("UPDATE files SET rank = ? WHERE path = ?", ((value, path) for path, value in ranks.items()))
    kept.commit()
    return len(todo) - done


def _stamps(top: str, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The source files among `paths` that are plain files of a fair size, with size and time of the last change."""
    for path in paths:
        if language_of(path) is None or not path.isprintable():
            continue
        try:
            status = os.lstat(f"{top}/{path}")
        except OSError:  # deleted, but still in git's index
            continue
        if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST:
            yield path, f"{status.st_size}-{status.st_mtime_ns}"


def _look(kept: sqlite3.Connection, top: str, todo: Sequence[tuple[str, str]]) -> int:
    """Index files until the time is over, except files with known content; returns how many were done."""
    known = {digest for (digest,) in kept.execute("SELECT hash FROM sketches")}
    deadline = time.monotonic() + SECONDS
    files, sketches = [], []
    for path, stamp in todo:
        if time.monotonic() > deadline:
            break
        content = _content(top, path)
        digest = _hash(content)
        files.append((path, stamp, digest))
        if digest not in known:
            known.add(digest)
            sketches.append((digest, *_sketch(content, language_of(path))))
    kept.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, 0)", files)
    kept.executemany("INSERT INTO sketches VALUES (?, ?, ?)", sorted(sketches))  # in the order of the key: quicker
    return len(files)


def _sketch(content: bytes, language: Language | None) -> Sketch:
    return sketch(content, language) if language and b"\0" not in content else Sketch("", "")


def _content(top: str, path: str) -> bytes:
    """The bytes of a plain file; none when it cannot be read, or a link has taken its place or that of its folder."""
    try:
        return read_within(Path(top), path, largest=LARGEST)
    except OSError:
        return b""


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
