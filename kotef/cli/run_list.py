"""The list of this workspace's runs, and what a person can do about each."""

import os
import sys
from pathlib import Path
from typing import Any, Final

from kotef.checks.detect import collect_checks
from kotef.checks.trial import TrialResult
from kotef.checks.types import Check
from kotef.cli.screen import console, one_line, plain, say_json
from kotef.cli.workspace_option import workspace_of
from kotef.errors import UsageError
from kotef.runs import store
from kotef.runs.check_trial import sandbox_to_look, tried
from kotef.sandbox import child_environment
from kotef.sdd.skeleton import write_skeleton
from kotef.sdd.spec import read_spec
from kotef.workspace import at_work

FOREIGN: Final = "a record of unknown origin: it can be shown, reported and replayed, but not resumed"
"""Printed for a run whose state is not here: it came with the repository, from another machine or an older kotef."""


def runs_command(root: str | None, *, as_json: bool) -> None:
    """`kotef runs`."""
    place = workspace_of(root)
    holder = at_work(place)
    rows = [row_of(run, holder) for run in store.every(place)]
    if as_json:
        say_json(rows)
        return
    screen = console()
    if not rows:
        screen.print("no run here yet; start one with `kotef run`")
    for row in rows:
        what = f"ticket {row['ticket']}: " if row["ticket"] else ""
        screen.print(f"{row['runId']}  {row['outcome']:<26} {what}{one_line(str(row['goal']), 60)}")
        if row["origin"] == "record":
            screen.print(f"{'':22}{FOREIGN}")
            continue
        match row["outcome"]:
            case "aborted" if row["resume"]:
                screen.print(f"{'':22}killed; `{row['resume']}` continues it")
            case "aborted":
                screen.print(f"{'':22}killed before it started; start it again with `kotef run`")
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
    asked = {"ticket": task.ticket.id if task.ticket else None, "goal": task.goal} if task else {}
    if result is not None:
        attempts = result.failure_history.attempts
        resume = None if run.is_foreign else result.resume
        return {**empty, **asked, "outcome": result.outcome, "attempts": attempts, "resume": resume}
    if run.is_foreign:
        return {**empty, **asked, "outcome": "unknown"}
    if run.run_id == holder:
        return {**empty, **asked, "outcome": "running"}
    return {**empty, **asked, "outcome": "aborted", "resume": f"kotef resume {run.run_id}" if task else None}


def show_command(run_id: str | None, root: str | None, *, as_json: bool) -> None:
    """`kotef show`."""
    run = store.find(workspace_of(root), run_id)
    result = run.result()
    if as_json:
        if run.is_foreign:
            sys.stderr.write(f"kotef: note: {run.shown}: {FOREIGN}\n")
        say_json(result)
        return
    screen = console()
    report = run.path / "report.md"
    if run.is_foreign:
        screen.print(f"{run.shown}: {FOREIGN}", style="yellow")
    if result is None or not report.exists():
        goes_on = "" if run.is_foreign else f"; `kotef resume {run.run_id}`"
        why = "the record holds none" if run.is_foreign else "it was killed or is still at work"
        screen.print(f"run {run.run_id} has no result: {why}{goes_on}")
        return
    text = plain(report.read_text(encoding="utf-8"))
    if screen.is_terminal:
        from rich.markdown import Markdown

        screen.print(Markdown(text))
    else:
        screen.print(text)


def init_command(root: str | None) -> None:
    """`kotef init`."""
    place = workspace_of(root)
    checks = collect_checks(place, options=(), ticket=(), architect=read_spec(place).checks)
    screen = console()
    found_here = _startable(place, checks)
    checks = found_here.checks
    absent = [trial.check.command for trial in found_here.left_out]
    done = write_skeleton(place, [check.command for check in checks], not_installed=absent)
    for path in done.written:
        screen.print(f"wrote {path}")
    for path in done.kept:
        screen.print(f"kept  {path} (it exists)")
    found = ", ".join(f"`{check.command}`" for check in checks) or "none; name them in .sdd/architect.md"
    screen.print(f"checks: {found}")
    for trial in found_here.left_out:
        screen.print(f"note: {plain(trial.sentence)}; it is not written down", style="yellow", soft_wrap=True)


def _startable(root: Path, checks: tuple[Check, ...]) -> TrialResult:
    """What of the checks can start here; without a sandbox programs are looked for and none is started."""
    sandbox, starts = sandbox_to_look(root)
    return tried(checks, root=root, env=child_environment(os.environ), sandbox=sandbox, start=starts)
