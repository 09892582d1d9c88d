"""Rules for what of a run may be committed, and the reasons against it."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from kotef.errors import WorkspaceError
from kotef.files import read_regular, resolve_inside
from kotef.git import git_error, run_git
from kotef.nodes.visit_record import left_by_checks
from kotef.redaction import keys_in, redactor
from kotef.state import AgentState, Task
from kotef.workspace import LINK, PLAIN, FileEntry, Snapshots

_NAMED: Final = 5
_LARGEST_TICKET: Final = 1_000_000


class RefusedError(Exception):
    """The work cannot be committed as it stands; the message says why, and nothing was changed."""


@dataclass(frozen=True)
class CommitContent:
    """The content to commit: as it was judged, not as it may be now."""

    root: Path
    task: Task
    snapshots: Snapshots
    before: str
    """The tree before the run."""
    tree: str
    """The tree that was verified."""
    changed: tuple[str, ...]
    """Paths that the run changed between the two trees."""
    mixed: tuple[str, ...]
    """Those of them that someone else changed, too."""

    @cached_property
    def tracked(self) -> Mapping[str, FileEntry]:
        """Files of the commit at which the run began, within the workspace."""
        found = {}
        for line in filter(None, ask(["ls-tree", "-r", "-z", self.task.base], self.root).split(b"\0")):
            facts, _, path = line.partition(b"\t")
            mode, _, oid = facts.decode().split()
            found[os.fsdecode(path)] = FileEntry(mode, oid)
        return found

    def differs(self, path: str) -> bool:
        """Whether a path was not as committed when the run began."""
        was, content = self.snapshots.entries(self.before).get(path), self.snapshots.read(self.before, path)
        base = self.tracked.get(path)
        if was is None or base is None or content is None:
            return was is not None or base is not None
        return was.mode != base.mode or blob(self.root, path, was.mode, content) != base.oid

    def contents(self) -> Iterator[tuple[str, str, bytes | None]]:
        """Path, mode and content of each change; None: the file is deleted."""
        entries = self.snapshots.entries(self.tree)
        for path in self.changed:
            content = self.snapshots.read(self.tree, path) if path in entries else None
            yield path, entries[path].mode if path in entries else "0", content
        yield from self.ticket

    @cached_property
    def ticket(self) -> tuple[tuple[str, str, bytes | None], ...]:
        """The same for the ticket's move to `closed/`, if it was as committed and is closed now."""
        ticket = self.task.ticket
        if ticket is None or ticket.path not in self.tracked or os.path.lexists(self.root / ticket.path):
            return ()
        _no_filters(self.root, [ticket.path])
        closed = str(Path(ticket.path).parent.parent / "closed" / Path(ticket.path).name)
        if self.differs(ticket.path) or closed in self.tracked:
            return ()
        try:
            content = read_regular(resolve_inside(self.root, closed, write=False), largest=_LARGEST_TICKET)
        except (OSError, WorkspaceError):
            return ()
        return (ticket.path, "0", None), (closed, PLAIN, content)


def work_of(state: AgentState, root: Path, snapshots: Snapshots) -> CommitContent:
    """The work of a verified run, without changes that only others made."""
    judged, before = state.get("test_results"), state["snapshots"][0]
    assert judged is not None, "a verified run was judged"  # noqa: S101
    visits, theirs = state["visits"].values(), left_by_checks(state, snapshots)
    foreign = {path for visit in visits for path in visit.foreign}.union(judged.left)
    ours = {path for visit in visits for path in visit.changed}
    changed = [path for path in snapshots.changed(before, judged.tree) if path not in theirs | (foreign - ours)]
    mixed = tuple(path for path in changed if path in foreign)
    return CommitContent(root, state["task"], snapshots, before, judged.tree, tuple(changed), mixed)


def must_be_committable(work: CommitContent) -> None:
    """Raises `RefusedError` for the first obstacle."""
    base, head = work.task.base, ask(["rev-parse", "HEAD"], work.root).decode().strip()
    if head != base:
        raise RefusedError(
            f"HEAD moved during the run, from {base[:12]} to {head[:12]}; the work is based on the first"
        )
    if work.mixed:
        raise RefusedError(f"{some(work.mixed)}: changed both by the run and by someone else")
    if not work.changed:
        raise RefusedError("the run changed no file")
    _no_filters(work.root, work.changed)
    if dirty := [path for path in work.changed if work.differs(path)]:
        raise RefusedError(f"{some(dirty)}: had uncommitted changes before the run, and the commit would include them")
    for path, _, content in work.contents():
        _no_keys(path, content or b"", work.snapshots.read(work.before, path) or b"")


def _no_filters(root: Path, paths: Sequence[str]) -> None:
    """Refuse files with a filter (LFS, encryption), because a commit would run its program."""
    names = b"".join(os.fsencode(path) + b"\0" for path in paths)
    answers = os.fsdecode(ask(["check-attr", "-z", "--stdin", "filter"], root, stdin=names)).split("\0")
    for path, _, value in zip(answers[::3], answers[1::3], answers[2::3], strict=False):
        if value not in {"unspecified", "unset"}:
            raise RefusedError(f"{path} goes through the filter {value}, which is a program")


def _no_keys(path: str, after: bytes, before: bytes) -> None:
    """Refuse added lines that contain a key; the file and line are named, never the key."""
    if redactor().text(path) != path:
        raise RefusedError("the name of a file contains the value of a secret")
    known = set(before.splitlines())
    added = [(number, line) for number, line in enumerate(after.splitlines(), 1) if line not in known]
    for found in keys_in([line.decode("utf-8", "surrogateescape") for _, line in added]):
        raise RefusedError(f"{path}:{added[found.line][0]} contains what looks like {found.what}")


def blob(root: Path, path: str, mode: str, content: bytes) -> str:
    """The id of a file as git would commit it, line ends as its attributes say; it is kept in the repository.

    The caller has made sure that no filter is set for it, which would be run.
    """
    how = ("--no-filters",) if mode == LINK else ("--path", path)
    return ask(["hash-object", "-w", "--stdin", *how], root, stdin=content).decode().strip()


def ask(args: Sequence[str], root: Path, *, env: Mapping[str, str] | None = None, stdin: bytes | None = None) -> bytes:
    """Output of git with the user's configuration. Raises `WorkspaceError`."""
    done = run_git(args, cwd=root, env=env, stdin=stdin, user_config=True)
    if done.returncode:
        raise git_error(done, args, root)
    return done.stdout


def some(paths: Collection[str]) -> str:
    """The first few items."""
    rest = len(paths) - _NAMED
    return ", ".join(sorted(paths)[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
