"""Messages about differences from the state before the run that no tree shows, each with the way to undo it."""

import json
import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from kotef.failures.plural import counted
from kotef.failures.quoting import plain
from kotef.files import write_atomic
from kotef.workspace import RestoreReason, RestoreReport, Snapshots, WorkspaceDifference, remainder_folder

_NAMED: Final = 8
_RECORD: Final = "restored.json"
_REPLACED: Final = "replaced"

_UNKNOWN: Final = "ignored files, repositories inside the workspace, modes and empty folders"

_SAID: Final[dict[RestoreReason, str]] = {
    "theirs": "changed by someone else, and left as they are",
    "checks": "changed by a command, but left as they are, because the checks also wrote them before the run",
    "run": "changed by the run outside its snapshots (ignored by git, or in a repository inside the workspace)",
    "blocked": "different from before the run, and could not be put back",
    "mode": "mode or attributes are different from before the run, and could not be put back",
    "refs": "branches, tags or stash of a repository inside the workspace are different from before the run",
    "new": "new, in no snapshot, and left as they are",
}


def lines_of(
    report: RestoreReport, snapshots: Snapshots, before: str, *, replaced: Path, undo: str = ""
) -> tuple[str, ...]:
    """What was restored and what still differs; `undo` is a command line that restores the rest, or empty.

    `before` is the tree of the state before the run, `replaced` the folder for replaced content.
    """
    lines = []
    if report.brought_back:
        lines.append(f"deleted during the run, and restored: {grouped(report.brought_back)}")
    if report.put_back:
        kept = f"; the replaced content is in {replaced}" if replaced.is_dir() else ""
        lines.append(f"changed during the run outside its snapshots, and put back: {grouped(report.put_back)}{kept}")
    if report.gone:
        lines.append(f"deleted during the run, and kotef has no copy: {grouped(report.gone)}")
    if report.unknown:
        names = [_UNKNOWN if path == "." else path for path in report.unknown]
        lines.append(
            f"not compared with the state before the run, because no copy was kept: {', '.join(names[:_NAMED])}"
        )
    for reason, words in _SAID.items():
        found = [each for each in report.differences if each.reason == reason]
        if found:
            ways = list(_ways(found, snapshots, before))
            if reason == "run" and undo:
                ways.append(f"`{undo}` restores everything")
            lines.append("; ".join((f"{words}: {grouped([_name(each) for each in found])}", *ways)))
    return tuple(lines)


def grouped(paths: Sequence[str]) -> str:
    """The paths, or their folders with counts if there are many."""
    if len(paths) > _NAMED:
        folders = Counter(f"{path.split('/')[0]}/" if "/" in path.rstrip("/") else path for path in paths)
        names = [
            f"{plain(name, 80)} ({counted(n, 'path')})" if n > 1 else plain(name, 80) for name, n in folders.items()
        ]
    else:
        names = [plain(path, 120) for path in paths]
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def next_replaced(run_dir: Path) -> Path:
    """A new folder in the run's directory for content that an undo replaces."""
    number = 1
    while (place := run_dir / f"{_REPLACED}-{number}").exists():
        number += 1
    return place


def note_lines(run_dir: Path, lines: Collection[str]) -> None:
    """Keep the messages of an undo for the run's result."""
    write_atomic(run_dir / _RECORD, json.dumps(list(lines)).encode())


def noted_lines(run_dir: Path) -> tuple[str, ...]:
    """What `note_lines` kept."""
    with suppress(OSError, ValueError):
        return tuple(str(line) for line in json.loads((run_dir / _RECORD).read_bytes()))
    return ()


def _name(each: WorkspaceDifference) -> str:
    was = f" (was {each.copy[:12]})" if each.reason in {"refs", "mode"} and each.copy else ""
    return f"{each.path}{was}"


def _ways(found: Sequence[WorkspaceDifference], snapshots: Snapshots, before: str) -> Iterator[str]:
    """How to get the content before the run."""
    if any(each.copy.startswith("/") for each in found):
        yield f"copies from before the run are in {remainder_folder(snapshots, before)}"
    example = next((each.copy for each in found if ":" in each.copy and not each.copy.startswith("/")), "")
    if example:
        store = shlex.quote(str(snapshots.store))
        yield f"`git --git-dir={store} cat-file -p {shlex.quote(example)}` shows the first one as it was before the run"
