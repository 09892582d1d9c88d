"""Bodies of `kotef diff`, `apply` and `undo`: showing, applying or undoing the work of a run."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from kotef.cli.screen import console, plain, say_json
from kotef.cli.workspace_option import workspace_of
from kotef.errors import UsageError
from kotef.failures.plural import counted
from kotef.git import PatchChange, patch_changes
from kotef.runs import store
from kotef.runs.attempt_diff import RestoredFiles, apply, apply_saved, difference, undo
from kotef.runs.crash_recovery import put_right
from kotef.runs.store import RunDir

SHOWN = 20
"""Paths a message names."""


def diff_command(options: dict[str, Any]) -> int:
    """`kotef diff`; returns the exit status."""
    root, run = _run(options, newest=True)
    found = difference(root, run, options["attempt"])
    files = patch_changes(found.patch, found.store)
    if options["as_json"]:
        rows = [{"path": _readable(file.path), "added": file.added, "removed": file.removed} for file in files]
        text = found.patch.decode("utf-8", "replace")
        say_json({"runId": run.run_id, "attempt": found.attempt, "files": rows, "patch": text})
    elif options["stat"]:
        for line in _stat(files):
            console().print(line)
    elif sys.stdout.isatty():
        _show(found.patch)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(found.patch)
        sys.stdout.buffer.flush()
    return 0


def apply_command(options: dict[str, Any]) -> int:
    """`kotef apply`; returns the exit status."""
    attempt, saved = options["attempt"], options["saved"]
    if attempt is not None and saved is not None:
        raise UsageError(f"--attempt {attempt} and --saved {saved} exclude each other", hint="give one of them")
    root, run = _run(options)
    if saved is not None:
        placed = apply_saved(root, run, saved, force=options["force"])
        return _say(run, placed, f"the state saved as {saved}", as_json=options["as_json"])
    if attempt is None:
        raise UsageError("which attempt?", hint="--attempt N, or --saved K; `kotef show` lists the attempts of a run")
    placed = apply(root, run, attempt, force=options["force"])
    return _say(run, placed, f"attempt {attempt} of run {run.run_id}", as_json=options["as_json"])


def undo_command(options: dict[str, Any]) -> int:
    """`kotef undo`; returns the exit status."""
    root, run = _run(options, newest=True)
    run.must_be_own("undo")
    placed = undo(root, run, force=options["force"])
    return _say(run, placed, f"the state before run {run.run_id}", as_json=options["as_json"])


def _run(options: dict[str, Any], *, newest: bool = False) -> tuple[Path, RunDir]:
    """The workspace and the run that is meant; without a name only where `newest` says so."""
    if options["run_id"] and options["last"]:
        raise UsageError(f"both {options['run_id']} and --last", hint="name one run")
    if not (options["run_id"] or options["last"] or newest):
        raise UsageError("which run?", hint="name one of `kotef runs`, or pass --last")
    root = workspace_of(options["root"])
    run = store.find(root, options["run_id"])
    if not newest:
        run.must_be_own("apply or undo")
    for line in put_right(root):
        sys.stderr.write(f"kotef: note: {plain(line)}\n")
    return root, run


def _say(run: RunDir, placed: RestoredFiles, what: str, *, as_json: bool) -> int:
    back = f"kotef apply {run.run_id} --saved {placed.saved}" if placed.saved else None
    if as_json:
        paths = {"putBack": _all(placed.put_back), "broughtBack": _all(placed.brought_back)}
        say_json({"runId": run.run_id, **paths, "saved": placed.saved, "back": back, "notices": _all(placed.notices)})
        return 0
    screen = console()
    for notice in placed.notices:
        screen.print(f"note: {plain(notice)}", style="yellow")
    if placed.brought_back:
        screen.print(f"brought back: {_some(placed.brought_back)}")
    if back:
        screen.print(f"{what} is in place: {_some(placed.put_back)}")
        screen.print(f"way back: {back}")
    elif not placed.brought_back:
        screen.print(f"nothing to do: {what} is in place already")
    return 0


def _stat(files: Sequence[PatchChange]) -> list[str]:
    """One line for each file and one for all."""
    wide = max((len(_readable(file.path)) for file in files), default=0)
    lines = [
        f" {_readable(file.path):<{wide}} | " + ("binary" if file.added is None else f"+{file.added} -{file.removed}")
        for file in files
    ]
    added, removed = sum(file.added or 0 for file in files), sum(file.removed or 0 for file in files)
    return [*lines, f" {counted(len(files), 'file')} changed, +{added} -{removed}"]


def _show(patch: bytes) -> None:
    """The patch on a terminal: coloured, and without what could steer it."""
    styles = {"+": "green", "-": "red", "@": "cyan"}
    screen = console()
    for line in plain(patch.decode("utf-8", "replace")).split("\n")[:-1]:
        head = line.startswith(("diff --git ", "--- ", "+++ "))
        screen.print(Text(line, style="bold" if head else styles.get(line[:1], "")))


def _all(texts: Sequence[str]) -> list[str]:
    return [_readable(text) for text in texts]


def _readable(path: str) -> str:
    """A path as text, whatever bytes its name has."""
    return plain(path.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def _some(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(_all(paths)[:SHOWN]) + more
