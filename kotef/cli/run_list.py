"""The list of this workspace's runs, and what a person can do about each."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kotef.cli.screen import console, one_line
from kotef.errors import UsageError
from kotef.runs import store
from kotef.runs.ending_text import lost

FOREIGN: Final = "a record of unknown origin: it can be shown, reported and replayed, but not resumed"
"""Printed for a run whose state is not here: it came with the repository, from another machine or an older kotef."""


def show_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a line for each run, and a second one if there is something to do about it."""
    screen = console()
    if not rows:
        screen.print("no runs here yet; start one with `kotef run`")
    for row in rows:
        what = f"ticket {row['ticket']}: " if row["ticket"] else ""
        screen.print(f"{row['runId']}  {row['outcome']:<26} {what}{one_line(str(row['goal']), 60)}")
        if row["origin"] == "record":
            screen.print(f"{'':22}{FOREIGN}")
            continue
        match row["outcome"]:
            case "aborted":
                screen.print(f"{'':22}{lost(row['runId'], started=bool(row['resume']))}")
            case "unreadable":
                screen.print(f"{'':22}{one_line(str(row['problem']), 200)}")
            case _:
                pass


def row_of(run: store.RunDir, holder: str | None) -> dict[str, Any]:
    """One run; `aborted` means without an ending and no longer active, `unreadable` written by another version.

    `origin` is `record` if only `.sdd/runs` contains the run; `unknown` is such a run without an ending.
    """
    origin = "record" if run.is_foreign else "state"
    empty = {"runId": run.run_id, "attempts": None, "ticket": None, "goal": "", "resume": None, "origin": origin}
    try:
        task, result = run.task(), run.result()
    except UsageError as error:
        return {**empty, "outcome": "unreadable", "problem": str(error)}
    work: dict[str, Any] = {}
    if task:
        work = {"ticket": task.ticket.id if task.ticket else None, "goal": task.goal}
    if result is not None:
        attempts = result.failure_history.attempts
        resume = None if run.is_foreign else result.resume
        return {**empty, **work, "outcome": result.outcome, "attempts": attempts, "resume": resume}
    if run.is_foreign:
        return {**empty, **work, "outcome": "unknown"}
    if run.run_id == holder:
        return {**empty, **work, "outcome": "running"}
    return {**empty, **work, "outcome": "aborted", "resume": f"kotef resume {run.run_id}" if task else None}
