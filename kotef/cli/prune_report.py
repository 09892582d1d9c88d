"""Output of `kotef prune`, and its confirmation."""

from dataclasses import asdict
from typing import Any, Final

from kotef.cli.screen import console
from kotef.failures.plural import counted
from kotef.runs.prune import Pruned

_MEGABYTE: Final = 1_000_000


def show_pruned(pruned: Pruned, *, dry_run: bool) -> None:
    """Print the space that each kind of data took, and which runs are deleted."""
    screen = console()
    would = "would free" if dry_run else "freed"
    screen.print(f"{would} {_room(pruned.bytes)}: {counted(len(pruned.runs), 'run')} ({_room(pruned.run_bytes)}),")
    screen.print(
        f"  snapshots {_room(pruned.snapshot_bytes)}, outputs over a week old {_room(pruned.stash_bytes)}, "
        f"baselines {_room(pruned.baseline_bytes)}"
    )
    for run_id in pruned.runs:
        screen.print(f"  {run_id}")
    if pruned.resumable:
        kept = counted(len(pruned.resumable), "run")
        screen.print(f"  kept, because it can be resumed: {kept}; --resumable deletes these too")


def _room(size: int) -> str:
    return f"{size / _MEGABYTE:.1f} MB"


def as_object(pruned: Pruned, *, dry_run: bool) -> dict[str, Any]:
    """The JSON form."""
    names = {"run_bytes": "runBytes", "stash_bytes": "stashBytes"}
    names |= {"snapshot_bytes": "snapshotBytes", "baseline_bytes": "baselineBytes"}
    facts = {names.get(name, name): value for name, value in asdict(pruned).items()}
    return {"dryRun": dry_run, "bytes": pruned.bytes, **facts}
