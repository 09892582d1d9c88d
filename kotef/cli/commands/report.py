"""`kotef report`: a run told as a page, Markdown, JSON, SARIF or JUnit."""

from pathlib import Path

import click

from kotef.cli.options import where


@click.command()
@click.argument("run_id", metavar="[RUN]", required=False)
@where
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "html", "json", "sarif", "junit"]),
    help="Report format.  [default: md]",
)
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False), metavar="FILE", help="Write to this file.  [default: stdout]"
)
@click.option("--open", "show", is_flag=True, help="Rewrite the run's report.html, and open it in a browser.")
def report(run_id: str | None, root: str | None, form: str | None, output: str | None, show: bool) -> None:
    """Export the report of RUN (default: the newest), built from its directory alone.

    The HTML report is one file that needs nothing else: timeline, tests by attempt, diffs, logs, guards.

    \b
    Examples:
      kotef report --open
      kotef report --format json
      kotef report 20260131-101500-3fa2 -o report.md
      kotef report --format sarif -o kotef.sarif
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.outputs import must_be_plain, show_page
    from kotef.cli.screen import say
    from kotef.cli.workspace_option import workspace_of
    from kotef.errors import UsageError
    from kotef.files import write_atomic
    from kotef.report import FORMATS, PAGE_NAME, as_html
    from kotef.runs import store
    from kotef.runs.config import config_path, read_config
    from kotef.runs.public_record import RecordWriter
    from kotef.runs.secret_sources import hide
    from kotef.workspace import at_work

    if show and form not in (None, "html"):
        raise UsageError(f"--open shows the HTML report, not {form}", hint="leave --format out")
    if output:
        must_be_plain("--output", Path(output).absolute())
    place = workspace_of(root)
    run = store.find(place, run_id)
    form = form or ("html" if show else "md")
    if form == "html":
        hide(place, read_config(config_path()))
        text = as_html(run, at_work=at_work(place) == run.run_id)
    else:
        text = FORMATS[form](run)
    if output is None and not show:
        say(text)
        return
    path = Path(output).absolute() if output else run.path / PAGE_NAME
    write_atomic(path, text.encode("utf-8", "replace"))
    if not output and not run.is_foreign:
        RecordWriter(run.path, run.record).update()
        path = run.record / PAGE_NAME
    if show:
        show_page(path)
