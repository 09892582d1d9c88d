"""The report formats."""

from collections.abc import Callable, Mapping
from typing import Final

from kotef.report.finished_run import ended
from kotef.report.html import as_html
from kotef.report.junit import as_junit
from kotef.report.markdown import render_report
from kotef.report.sarif import as_sarif
from kotef.runs.store import RunDir


def as_markdown(run: RunDir) -> str:
    """`report.md`."""
    return render_report(ended(run))


def as_json(run: RunDir) -> str:
    """`result.json`; `kotef schema result` prints its schema."""
    return ended(run).model_dump_json(by_alias=True, indent=2) + "\n"


FORMATS: Final[Mapping[str, Callable[[RunDir], str]]] = {
    "md": as_markdown,
    "json": as_json,
    "sarif": as_sarif,
    "junit": as_junit,
    "html": as_html,
}
"""Each from the run directory alone."""
