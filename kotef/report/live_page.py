"""How does the page of a run stay up to date while the run is at work?"""

import logging
from typing import Final

from kotef.runs.events import Line, Watcher
from kotef.runs.store import RunDir

REWRITES: Final = frozenset({"verified", "planned", "run_resumed", "run_finished"})
"""Events after which there is more to see; the last comes when `result.json` is written."""

log = logging.getLogger("kotef")


def keeps_page(run: RunDir) -> Watcher:
    """A watcher that writes `report.html` anew; whatever goes wrong there costs the page and never the run."""

    def rewrite(line: Line) -> None:
        if line["event"] not in REWRITES:
            return
        try:
            from kotef.report.html import write_page

            write_page(run, at_work=line["event"] != "run_finished")
        except Exception as error:  # noqa: BLE001  the promise: a page is never worth a run
            log.warning("report.html not written: %s: %s", type(error).__name__, error)

    return rewrite
