"""The words for how a run ended, or for why it has no ending: the same on every screen and in every report."""

from typing import TYPE_CHECKING

from kotef.workspace import at_work

if TYPE_CHECKING:
    from kotef.runs.result import Result
    from kotef.runs.store import RunDir


def headline(result: "Result") -> str:
    """The outcome and why: `verified (by search) at attempt 1 of 3: 1 of 1 checks satisfied, 4 tests executed`."""
    return f"{result.outcome}{_success(result)}: {result.sentence or result.reason}"


def title(result: "Result") -> str:
    """The same where the outcome stands beside it: `1 of 1 checks satisfied (by search, at attempt 1 of 3)`."""
    return f"{result.sentence or result.reason}{_success(result, inside=True)}"


def _success(result: "Result", *, inside: bool = False) -> str:
    """Which attempt of which coder succeeded; empty for a run that did not succeed, or that had nothing to do."""
    if not (result.done and result.visits):
        return ""
    by = "by search" if result.winner == "search" else ""
    attempt = f"at attempt {result.failure_history.attempts + 1} of {result.max_attempts}"
    if inside:
        return f" ({', '.join(filter(None, (by, attempt)))})"
    return f" ({by}) {attempt}" if by else f" {attempt}"


def killed(attempt: int | None) -> str:
    """How a run ended that was killed; `attempt` 0 is before the first one, None: no one knows where."""
    if attempt is None:
        return "killed before it ended"
    return f"killed in attempt {attempt}" if attempt else "killed before its first attempt"


def without_result(run: "RunDir") -> str:
    """Why a run has no result, and what to do about it."""
    if run.is_foreign:
        return "its record contains no result"
    if at_work(run.record.parents[2]) == run.run_id:
        return f"it is still at work; `kotef watch {run.run_id}` follows it"
    return lost(run.run_id, started=(run.path / "task.json").exists())


def lost(run_id: str, *, started: bool) -> str:
    """What to do about a run that ended without a result; one without a task had not started, and cannot be resumed."""
    if started:
        return f"it was killed; `kotef resume {run_id}` continues it"
    return "it crashed before it started; start it again with `kotef run`"
