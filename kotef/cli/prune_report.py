"""Output of `kotef prune`, and its confirmation."""

from dataclasses import asdict
from typing import Any, Final

from kotef.cli.screen import console, say_json
from kotef.cli.workspace_option import workspace_of
from kotef.failures.plural import counted
from kotef.runs.prune import Pruned, PruneRule, prune

KEPT: Final = 20
"""The newest runs that stay when no one says how many."""

_MEGABYTE: Final = 1_000_000


def prune_command(options: dict[str, Any]) -> None:
    """`kotef runs prune`."""
    keep, days = options["keep"], options["older_than"]
    if keep is None:
        keep = KEPT if days is None else 0
    wanted = PruneRule(keep=keep, older_than=days or 0.0, resumable=options["resumable"])
    pruned = prune(workspace_of(options["root"]), wanted, dry_run=options["dry_run"])
    if options["as_json"]:
        say_json(_json(pruned, dry_run=options["dry_run"]))
        return
    screen = console()
    would = "would free" if options["dry_run"] else "freed"
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


def _json(pruned: Pruned, *, dry_run: bool) -> dict[str, Any]:
    names = {"run_bytes": "runBytes", "stash_bytes": "stashBytes"}
    names |= {"snapshot_bytes": "snapshotBytes", "baseline_bytes": "baselineBytes"}
    facts = {names.get(name, name): value for name, value in asdict(pruned).items()}
    return {"dryRun": dry_run, "bytes": pruned.bytes, **facts}
