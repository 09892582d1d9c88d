"""Report of the files that `kotef apply` and `kotef undo` put in place."""

from collections.abc import Sequence
from typing import Final

from kotef.cli.screen import console, plain, say_json
from kotef.runs.attempt_trees import RestoredFiles
from kotef.runs.store import RunDir

SHOWN: Final = 20
"""Paths a message names."""


def report_restored(run: RunDir, placed: RestoredFiles, what: str, *, as_json: bool) -> None:
    """Print which files were restored, and how to revert that."""
    back = f"kotef apply {run.run_id} --saved {placed.saved}" if placed.saved else None
    if as_json:
        paths = {"putBack": _all(placed.put_back), "broughtBack": _all(placed.brought_back)}
        say_json({"runId": run.run_id, **paths, "saved": placed.saved, "back": back, "notices": _all(placed.notices)})
        return
    screen = console()
    for notice in placed.notices:
        screen.print(f"note: {plain(notice)}", style="yellow")
    if placed.brought_back:
        screen.print(f"brought back: {_some(placed.brought_back)}")
    if back:
        screen.print(f"{what} is in place: {_some(placed.put_back)}")
        screen.print(f"to go back: {back}")
    elif not placed.brought_back:
        screen.print(f"nothing to do: {what} is already in place")


def _all(texts: Sequence[str]) -> list[str]:
    return [readable(text) for text in texts]


def readable(path: str) -> str:
    """A path as text, whatever bytes its name has."""
    return plain(path.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def _some(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(_all(paths)[:SHOWN]) + more
