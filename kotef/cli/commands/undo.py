"""`kotef undo`: the state before a run, put back."""

from typing import Any

import click

from kotef.cli.options import FORCE, JSON, TREE_STATUS, where, which_run


@click.command(epilog=TREE_STATUS)
@which_run
@FORCE
@where
@JSON
def undo(**options: Any) -> None:
    """Restore every file that RUN (default: the newest) changed to its state before the run, verified or not.

    \b
    Examples:
      kotef undo
      kotef undo 20260131-101500-3fa2

    Files that were not committed, or not tracked, come back too, and a ticket that the run closed is reopened. The
    current content is kept first, and the command that restores it is printed. The entry in .sdd/issues.md stays.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.restored_files import report_restored
    from kotef.cli.run_choice import chosen_run
    from kotef.runs import attempt_trees

    root, run = chosen_run(options, newest=True)
    run.must_be_own("undo")
    placed = attempt_trees.undo(root, run, force=options["force"])
    report_restored(run, placed, f"the state before run {run.run_id}", as_json=options["as_json"])
