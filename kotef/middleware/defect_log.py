"""The log of defects: exceptions of kotef's own inside a visit, with their tracebacks."""

import traceback
from typing import Final, NamedTuple

from kotef.failures.quoting import plain
from kotef.files import write_atomic
from kotef.middleware.visit_context import VisitContext
from kotef.redaction import encodable, redactor

MAX_ERROR: Final = 300
"""Characters of an exception's own words."""


class Defect(NamedTuple):
    """One exception that nothing in kotef answers."""

    error: str
    """The kind and the words of the exception, in one line."""
    place: str
    """The kind, and the function it came from: the same for the same defect."""
    log: str
    """The file with the traceback, relative to the directory of the run."""


class DefectLog:
    """Writes one file for each defect of a visit, and an event that names it."""

    def __init__(self, visit: VisitContext) -> None:
        """One instance a visit."""
        self.visit = visit
        self._known: dict[str, Defect] = {}

    def record(self, error: Exception, *, tool: str = "") -> Defect:
        """Keep the traceback without secrets; the same defect is written once. A full disk raises `NoSpaceError`."""
        place = _place(error)
        if known := self._known.get(place):
            return known
        number, run_dir = self.visit.number, self.visit.context.run_dir
        log = f"logs/defect-{number}-{len(self._known) + 1}.txt"
        message = encodable(redactor().text(f"{type(error).__name__}: {error}"))
        trace = encodable(redactor().text("".join(traceback.format_exception(error))))
        write_atomic(run_dir / log, trace.encode())
        found = self._known[place] = Defect(plain(message, MAX_ERROR), place, log)
        self.visit.context.emit("defect", visit=number, tool=tool, error=found.error, log=log)
        return found


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename.rpartition('/')[2]}:{frames[-1].name}" if frames else "nowhere"
    return f"{type(error).__name__} in {where}"
