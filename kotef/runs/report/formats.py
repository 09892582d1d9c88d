"""In which formats can a run be told?"""

from collections.abc import Callable, Mapping
from typing import Final

from kotef.errors import UsageError
from kotef.runs.report.markdown import render_report
from kotef.runs.result import Result
from kotef.runs.store import RunDir


def ended(run: RunDir) -> Result:
    """How the run ended; UsageError where it has not."""
    result = run.result()
    if result is None:
        hint = f"it is at work or was killed; `kotef resume {run.run_id}` goes on"
        raise UsageError(f"run {run.run_id} has no result", hint=hint)
    return result


def as_markdown(run: RunDir) -> str:
    """`report.md`."""
    return render_report(ended(run))


def as_json(run: RunDir) -> str:
    """`result.json`; `kotef schema result` prints its schema."""
    return ended(run).model_dump_json(by_alias=True, indent=2) + "\n"


FORMATS: Final[Mapping[str, Callable[[RunDir], str]]] = {
    "md": as_markdown,
    "json": as_json,
}
"""Each from the run directory alone."""
