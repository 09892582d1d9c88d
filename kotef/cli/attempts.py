"""The `kotef diff`, `apply` and `undo` commands. Heavy imports are in their bodies."""

import sys

import click

from kotef.cli.options import JSON, F, where

EXIT_STATUS = """\b
Exit status:
  0  done, or there was nothing to do
  2  refused, and nothing was touched: no such run or attempt, a run is at work here, or
     someone else changed a file that would be replaced
  5  a file could not be written
"""


def which(command: F) -> F:
    """Which run is meant."""
    argument = click.argument("run_id", metavar="[RUN]", required=False)
    return argument(click.option("--last", is_flag=True, help="The newest run of this workspace.")(command))


FORCE = click.option(
    "--force", is_flag=True, help="Also replace files that someone else changed; copies are kept first."
)
ATTEMPT = click.IntRange(1)


@click.command(epilog=EXIT_STATUS, short_help="Show what an attempt of a run changed.")
@which
@click.option(
    "--attempt", type=ATTEMPT, metavar="N", help="Attempt to show.  [default: the one the run left, else its last]"
)
@click.option("--stat", is_flag=True, help="Only the files, with lines added and removed.")
@where
@JSON
def diff(**options: object) -> None:
    """Show what an attempt of RUN (default: the newest) changed against the state before the run.

    \b
    Examples:
      kotef diff
      kotef diff 20260131-101500-3fa2 --attempt 1 --stat
      kotef diff --last --attempt 2 | git apply

    Piped, it is a patch as `git apply` takes it, byte for byte; on a terminal it is coloured.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.attempt_trees import diff_command

    sys.exit(diff_command(options))


@click.command(epilog=EXIT_STATUS, short_help="Put the files of an attempt in place.")
@which
@click.option("--attempt", type=ATTEMPT, metavar="N", help="Attempt to apply; `kotef show RUN` lists them.")
@click.option("--saved", type=ATTEMPT, metavar="K", help="Instead: the state before an earlier apply or undo.")
@FORCE
@where
@JSON
def apply(**options: object) -> None:
    """Put the files of attempt N of RUN in place, whatever the outcome of the run.

    \b
    Examples:
      kotef apply 20260131-101500-3fa2 --attempt 2
      kotef apply --last --attempt 1
      kotef apply --last --saved 1

    Only files that the run changed are touched, and no ticket is moved. The current content is kept first, and the
    command that restores it is printed.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.attempt_trees import apply_command

    sys.exit(apply_command(options))


@click.command(epilog=EXIT_STATUS, short_help="Restore the state before a run.")
@which
@FORCE
@where
@JSON
def undo(**options: object) -> None:
    """Restore every file that RUN (default: the newest) changed to its state before the run, verified or not.

    \b
    Examples:
      kotef undo
      kotef undo 20260131-101500-3fa2

    Files that were not committed, or not tracked, come back too, and a ticket that the run closed is reopened. The
    current content is kept first, and the command that restores it is printed. The entry in .sdd/issues.md stays.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.attempt_trees import undo_command

    sys.exit(undo_command(options))
