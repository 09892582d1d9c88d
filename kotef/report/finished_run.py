"""A finished run, loaded for a report."""

from kotef.errors import UsageError
from kotef.runs.result import Result
from kotef.runs.store import RunDir


def ended(run: RunDir) -> Result:
    """How the run ended; UsageError if it has not."""
    result = run.result()
    if result is None:
        goes_on = f"it is at work or was killed; in the latter case `kotef resume {run.run_id}` continues it"
        hint = goes_on if (run.path / "task.json").exists() else "it crashed before it started; start it again"
        hint = "the record contains nothing else" if run.is_foreign else hint
        raise UsageError(f"run {run.run_id} has no result", hint=hint)
    return result
