"""Reports of a finished run: HTML, Markdown, SARIF, JUnit, the summary of a CI job, a pull request."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.report.failure_locations import Located, located
    from kotef.report.formats import FORMATS
    from kotef.report.html import PAGE_NAME, as_html
    from kotef.report.live_page import keeps_page
    from kotef.report.markdown import render_report
    from kotef.report.pull_request import pull_request_text
    from kotef.report.step_summary import step_summary_text
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "failure_locations": "Located located",
            "formats": "FORMATS",
            "html": "PAGE_NAME as_html",
            "live_page": "keeps_page",
            "markdown": "render_report",
            "pull_request": "pull_request_text",
            "step_summary": "step_summary_text",
        },
    )

__all__ = [
    "FORMATS",
    "PAGE_NAME",
    "Located",
    "as_html",
    "keeps_page",
    "located",
    "pull_request_text",
    "render_report",
    "step_summary_text",
]
