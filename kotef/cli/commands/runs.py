"""`kotef runs`: the runs of this workspace; old ones deleted, or one packed into a file."""

from pathlib import Path
from typing import Any, Final

import click

from kotef.cli.options import ARRAY, JSON, where

KEPT: Final = 20
"""Number of newest runs to keep by default."""
_MEGABYTE: Final = 1_000_000


@click.group(invoke_without_command=True)
@where
@ARRAY
@click.pass_context
def runs(ctx: click.Context, root: str | None, as_json: bool) -> None:
    """List the runs of this workspace, oldest first, with how each ended.

    \b
    Examples:
      kotef runs
      kotef runs --json | jq -r '.[] | select(.resume) | .resume'
      kotef runs prune --dry-run
      kotef runs export --last run.kotef
    """  # noqa: D301  click reads the backspace character
    if ctx.invoked_subcommand is not None:
        return
    from kotef.cli.run_list import row_of, show_rows
    from kotef.cli.screen import say_json
    from kotef.cli.workspace_option import workspace_of
    from kotef.runs import store
    from kotef.workspace import at_work

    place = workspace_of(root)
    holder = at_work(place)
    rows = [row_of(run, holder) for run in store.every(place)]
    if as_json:
        say_json(rows)
    else:
        show_rows(rows)


@runs.command(short_help="Delete old runs and the data that only they need.")
@where
@click.option("--keep", type=click.IntRange(0), metavar="N", help="Number of newest runs to keep.  [default: 20]")
@click.option(
    "--older-than",
    type=click.FloatRange(0, min_open=True),
    metavar="DAYS",
    help="Delete only runs older than this; --keep then defaults to 0.",
)
@click.option("--resumable", is_flag=True, help="Also delete runs that can be resumed.")
@click.option("--dry-run", is_flag=True, help="Only show what would be deleted.")
@JSON
def prune(**options: Any) -> None:
    """Delete old runs with their checkpoints, the snapshots that only they need, old outputs and baselines.

    Runs that can be resumed are kept unless --resumable is given. Issue entries and everything in git are kept.

    \b
    Examples:
      kotef runs prune --dry-run
      kotef runs prune --keep 5
      kotef runs prune --older-than 30 --resumable
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.prune_report import as_object, show_pruned
    from kotef.cli.screen import say_json
    from kotef.cli.workspace_option import workspace_of
    from kotef.runs.prune import PruneRule
    from kotef.runs.prune import prune as delete

    keep, days = options["keep"], options["older_than"]
    if keep is None:
        keep = KEPT if days is None else 0
    rule = PruneRule(keep=keep, older_than=days or 0.0, resumable=options["resumable"])
    pruned = delete(workspace_of(options["root"]), rule, dry_run=options["dry_run"])
    if options["as_json"]:
        say_json(as_object(pruned, dry_run=options["dry_run"]))
    else:
        show_pruned(pruned, dry_run=options["dry_run"])


@runs.command(short_help="Pack a run with its state into one file.")
@click.argument("words", metavar="[RUN] FILE", nargs=-1)
@click.option("--last", is_flag=True, help="The newest run of this workspace.")
@where
@JSON
def export(**options: Any) -> None:
    """Pack RUN with its record, checkpoints and snapshots into FILE, to resume it in another clone or elsewhere.

    The workspace is packed as it is now, without the files that git ignores. The printed fingerprint covers the whole
    content of FILE.

    \b
    Examples:
      kotef runs export --last run.kotef
      kotef runs export 20260131-101500-3fa2 /mnt/artifacts/run.kotef
      kotef resume --from run.kotef
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.outputs import must_be_plain
    from kotef.cli.screen import console, plain, say_json
    from kotef.cli.workspace_option import workspace_of
    from kotef.runs import store
    from kotef.runs.exports import export_run

    run_id, file = _run_and_file(options["words"], last=options["last"])
    root = workspace_of(options["root"])
    must_be_plain("FILE", file)
    exported = export_run(root, store.find(root, run_id), file)
    if options["as_json"]:
        facts = {"runId": exported.run_id, "path": str(file), "fingerprint": exported.fingerprint}
        say_json({**facts, "bytes": exported.bytes})
        return
    screen = console()
    screen.print(f"run {exported.run_id} is in {plain(str(file))} ({exported.bytes / _MEGABYTE:.1f} MB)")
    screen.print(f"  fingerprint: {exported.fingerprint}", soft_wrap=True)
    screen.print(f"  to continue it in another clone: kotef resume --from {plain(file.name)}")


def _run_and_file(words: tuple[str, ...], *, last: bool) -> tuple[str | None, Path]:
    """The run and the file. UsageError if one of them is missing or given twice."""
    from kotef.errors import UsageError

    wanted = 1 if last else 2
    if len(words) != wanted:
        problem = "--last FILE" if last else "RUN FILE"
        raise UsageError(f"kotef runs export takes {problem}", hint="`kotef runs` lists the runs")
    return (None if last else words[0]), Path(words[-1]).absolute()
