"""Output of a run's report: to a file, to the screen, or in a browser."""

from pathlib import Path

from kotef.cli.browser import opened
from kotef.cli.output_paths import must_be_plain
from kotef.cli.screen import console, plain, say
from kotef.cli.workspace_option import workspace_of
from kotef.errors import UsageError
from kotef.files import write_atomic
from kotef.report import FORMATS, PAGE_NAME, as_html
from kotef.runs import store
from kotef.runs.config import config_path, read_config
from kotef.runs.public_record import RecordWriter
from kotef.runs.secret_sources import hide
from kotef.workspace import at_work


def report_command(run_id: str | None, root: str | None, *, form: str | None, output: str | None, show: bool) -> None:
    """`kotef report`; `form` None is Markdown, and HTML where the page is to be shown."""
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


def show_page(path: Path) -> None:
    """Open it in a browser; if there is none, say where it is."""
    said = "opened" if opened(path) else "no browser to open here; the report is"
    console().print(f"{said} {plain(str(path))}")
