"""`kotef diff`: what an attempt of a run changed."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from kotef.cli.options import ATTEMPT, JSON, where, which_run

if TYPE_CHECKING:
    from kotef.git import PatchChange


@click.command()
@which_run
@click.option(
    "--attempt", type=ATTEMPT, metavar="N", help="Attempt to show.  [default: the one the run left, else its last]"
)
@click.option("--stat", is_flag=True, help="Only the files, with lines added and removed.")
@where
@JSON
def diff(**options: Any) -> None:
    """Show what an attempt of RUN (default: the newest) changed against the state before the run.

    \b
    Examples:
      kotef diff
      kotef diff 20260131-101500-3fa2 --attempt 1 --stat
      kotef diff --last --attempt 2 | git apply

    If the output is piped, it is a patch for `git apply`, byte for byte; on a terminal it is coloured. Exit status 2 if
    there is no such run or attempt.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.restored_files import readable
    from kotef.cli.run_choice import chosen_run
    from kotef.cli.screen import console, say_json
    from kotef.git import patch_changes
    from kotef.runs.attempt_trees import difference

    root, run = chosen_run(options, newest=True)
    found = difference(root, run, options["attempt"])
    files = patch_changes(found.patch, found.store)
    if options["as_json"]:
        rows = [{"path": readable(file.path), "added": file.added, "removed": file.removed} for file in files]
        text = found.patch.decode("utf-8", "replace")
        say_json({"runId": run.run_id, "attempt": found.attempt, "files": rows, "patch": text})
    elif options["stat"]:
        for line in _stat(files):
            console().print(line)
    elif sys.stdout.isatty():
        _show(found.patch)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(found.patch)
        sys.stdout.buffer.flush()


def _stat(files: "Sequence[PatchChange]") -> list[str]:
    """One line for each file and one for all."""
    from kotef.cli.restored_files import readable
    from kotef.failures.plural import counted

    wide = max((len(readable(file.path)) for file in files), default=0)
    lines = [
        f" {readable(file.path):<{wide}} | " + ("binary" if file.added is None else f"+{file.added} -{file.removed}")
        for file in files
    ]
    added, removed = sum(file.added or 0 for file in files), sum(file.removed or 0 for file in files)
    return [*lines, f" {counted(len(files), 'file')} changed, +{added} -{removed}"]


def _show(patch: bytes) -> None:
    """Print the patch on a terminal: coloured, without control characters."""
    from rich.text import Text

    from kotef.cli.screen import console, plain

    styles = {"+": "green", "-": "red", "@": "cyan"}
    screen = console()
    for line in plain(patch.decode("utf-8", "replace")).split("\n")[:-1]:
        head = line.startswith(("diff --git ", "--- ", "+++ "))
        screen.print(Text(line, style="bold" if head else styles.get(line[:1], "")), soft_wrap=True)
