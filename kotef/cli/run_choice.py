"""Choice of the run that a command works on."""

import sys
from pathlib import Path
from typing import Any

from kotef.cli.screen import plain
from kotef.cli.workspace_option import workspace_of
from kotef.errors import UsageError
from kotef.runs import store
from kotef.runs.crash_recovery import put_right
from kotef.runs.store import RunDir


def chosen_run(options: dict[str, Any], *, newest: bool = False) -> tuple[Path, RunDir]:
    """The workspace and the chosen run; without a name only if `newest` allows it."""
    if options["run_id"] and options["last"]:
        raise UsageError(f"both {options['run_id']} and --last", hint="name one of them")
    if not (options["run_id"] or options["last"] or newest):
        raise UsageError("which run?", hint="name one of `kotef runs`, or pass --last")
    root = workspace_of(options["root"])
    run = store.find(root, options["run_id"])
    if not newest:
        run.must_be_own("apply or undo")
    for line in put_right(root):
        sys.stderr.write(f"kotef: note: {plain(line)}\n")
    return root, run
