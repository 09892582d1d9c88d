"""Which runs left something to do, and how does a person say that it is done?"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from kotef.cli.place import workspace_of
from kotef.cli.screen import console, one_line, plain
from kotef.sdd.export import title, to_github, to_sarif
from kotef.sdd.issue import IssueEntry, State
from kotef.sdd.issues import find_entry, issues_path, mark, read_issues, timestamp, written_text

Format = Literal["text", "json", "sarif"]


def list_command(root: str | None, *, state: str, form: Format) -> None:
    """`kotef issues` and `kotef issues list`."""
    log = read_issues(_log(root))
    entries = [entry for entry in log.entries if state in ("all", entry.state)]
    if form != "text":
        _print_json([stored(entry) for entry in entries] if form == "json" else to_sarif(entries))
        _complain(str(problem) for problem in log.problems)
        return
    screen = console()
    if not log.entries:
        screen.print("no entry: every run here succeeded, or none was made")
    elif not entries:
        screen.print(f"no {state} entry; {len(log.entries)} {'are' if log.entries[1:] else 'is'} not {state}")
    for entry in entries:
        ticket = f"ticket {one_line(entry.ticket, 60)}, " if entry.ticket else ""
        times = 1 + len(entry.seen_again) + entry.seen_before
        again = f", seen {times} times" if times > 1 else ""
        attempts = f"{ticket}{entry.attempts} of {entry.max_attempts} attempts"
        screen.print(plain(f"{entry.run_id}  {entry.state:<9} {entry.outcome}  ({attempts}{again})"))
        screen.print(f"    {one_line(entry.follow_up, 200)}")
    for problem in log.problems:
        screen.print(f"note: {plain(str(problem))}", style="yellow")


def show_command(wanted: str, root: str | None, *, form: Literal["text", "json", "github"]) -> None:
    """`kotef issues show`."""
    path = _log(root)
    entry = find_entry(read_issues(path), wanted)
    match form:
        case "json":
            _print_json(stored(entry))
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
        _print_json(stored(entry))
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
        sys.stderr.write(f"kotef: warning: {plain(problem)}\n")


def _print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")
