"""Listing and settling of the entries that runs left in the issue log."""

from collections.abc import Sequence
from pathlib import Path

from kotef.cli.screen import console, one_line, plain
from kotef.failures.plural import counted
from kotef.runs import store
from kotef.sdd.export import title
from kotef.sdd.issue import IssueEntry, IssueLog


def show_entries(place: Path, log: IssueLog, entries: Sequence[IssueEntry], *, state: str) -> None:
    """Print two lines for each entry, and the problems of the log."""
    screen = console()
    if not log.entries:
        screen.print(without_entries(place))
    elif not entries:
        screen.print(f"no {state} entries; {len(log.entries)} {'are' if log.entries[1:] else 'is'} not {state}")
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


def without_entries(place: Path) -> str:
    """The line for a workspace whose log has no entries."""
    if unfinished := _unfinished(place):
        return f"no entry; {unfinished}"
    outcomes = [result.outcome for run in store.own_runs(place) if (result := run.result())]
    if not outcomes:
        return "no entries: nothing has been run here yet"
    if short := sum(outcome != "verified" for outcome in outcomes):
        return f"no entries, although {counted(short, 'run')} here did not finish; `kotef runs` lists them"
    return "no entries: every run here succeeded"


def _unfinished(place: Path) -> str:
    """A line about runs without an ending; empty if there are none."""
    number = sum(run.result() is None for run in store.own_runs(place))
    its = ("has", "it") if number == 1 else ("have", "them")
    sentence = (
        f"{counted(number, 'run')} here {its[0]} not ended: killed, or still at work; `kotef runs` lists {its[1]}"
    )
    return sentence if number else ""


def stored(entry: IssueEntry) -> dict[str, object]:
    """The entry as JSON, with its headline."""
    return {"title": title(entry), **entry.model_dump(mode="json", by_alias=True)}


def show_text(text: str) -> None:
    """The Markdown of an entry, rendered on a terminal."""
    screen = console()
    if screen.is_terminal:
        from rich.markdown import Markdown

        screen.print(Markdown(plain(text)))
    else:
        screen.print(plain(text))
