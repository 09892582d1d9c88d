"""`kotef show`: the report of a run as text, or its result as JSON."""

import sys

import click

from kotef.cli.options import JSON, where


@click.command()
@click.argument("run_id", metavar="[RUN]", required=False)
@where
@JSON
def show(run_id: str | None, root: str | None, as_json: bool) -> None:
    """Show the report of RUN (default: the newest); with --json its result.json.

    \b
    Examples:
      kotef show
      kotef show 20260131-101500-3fa2 --json | jq -r .outcome
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.run_list import FOREIGN
    from kotef.cli.screen import console, plain, say_json
    from kotef.cli.workspace_option import workspace_of
    from kotef.runs import store
    from kotef.runs.ending_text import without_result

    run = store.find(workspace_of(root), run_id)
    result = run.result()
    if as_json:
        if run.is_foreign:
            sys.stderr.write(f"kotef: note: {run.shown}: {FOREIGN}\n")
        say_json(result)
        return

    screen = console()
    if run.is_foreign:
        screen.print(f"{run.shown}: {FOREIGN}", style="yellow")
    report = run.path / "report.md"
    if result is None or not report.exists():
        screen.print(f"run {run.run_id} has no result: {without_result(run)}")
        return

    text = plain(report.read_text(encoding="utf-8"))
    if screen.is_terminal:
        from rich.markdown import Markdown

        screen.print(Markdown(text))
    else:
        screen.print(text)
