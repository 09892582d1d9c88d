"""The HTML report of one run."""

import base64
import hashlib
import json
import re
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import jinja2
from markupsafe import Markup, escape

from kotef.context.template_cache import Compiled
from kotef.failures.plural import counted
from kotef.files import write_atomic
from kotef.report.page import Page
from kotef.report.page_data import page_of
from kotef.report.test_matrix import MARKS, STATUSES, MatrixRow
from kotef.report.visible_text import visible_text
from kotef.runs.store import RunDir

PAGE_NAME: Final = "report.html"
SHOWN_ROWS: Final = 200
"""Rows of the matrix in the HTML; a script draws the others on demand."""
MOST_CALLS: Final = 200
"""Calls of tools, or of models, shown per attempt."""
BAR: Final = 160
"""Width of the longest bar of the timeline."""
_CODE: Final = re.compile(r"`([^`\n]+)`")


def render_page(page: Page, *, reload: bool) -> str:
    """A self-contained HTML document; `reload` while the run is at work."""
    style, script = _part("page.css"), _part("page.js")
    rows = page.matrix.rows
    drawn, later = rows[:SHOWN_ROWS], (*rows[SHOWN_ROWS:], *page.matrix.quiet)
    return _template("page.html").render(
        p=page,
        style=Markup(style),  # noqa: S704  our own file
        script=Markup(script),  # noqa: S704  our own file
        policy=_policy(style, script),
        data=Markup(_data(page, drawn, later)),  # noqa: S704  escaped there
        drawn=drawn,
        later=later,
        columns={column.visit: column for column in page.matrix.columns},
        reload=reload,
        longest=max((attempt.seconds for attempt in page.attempts), default=0.0),
    )


def as_html(run: RunDir, *, at_work: bool = False) -> str:
    """`report.html`, rebuilt from the run's directory."""
    page = page_of(run, at_work=at_work)
    return render_page(page, reload=page.tone == "working")


def write_page(run: RunDir, *, at_work: bool = False) -> Path:
    """Write the page beside `report.md`. Raises NoSpaceError, WorkspaceError, UsageError."""
    path = run.path / PAGE_NAME
    write_atomic(path, as_html(run, at_work=at_work).encode("utf-8", "replace"))
    return path


@cache
def _part(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """The content security policy: only our own style and script, whatever a name or a log contains."""
    allowed = f"style-src {_hash(style)}" + (f"; script-src {_hash(script)}" if script else "")
    return f"default-src 'none'; {allowed}; img-src data:; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _data(page: Page, drawn: Sequence[MatrixRow], later: Sequence[MatrixRow]) -> str:
    """The rows that are not drawn, grouped by their cells, in a form that is safe inside a script element."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for row in later:
        groups.setdefault((row.cells, row.marks, row.trend), []).append(visible(row.name))
    known = {
        "visits": [column.visit for column in page.matrix.columns],
        "statuses": STATUSES,
        "marks": MARKS,
        "groups": [[*key, names] for key, names in groups.items()],
        "drawn": len(drawn),
        "written": round(page.written),
        "run": page.run_id,
    }
    text = json.dumps(known, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def visible(value: Any) -> Any:
    """The text with control and direction characters spelt out."""
    return visible_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def marked(text: str) -> Markup:
    """The text as HTML, with text between backticks as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(visible(text)))))  # noqa: S704  escaped right here


@cache
def _template(name: str) -> jinja2.Template:
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(Path(__file__).parent)),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=Compiled(),
    )
    templates.filters |= {"duration": duration, "moment": moment, "money": money, "split": split_name, "marked": marked}
    templates.globals |= {
        "statuses": STATUSES,
        "marks": MARKS,
        "most_calls": MOST_CALLS,
        "counted": counted,
        "bar": BAR,
    }
    return templates.get_template(name)


def duration(seconds: float | None) -> str:
    """`0.4 s`, `1 m 12 s`, `2 h 05 m`."""
    if seconds is None:
        return "–"
    if seconds < 10:  # noqa: PLR2004  below, a tenth counts
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:  # noqa: PLR2004
        return f"{whole} s"
    if whole < 3600:  # noqa: PLR2004
        return f"{whole // 60} m {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} m"


def moment(at: float | None) -> str:
    """A point in time, in UTC."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at)) if at is not None else "–"


def money(cost: float | None) -> str:
    """An amount without a currency, because prices are configured without one."""
    if cost is None:
        return "–"
    return f"{cost:.4f}" if cost else "0"


def split_name(name: str) -> tuple[str, str]:
    """The file of a test, and the rest of its name."""
    file, colons, rest = name.partition("::")
    return (f"{file}{colons}", rest) if colons else ("", name)
