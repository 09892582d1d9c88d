"""A finished run, loaded for a report."""

from kotef.errors import UsageError
from kotef.runs.ending_text import without_result
from kotef.runs.result import Result
from kotef.runs.store import RunDir


def ended(run: RunDir) -> Result:
    """How the run ended; UsageError if it has not."""
    result = run.result()
    if result is None:
        raise UsageError(f"run {run.run_id} has no result", hint=without_result(run))
    return result
