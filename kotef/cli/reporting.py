"""How is the report of a run handed over?"""

from pathlib import Path

from kotef.cli.place import workspace_of
from kotef.cli.screen import say
from kotef.runs import store
from kotef.runs.report.formats import FORMATS
from kotef.workspace.paths import write_atomic


def report_command(run_id: str | None, root: str | None, *, form: str, output: str | None) -> None:
    """`kotef report`."""
    text = FORMATS[form](store.find(workspace_of(root), run_id))
    if output is None:
        say(text)
    else:
        write_atomic(Path(output).absolute(), text.encode())
