"""The report page of a run at work, kept up to date."""

import logging
import time
from collections.abc import Callable
from typing import Final

from kotef.events import PlannedEvent, RecordedEvent, RunFinishedEvent, RunResumedEvent, VerifiedEvent
from kotef.runs.events import Watcher
from kotef.runs.store import RunDir

REWRITES: Final = (VerifiedEvent, PlannedEvent, RunResumedEvent, RunFinishedEvent)
"""Events after which the page is rewritten; the last comes when `result.json` is written."""
PAUSE: Final = 5.0
"""Seconds before the first page and between two pages: most runs are over before anyone looks."""

log = logging.getLogger("kotef")


def keeps_page(run: RunDir, written: Callable[[], None]) -> Watcher:
    """A watcher that writes `report.html` again; whatever goes wrong there costs the page and never the run.

    What there is to see before the pause is over is written with the first event after it, or at the end. `written` is
    called after each page.
    """
    due, is_stale = time.monotonic() + PAUSE, False

    def rewrite(recorded: RecordedEvent) -> None:
        nonlocal due, is_stale
        has_ended = isinstance(recorded.event, RunFinishedEvent)
        is_stale = is_stale or isinstance(recorded.event, REWRITES)
        if not is_stale or (time.monotonic() < due and not has_ended):
            return
        try:
            from kotef.report.html import write_page

            write_page(run, at_work=not has_ended)
            written()
        except Exception as error:  # noqa: BLE001  the promise: a page is never worth a run
            log.warning("report.html not written: %s: %s", type(error).__name__, error)
        due, is_stale = time.monotonic() + PAUSE, False

    return rewrite
