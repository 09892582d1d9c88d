"""`kotef runs export`: pack a run into one file."""

from pathlib import Path
from typing import Any, Final

from kotef.cli.output_paths import must_be_plain
from kotef.cli.screen import console, plain, say_json
from kotef.cli.workspace_option import workspace_of
from kotef.errors import UsageError
from kotef.runs import store
from kotef.runs.exports import export_run

_MEGABYTE: Final = 1_000_000


def export_command(options: dict[str, Any]) -> None:
    """Pack the chosen run, and print the file and its fingerprint."""
    run_id, file = _words(options["words"], last=options["last"])
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


def _words(words: tuple[str, ...], *, last: bool) -> tuple[str | None, Path]:
    """The run and the file. UsageError if one of them is missing or given twice."""
    wanted = 1 if last else 2
    if len(words) != wanted:
        problem = "--last FILE" if last else "RUN FILE"
        raise UsageError(f"kotef runs export takes {problem}", hint="`kotef runs` lists the runs")
    return (None if last else words[0]), Path(words[-1]).absolute()
