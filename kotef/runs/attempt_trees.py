"""Trees of a run's attempts and of the state before it: their diffs, and their restoration."""

import json
import logging
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from kotef.errors import UsageError, WorkspaceError
from kotef.files import write_atomic
from kotef.git import patched_tree
from kotef.nodes.differences import lines_of, next_replaced
from kotef.runs.store import RunDir
from kotef.workspace import Snapshots, activity_of, restore_remainder, workspace_lock

log = logging.getLogger("kotef")

_VISIT: Final = re.compile(r"visit-(\d{1,4})")
_SAVED: Final = re.compile(r"saved-(\d{1,6})")
_TREE: Final = re.compile(r"[0-9a-f]{40}")
_NAMED: Final = 10
"""Number of files that an error names."""


@dataclass(frozen=True, slots=True)
class AttemptDiff:
    """One attempt against the state before the run."""

    attempt: int | None
    """None: the edits of an unfinished visit."""
    patch: bytes
    """In the format of `git apply`."""
    store: Path


@dataclass(frozen=True, slots=True)
class RestoredFiles:
    """The result of `apply` or `undo`; paths are relative to the workspace and sorted."""

    put_back: tuple[str, ...] = ()
    """Written or deleted files; empty if nothing had to change."""
    brought_back: tuple[str, ...] = ()
    """Ignored files that the run had deleted, copied back."""
    saved: int | None = None
    """Number under which the previous state was saved; None if nothing was written."""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Trees:
    """The trees of one run."""

    before: str
    attempts: dict[int, str]
    left: str | None
    """The tree that the run left, including a ticket that it closed; None if it was killed."""
    foreign: frozenset[str] = frozenset()
    """Paths that someone else changed during the run."""
    rebuilt: bool = False

    @property
    def every(self) -> tuple[str, ...]:
        """All trees, each once."""
        found = (self.before, *self.attempts.values(), *((self.left,) if self.left else ()))
        return tuple(dict.fromkeys(found))


def note_left(run: RunDir, snapshots: Snapshots, foreign: Collection[str]) -> None:
    """Remember the tree a run leaves, so that later changes by others can be recognised.

    `foreign` are the paths that someone else changed during the run. Where nothing can be kept any more, nothing is
    remembered, and `undo` asks for `--force`.
    """
    record = run.path / "left.json"
    try:
        record.unlink(missing_ok=True)
        write_atomic(record, json.dumps({"tree": snapshots.take(), "foreign": sorted(foreign)}).encode())
    except (OSError, WorkspaceError) as error:
        log.warning("the tree run %s leaves is not on record: %s", run.run_id, error)


def difference(root: Path, run: RunDir, attempt: int | None) -> AttemptDiff:
    """The diff of an attempt; without a number the attempt the run was left at, else its last one.

    Of a foreign record only its own patch is used. Raises UsageError when there is no such attempt, or when neither a
    snapshot nor a patch of it is left.
    """
    if run.is_foreign:
        number = attempt if attempt is not None else max(_patches(run), default=None)
        if number is None:
            raise UsageError(f"{run.shown} has no patch", hint="`kotef show` shows what it contains")
        return AttemptDiff(number, _patch_of(run, number), Snapshots.open(root).store)
    with workspace_lock(root, run.run_id):
        snapshots = Snapshots.open(root)
        found = _with_unjudged(run, _kept_trees(run), snapshots)
        number = _wanted(run, found, attempt)
        tree = found.left if number is None else found.attempts[number]
        assert tree is not None  # noqa: S101  `_wanted` has looked
        if all(_is_kept(snapshots, each) for each in (found.before, tree)):
            patch = snapshots.patch(found.before, tree).encode("utf-8", "surrogateescape")
        else:
            patch = _patch_of(run, number)
        return AttemptDiff(number, patch, snapshots.store)


def apply(root: Path, run: RunDir, attempt: int, *, force: bool) -> RestoredFiles:
    """Put the tree of an attempt in place: every file the run ever changed, except for tickets and the like in `.sdd`.

    A file that is in none of the run's states was changed by someone else: UsageError names it and nothing is
    touched, unless `force`. What stood there is kept first, whatever it was.
    """
    with workspace_lock(root, run.run_id):
        snapshots = Snapshots.open(root)
        trees = _trees(run, snapshots)
        if attempt not in trees.attempts:
            raise _no_attempt(run, trees, attempt)
        paths = {path for path in _touched(trees, snapshots) if not path.startswith(".sdd/")}
        return _place(run, snapshots, trees, trees.attempts[attempt], paths, force=force)


def apply_saved(root: Path, run: RunDir, number: int, *, force: bool) -> RestoredFiles:
    """Restore the state before the `number`-th `apply` or `undo` of this run; guarded like `apply`."""
    with workspace_lock(root, run.run_id):
        snapshots = Snapshots.open(root)
        record = run.path / f"saved-{number}.json"
        try:
            saved = json.loads(record.read_bytes())
            tree, paths = _checked(saved["tree"]), {str(path) for path in saved["paths"]}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"run {run.run_id} has no saved state {number}", hint="leave out --saved") from error
        if not _is_kept(snapshots, tree):
            raise UsageError(f"saved state {number} of run {run.run_id} is gone with the snapshots of this workspace")
        trees = _trees(run, snapshots)
        return _place(run, snapshots, trees, tree, paths | _touched(trees, snapshots), force=force)


def undo(root: Path, run: RunDir, *, force: bool) -> RestoredFiles:
    """Restore the state before the run, including tickets and deleted ignored files; guarded like `apply`."""
    with workspace_lock(root, run.run_id):
        snapshots = Snapshots.open(root)
        trees = _trees(run, snapshots)
        placed = _place(run, snapshots, trees, trees.before, _touched(trees, snapshots), force=force)
        replaced = next_replaced(run.path)
        report = restore_remainder(
            snapshots, trees.before, activity_of(run.path), replaced, whole=True, touched=placed.put_back
        )
        theirs = trees.foreign.intersection(snapshots.changed(trees.before, trees.left) if trees.left else ())
        notices = [f"{path} was changed by someone else during the run; left as it is" for path in sorted(theirs)]
        lines = lines_of(report._replace(brought_back=()), snapshots, trees.before, replaced=replaced)
        return RestoredFiles(
            placed.put_back, report.brought_back, placed.saved, (*placed.notices, *notices[:_NAMED], *lines)
        )


def _place(
    run: RunDir, snapshots: Snapshots, trees: _Trees, target: str, paths: Collection[str], *, force: bool
) -> RestoredFiles:
    """Make `paths` as in `target`, or refuse before the first write; the current content is saved first."""
    now = snapshots.take()
    todo = set(snapshots.changed(now, target)).intersection(paths)
    notices = (f"the snapshots of run {run.run_id} are gone; this is from its patches",) if trees.rebuilt else ()
    if not todo:
        return RestoredFiles(notices=notices)
    known = (*(trees.every if trees.left else ()), *_placed(run, snapshots))
    foreign = todo.intersection(*(snapshots.changed(now, tree) for tree in known))
    if foreign and not force:
        why = f"changed since run {run.run_id} by a person or another run"
        if not trees.left:
            why = f"run {run.run_id} was killed, so its edits cannot be distinguished from yours"
        raise UsageError(
            f"{why}: {_some(foreign)}; nothing was touched",
            hint="--force replaces it too, and keeps a copy of the current content",
        )
    held = snapshots.paths(now)
    stray = [path for path in todo if path not in held and _is_file(snapshots.root / path)]
    if stray:
        hint = "move it away first"
        raise UsageError(f"{_some(stray)} cannot be kept: ignored by git, too large or unreadable", hint=hint)
    saved = save_state(run, now, todo, target)
    restored = snapshots.restore(target, last=now, paths=todo, modes=snapshots.modes(trees.before))
    if restored.left:
        hint = f"`kotef apply {run.run_id} --saved {saved}` restores it"
        raise WorkspaceError(_some(restored.left), "could not be replaced; the rest is in place", hint=hint)
    return RestoredFiles(restored.put_back, saved=saved, notices=notices)


def _kept_trees(run: RunDir) -> _Trees:
    """The recorded trees, which the store may no longer have."""
    found: dict[int, str] = {}
    for path in run.path.glob("visit-*.json"):
        if number := _VISIT.fullmatch(path.stem):
            try:
                found[int(number[1])] = _checked(json.loads(path.read_bytes())["tree"])
            except (OSError, ValueError, KeyError, TypeError):  # damaged: this attempt is lost
                continue
    if 0 not in found:
        raise UsageError(f"run {run.run_id} kept no state before it", hint="it ended before its baseline was judged")
    left, foreign = _left(run) if run.result() else (None, frozenset())
    return _Trees(found.pop(0), dict(sorted(found.items())), left, foreign)


def _left(run: RunDir) -> tuple[str | None, frozenset[str]]:
    """The tree and paths that `note_left` remembered."""
    try:
        record = json.loads((run.path / "left.json").read_bytes())
        return _checked(record["tree"]), frozenset(str(path) for path in record["foreign"])
    except (OSError, ValueError, KeyError, TypeError):
        return None, frozenset()


def _trees(run: RunDir, snapshots: Snapshots) -> _Trees:
    """The trees of a run from the store; without the store, rebuilt from the run's patches."""
    found = _kept_trees(run)
    if not _is_kept(snapshots, found.before):
        return replace(_rebuilt(run, found.attempts, snapshots), foreign=found.foreign)
    found = _with_unjudged(run, found, snapshots)
    attempts = {number: tree for number, tree in found.attempts.items() if _is_kept(snapshots, tree)}
    return replace(
        found, attempts=attempts, left=found.left if found.left and _is_kept(snapshots, found.left) else None
    )


def _with_unjudged(run: RunDir, found: _Trees, snapshots: Snapshots) -> _Trees:
    """The same, with attempts that were killed before they were judged, rebuilt from their patches."""
    unjudged = {number: path for number, path in _patches(run).items() if number not in found.attempts}
    if not unjudged or not _is_kept(snapshots, found.before):
        return found
    made = {number: patched_tree(found.before, path.read_bytes(), snapshots.store) for number, path in unjudged.items()}
    known = found.attempts | {number: tree for number, tree in made.items() if tree}
    return replace(found, attempts=dict(sorted(known.items())))


def _rebuilt(run: RunDir, numbers: Collection[int], snapshots: Snapshots) -> _Trees:
    """The trees rebuilt from patches, starting from the attempt that the workspace is at; UsageError if none fits."""
    result, now = run.result(), snapshots.take()
    stands = result.tree_visit if result else 0
    patches = {number: _patch_of(run, number) for number in numbers}
    order = [stands, *sorted((number for number in patches if number != stands), reverse=True)]
    bases = (patched_tree(now, patches[number], snapshots.store, reverse=True) for number in order if number in patches)
    before = next((tree for tree in bases if tree), None)
    if before is None and any(patched_tree(now, patch, snapshots.store) for patch in patches.values()):
        before = now
    if before is None:
        problem = f"the snapshots of run {run.run_id} are gone, and none of its patches fits the current files"
        raise UsageError(problem, hint=f"`git apply --reject` may fit parts of {run.shown}/visit-N.patch")
    made = {number: patched_tree(before, patch, snapshots.store) for number, patch in patches.items()}
    attempts = {number: tree for number, tree in made.items() if tree}
    return _Trees(before, attempts, now if result else None, rebuilt=True)


def _touched(trees: _Trees, snapshots: Snapshots) -> set[str]:
    """Every file the run changed at some time; of one that was killed, every file that differs from before it.

    What someone else changed during the run is not among them.
    """
    states = trees.every if trees.left else (*trees.every, snapshots.take())
    return {path for tree in states for path in snapshots.changed(trees.before, tree)} - trees.foreign


def _wanted(run: RunDir, trees: _Trees, attempt: int | None) -> int | None:
    """The requested attempt, or the one the run was left at, or its last; None: there is only an unfinished visit."""
    if attempt is not None:
        if attempt not in trees.attempts:
            raise _no_attempt(run, trees, attempt)
        return attempt
    result = run.result()
    if result and result.tree_visit in trees.attempts:
        return result.tree_visit
    if not trees.attempts and not trees.left:
        raise UsageError(f"run {run.run_id} made no attempt", hint="`kotef show` shows why")
    return max(trees.attempts, default=None)


def _patches(run: RunDir) -> dict[int, Path]:
    """Attempt → patch, for all patches of a run."""
    return {int(found[1]): path for path in run.path.glob("visit-*.patch") if (found := _VISIT.fullmatch(path.stem))}


def _patch_of(run: RunDir, number: int | None) -> bytes:
    try:
        return (run.path / f"visit-{number}.patch").read_bytes()
    except OSError as error:
        problem = f"attempt {number} of run {run.run_id} is lost: its snapshot is gone, and so is visit-{number}.patch"
        raise UsageError(problem if number else f"the snapshots of run {run.run_id} are gone") from error


def _saves(run: RunDir) -> dict[int, Path]:
    """The records of `save_state` by their numbers."""
    return {int(found[1]): path for path in run.path.glob("saved-*.json") if (found := _SAVED.fullmatch(path.stem))}


def save_state(run: RunDir, tree: str, paths: Collection[str], target: str) -> int:
    """Save the current content under the next number, and note which tree replaces it."""
    number = max(_saves(run), default=0) + 1
    record = {"tree": tree, "paths": sorted(paths), "placed": target}
    write_atomic(run.path / f"saved-{number}.json", json.dumps(record).encode())
    return number


def _placed(run: RunDir, snapshots: Snapshots) -> Iterator[str]:
    """The trees that earlier `apply` or `undo` commands restored; content equal to one is not an edit."""
    for path in _saves(run).values():
        try:
            tree = _checked(json.loads(path.read_bytes())["placed"])
        except (OSError, ValueError, KeyError, TypeError):  # damaged: then that way back asks for force
            continue
        if _is_kept(snapshots, tree):
            yield tree


def _is_kept(snapshots: Snapshots, tree: str) -> bool:
    try:
        snapshots.paths(tree)
    except WorkspaceError:
        return False
    return True


def _is_file(path: Path) -> bool:
    """Whether the path exists and is not a directory; a link counts."""
    return path.is_symlink() or (path.exists() and not path.is_dir())


def _checked(tree: object) -> str:
    """A tree id; ValueError for anything else, because these files are in the workspace."""
    if not isinstance(tree, str) or not _TREE.fullmatch(tree):
        raise ValueError(tree)
    return tree


def _no_attempt(run: RunDir, trees: _Trees, wanted: int) -> UsageError:
    numbers = ", ".join(str(number) for number in trees.attempts)
    has = "no attempts"
    if numbers:
        has = f"attempts {numbers}" if len(trees.attempts) > 1 else f"attempt {numbers}"
    return UsageError(f"run {run.run_id} has no attempt {wanted}; it has {has}", hint="see `kotef show`")


def _some(paths: Collection[str]) -> str:
    rest = len(paths) - _NAMED
    return ", ".join(sorted(paths)[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
