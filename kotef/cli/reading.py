"""What happened in this workspace so far, and what can a person do about it?"""

import json
import sys

from kotef.checks.detect import collect_checks
from kotef.cli.place import workspace_of
from kotef.cli.screen import console, one_line, plain
from kotef.runs import store
from kotef.sdd.skeleton import write_skeleton
from kotef.sdd.spec import read_spec


def runs_command(root: str | None, *, as_json: bool) -> None:
    """`kotef runs`."""
    place = workspace_of(root)
    rows = []
    for run in store.every(place):
        task, result = run.task(), run.result()
        rows.append(
            {
                "runId": run.run_id,
                "outcome": result.outcome if result else "aborted",
                "attempts": result.failure_history.attempts if result else None,
                "ticket": task.ticket.id if task and task.ticket else None,
                "goal": task.goal if task else "",
                "resume": result.resume if result else f"kotef resume {run.run_id}",
            }
        )
    if as_json:
        _print_json(rows)
        return
    screen = console()
    if not rows:
        screen.print("no run here yet; start one with `kotef run`")
    for row in rows:
        what = f"ticket {row['ticket']}: " if row["ticket"] else ""
        screen.print(f"{row['runId']}  {row['outcome']:<26} {what}{one_line(str(row['goal']), 60)}")
        if row["outcome"] == "aborted":
            screen.print(f"{'':22}killed or still at work; `{row['resume']}` goes on")


def show_command(run_id: str | None, root: str | None, *, as_json: bool) -> None:
    """`kotef show`."""
    run = store.find(workspace_of(root), run_id)
    result = run.result()
    if as_json:
        sys.stdout.write((result.model_dump_json(by_alias=True, indent=2) if result else "null") + "\n")
        return
    screen = console()
    report = run.path / "report.md"
    if result is None or not report.exists():
        screen.print(f"run {run.run_id} has no result: it was killed or is still at work; `kotef resume {run.run_id}`")
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
    done = write_skeleton(place, [check.command for check in checks])
    screen = console()
    for path in done.written:
        screen.print(f"wrote {path}")
    for path in done.kept:
        screen.print(f"kept  {path} (it exists)")
    found = ", ".join(f"`{check.command}`" for check in checks) or "none; name them in .sdd/architect.md"
    screen.print(f"checks: {found}")


def _print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")
