"""Files outside every snapshot that must not judge, or that need a second run without them."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from kotef.checks.failure_entries import NO_SNAPSHOT
from kotef.checks.verification import Verification
from kotef.deps import RunContext
from kotef.files import matches_globs, move_out, read_regular, remove_within, touch_within
from kotef.integrity import configures_runner, is_configuration, is_protected, is_test_code
from kotef.nodes.edit_guard import guard_of
from kotef.shell import names_behind
from kotef.state import Task
from kotef.workspace import (
    EXECUTABLE,
    HIDDEN_FILES,
    LARGEST_FILE,
    PLAIN,
    InstalledEnvironments,
    Restored,
    UntrackedFiles,
    move_to_run,
    read_untracked,
    remember_untracked,
    scan_untracked,
    write_entry,
)

LOST: Final = "what no snapshot contains (kotef's own record of it is missing or was changed)"


class UntrackedBefore(NamedTuple):
    """Findings before the checks of a visit run."""

    restored: Restored
    suspects: Mapping[str, bytes | None]
    """Python code that came or changed with the run: path → its content at the baseline; None: not there, or lost."""
    known: UntrackedFiles | None


def remember_unheld(
    task: Task, tree: str, context: RunContext, *, environments: InstalledEnvironments | None = None
) -> str:
    """Keep files outside snapshots that judge or may be imported, after the baseline; returns the id."""
    root, held = context.root, context.snapshots.paths(tree)

    def read(path: str) -> str | None:
        with suppress(OSError, ValueError):
            return read_regular(root / path, largest=LARGEST_FILE).decode("utf-8", "replace")
        return None

    behind = names_behind([check.command for check in task.checks], read)
    return remember_untracked(
        context.snapshots,
        tree,
        judges=lambda path: path in behind.found or _judges(path),
        linked=[path for path in held if _stands_for_tests(path) and (root / path).is_symlink()],
        awaited=behind.awaited,
        environments=environments,
    )


def look_for_unheld(
    task: Task, baseline: Verification, trees: Mapping[int, str], visit: int, context: RunContext
) -> UntrackedBefore:
    """Put back files outside snapshots that judged at the baseline, move new configuration away, name the rest.

    Bytecode that came with the run is removed: Python would believe it rather than the source. kotef's own commands
    write none.
    """
    if not baseline.unheld:
        return UntrackedBefore(Restored((), ()), {}, None)
    known = read_untracked(context.snapshots, baseline.unheld)
    if known is None:
        return UntrackedBefore(Restored((), (LOST,)), {}, None)
    guard = guard_of(task, trees[0], context.snapshots, baseline.test_files)
    awaited = sorted(known.awaited)
    found = scan_untracked(
        context.snapshots, trees[visit], known, judges=lambda path: _judges(path) or matches_globs(path, awaited)
    )
    for path in found.compiled:
        remove_within(context.root, path)
    done: list[str] = []
    left = [f"{path} (outside the workspace)" for path in found.outside if not guard.allows(path)]
    suspects: dict[str, bytes | None] = {}
    for path in (*found.new, *found.gone):
        if guard.allows(path) or guard.may_edit(path) is not None:
            continue
        old = context.snapshots.blob(known.files[path]) if known.files.get(path) else None
        if path in known.judging:
            again = old is not None and replaced(path, old, known.since, context)
            (done if again else left).append(f"{path} {NO_SNAPSHOT})")
        elif is_configuration(path) and path not in known.files:
            if _configures(context.root / path, path):
                move_to_run(context.root, path, context.run_dir / HIDDEN_FILES)
                done.append(f"{path} (hidden by .gitignore; moved to {HIDDEN_FILES}/ of the run)")
        else:
            suspects[path] = old
    return UntrackedBefore(Restored(tuple(done), tuple(left)), suspects, known)


def take_away(
    suspects: Mapping[str, bytes | None], known: UntrackedFiles | None, context: RunContext
) -> tuple[str, ...]:
    """Keep only files outside snapshots from the baseline; the run's own are moved to `hidden/`."""
    entries = []
    for path, old in suspects.items():
        if old is not None:
            since = known.since if known else 0
            entries += [f"{path} {NO_SNAPSHOT})"] if replaced(path, old, since, context) else []
        elif known and known.complete and path not in known.files:
            _move_whole(path, known.repositories, context)
            entries.append(f"{path} {NO_SNAPSHOT}; moved to {HIDDEN_FILES}/ of the run)")
    return tuple(entries)


def _move_whole(path: str, repositories: Collection[str], context: RunContext) -> None:
    """Move a file or, if it is in a repository that the run added, that whole repository."""
    inside = [above for above in _above(path) if (context.root / above / ".git").exists()]
    own = next((above for above in inside if above not in repositories), None)
    if own is None:
        move_to_run(context.root, path, context.run_dir / HIDDEN_FILES)
    elif (context.root / own).exists():
        move_out(context.root, own, context.run_dir / HIDDEN_FILES / own)


def _above(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1]
    return ("/".join(parts[: end + 1]) for end in range(len(parts)))


def replaced(path: str, content: bytes, since: float, context: RunContext) -> bool:
    """Put content back and keep the replaced content with the run; False if that fails.

    It is as old as the baseline, at `since`: make would take a built file that is newer for one of the new sources.
    """
    place = context.root / path
    try:
        mode = EXECUTABLE if place.exists() and place.stat().st_mode & 0o100 else PLAIN
        move_to_run(context.root, path, context.run_dir / HIDDEN_FILES)
        write_entry(context.root, path, mode, content)
        touch_within(context.root, path, since)
    except OSError:
        return False
    return True


def _configures(place: Path, path: str) -> bool:
    try:
        return configures_runner(path, read_regular(place, largest=LARGEST_FILE).decode("utf-8", "replace"))
    except OSError:
        return True


def _judges(path: str) -> bool:
    return is_test_code(path) or is_configuration(path)


def _stands_for_tests(path: str) -> bool:
    return "." not in path.rpartition("/")[2] and is_protected(f"{path}/inside")
