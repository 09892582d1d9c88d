"""Listing and settling of the entries that runs left in the issue log."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from kotef.cli.screen import console, one_line, plain, say_json, warn
from kotef.cli.workspace_option import workspace_of
from kotef.errors import UsageError
from kotef.failures.plural import counted
from kotef.runs import store
from kotef.sdd.export import title, to_github, to_sarif
from kotef.sdd.issue import IssueEntry, State
from kotef.sdd.issue_log import find_entry, issues_path, mark, read_issues, timestamp, written_text

Format = Literal["text", "json", "sarif"]


def list_command(root: str | None, *, state: str, form: Format) -> None:
    """`kotef issues` and `kotef issues list`."""
    place = workspace_of(root)
    log = read_issues(issues_path(place))
    entries = [entry for entry in log.entries if state in ("all", entry.state)]
    if form != "text":
        say_json([stored(entry) for entry in entries] if form == "json" else to_sarif(entries))
        _complain(str(problem) for problem in log.problems)
        return
    screen = console()
    if not log.entries:
        screen.print(_without_entries(place))
    elif not entries:
        screen.print(f"no {state} entry; {len(log.entries)} {'are' if log.entries[1:] else 'is'} not {state}")
    for entry in entries:
        times = 1 + len(entry.seen_again) + entry.seen_before
        again = f", seen {times} times" if times > 1 else ""
        screen.print(plain(f"{entry.run_id}  {entry.state:<9} {one_line(title(entry), 200)}"))
        attempts = f"{entry.attempts} of {entry.max_attempts} attempts{again}"
        screen.print(f"    {attempts}; {one_line(entry.follow_up, 200)}")
    if log.entries and (unfinished := _unfinished(place)):
        screen.print(f"note: {unfinished}")
    for problem in log.problems:
        screen.print(f"note: {plain(str(problem))}", style="yellow")


def _without_entries(place: Path) -> str:
    """What is true of the runs of a workspace whose log has no entry."""
    if unfinished := _unfinished(place):
        return f"no entry; {unfinished}"
    outcomes = [result.outcome for run in store.own_runs(place) if (result := run.result())]
    if not outcomes:
        return "no entry: no run was made here"
    if short := sum(outcome != "verified" for outcome in outcomes):
        return f"no entry, though {counted(short, 'run')} here stopped short; `kotef runs` lists them"
    return "no entry: every run here succeeded"


def _unfinished(place: Path) -> str:
    """That there are runs without an ending; empty when there are none."""
    number = sum(run.result() is None for run in store.own_runs(place))
    its = ("has", "it") if number == 1 else ("have", "them")
    said = f"{counted(number, 'run')} here {its[0]} not ended: killed, or still at work; `kotef runs` lists {its[1]}"
    return said if number else ""


def show_command(wanted: str | None, root: str | None, *, form: Literal["text", "json", "github"]) -> None:
    """`kotef issues show`."""
    path = _log(root)
    log = read_issues(path)
    if not (wanted or log.entries):
        raise UsageError(_without_entries(workspace_of(root)), hint="`kotef runs` lists all runs")
    entry = find_entry(log, wanted) if wanted else log.entries[-1]
    match form:
        case "json":
            say_json(stored(entry))
        case "github":
            sys.stdout.write(to_github(entry))
        case "text":
            _show(written_text(path, entry.run_id))


def mark_command(wanted: str, root: str | None, *, state: State, as_json: bool) -> None:
    """`kotef issues resolve` and `kotef issues reopen`."""
    path = _log(root)
    found = find_entry(read_issues(path), wanted)
    entry = mark(path, found.run_id, state, date=timestamp())
    if as_json:
        say_json(stored(entry))
        return
    said = f"was {state} already" if found.state == state else f"is {state}"
    console().print(f"issue {entry.run_id} {said}: {title(entry)}")


def stored(entry: IssueEntry) -> dict[str, object]:
    """The entry as JSON has it, with the line that says what it is about."""
    return {"title": title(entry), **entry.model_dump(mode="json", by_alias=True)}


def _log(root: str | None) -> Path:
    return issues_path(workspace_of(root))


def _show(text: str) -> None:
    screen = console()
    if screen.is_terminal:
        from rich.markdown import Markdown

        screen.print(Markdown(plain(text)))
    else:
        screen.print(plain(text))


def _complain(problems: Iterable[str]) -> None:
    for problem in problems:
        warn(problem)
