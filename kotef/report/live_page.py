"""How does the page of a run stay up to date while the run is at work?"""

import logging
from typing import Final

from kotef.events import PlannedEvent, RecordedEvent, RunFinishedEvent, RunResumedEvent, VerifiedEvent
from kotef.runs.events import Watcher
from kotef.runs.store import RunDir

REWRITES: Final = (VerifiedEvent, PlannedEvent, RunResumedEvent, RunFinishedEvent)
"""Events after which there is more to see; the last comes when `result.json` is written."""

log = logging.getLogger("kotef")


def keeps_page(run: RunDir) -> Watcher:
    """A watcher that writes `report.html` anew; whatever goes wrong there costs the page and never the run."""

    def rewrite(recorded: RecordedEvent) -> None:
        if not isinstance(recorded.event, REWRITES):
            return
        try:
            from kotef.report.html import write_page

            write_page(run, at_work=not isinstance(recorded.event, RunFinishedEvent))
        except Exception as error:  # noqa: BLE001  the promise: a page is never worth a run
            log.warning("report.html not written: %s: %s", type(error).__name__, error)

    return rewrite
