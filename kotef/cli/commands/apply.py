"""`kotef apply`: the files of an attempt, put in place."""

from typing import Any

import click

from kotef.cli.options import ATTEMPT, FORCE, JSON, TREE_STATUS, where, which_run


@click.command(epilog=TREE_STATUS)
@which_run
@click.option("--attempt", type=ATTEMPT, metavar="N", help="Attempt to apply; `kotef show RUN` lists them.")
@click.option(
    "--saved", type=ATTEMPT, metavar="K", help="Apply the state saved before an earlier apply or undo instead."
)
@FORCE
@where
@JSON
def apply(**options: Any) -> None:
    """Apply the files of attempt N of RUN, whatever the outcome of the run.

    \b
    Examples:
      kotef apply 20260131-101500-3fa2 --attempt 2
      kotef apply --last --attempt 1
      kotef apply --last --saved 1

    Only files that the run changed are touched, and no ticket is moved. The current content is kept first, and the
    command that restores it is printed.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.restored_files import report_restored
    from kotef.cli.run_choice import chosen_run
    from kotef.errors import UsageError
    from kotef.runs import attempt_trees

    attempt, saved = options["attempt"], options["saved"]
    if attempt is not None and saved is not None:
        raise UsageError("--attempt and --saved cannot be combined", hint="use one of them")
    root, run = chosen_run(options)
    if saved is not None:
        placed = attempt_trees.apply_saved(root, run, saved, force=options["force"])
        report_restored(run, placed, f"the state saved as {saved}", as_json=options["as_json"])
        return
    if attempt is None:
        raise UsageError("which attempt?", hint="--attempt N, or --saved K; `kotef show` lists the attempts of a run")
    placed = attempt_trees.apply(root, run, attempt, force=options["force"])
    report_restored(run, placed, f"attempt {attempt} of run {run.run_id}", as_json=options["as_json"])
