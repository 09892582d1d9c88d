"""Changes since the run began, or since a commit."""

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kotef.errors import WorkspaceError
from kotef.files import resolve_inside
from kotef.git import git, inspect, run_git
from kotef.redaction import redactor
from kotef.tools.errors import ToolFault
from kotef.tools.text import clip_line
from kotef.tools.truncated_output import Keep, clip_kept
from kotef.tools.workspace_files import RUNS, locate
from kotef.workspace import Snapshots

MAX_DIFF: Final = 16_000
"""Characters of one diff."""
MAX_NAMES: Final = 100
"""Files that are listed, or shown in one diff."""
_WIDTH: Final = 500
_OWN: Final = (RUNS, ".sdd/issues.md")
_READABLE: Final = ("--no-color", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/")
_LITERAL: Final = {"GIT_LITERAL_PATHSPECS": "1"}


@dataclass(frozen=True, slots=True)
class RunStart:
    """The workspace as it was when the run began, the user's uncommitted work included."""

    snapshots: Snapshots
    tree: str

    def changes(self) -> tuple[str, dict[str, str]]:
        """The current tree, and the changes since the start: path → `A`, `M` or `D`."""
        now = self.snapshots.take()
        before, after = self.snapshots.paths(self.tree), self.snapshots.paths(now)
        changed = self.snapshots.changed(self.tree, now)
        letters = {(False, True): "A", (True, True): "M", (True, False): "D"}
        return now, {path: letters.get((path in before, path in after), "A") for path in changed}


def git_status(root: Path, start: RunStart) -> str:
    """Branch and uncommitted changes, if there is git, and changes since the run began. Read-only."""
    _, changed = start.changes()
    since = _listed([f"{kind}  {path}" for path, kind in sorted(changed.items())])
    lines = ["since the start of the run:", *(since or ["nothing has changed"])]
    facts = inspect(root)
    if not facts.is_repo:
        return "\n".join(["not a git repository; kotef's own snapshots show what has changed", *lines])
    place = f"branch {facts.branch}" if facts.branch else "detached HEAD"
    commit = f"commit {facts.head[:10]}" if facts.head else "no commit yet"
    uncommitted = _listed(_porcelain(root))
    return "\n".join([f"{place}, {commit}", "uncommitted:", *(uncommitted or ["nothing"]), *lines])


def git_diff(root: Path, start: RunStart, path: str = ".", base: str = "", *, keep: Keep | None = None) -> str:
    """A diff from the start of the run, or from the commit `base`, to the files as they are now. Read-only.

    `keep` takes the whole of one that is too long to be shown.

    Raises `ToolFault` for a commit that is not known, or asked for where there is no git.
    """
    below = locate(root, path).name
    if base:
        commit = _commit(root, base)
        names = git(["diff", "--name-only", "-z", "--no-renames", "--relative", commit], cwd=root, user_config=True)
        chosen, hidden = _shown(root, os.fsdecode(names).split("\0"), below)
        shown = git(["diff", *_READABLE, "--relative", commit, "--", *chosen], cwd=root, env=_LITERAL, user_config=True)
        since = f"commit {commit[:10]} (files that git does not track are not in it)"
    else:
        now, changed = start.changes()
        chosen, hidden = _shown(root, changed, below)
        places = {"GIT_DIR": str(start.snapshots.store), **_LITERAL}
        shown = git(["diff-tree", "-r", "-p", *_READABLE, start.tree, now, "--", *chosen], cwd=root, env=places)
        since = "the start of the run (kotef's own snapshot)"
    where = "" if below == "." else f" in {below}"
    if not chosen:
        return "\n".join([f"nothing has changed{where} since {since}", *hidden])
    lines = (clip_line(line, _WIDTH) for line in redactor().content(shown).decode("utf-8", "replace").split("\n"))
    diff = clip_kept("\n".join(lines).rstrip(), MAX_DIFF, keep)
    return "\n".join([f"changes{where} since {since}:", diff, *hidden])


def _commit(root: Path, base: str) -> str:
    """The full id of a commit. It is not an option, whatever it looks like."""
    found = run_git(
        ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}"], cwd=root, user_config=True
    )
    if not found.returncode:
        return found.stdout.decode().strip()
    if not inspect(root).is_repo:
        raise ToolFault("exec_error", "no git repository here; leave base out to see what the run has changed")
    raise ToolFault("exec_error", f"no such commit: {base[:80]}; leave base out for the start of the run")


def _porcelain(root: Path) -> list[str]:
    """Changes from HEAD with the marks of `git status`; names relative to the workspace."""
    prefix = os.fsdecode(git(["rev-parse", "--show-prefix"], cwd=root, user_config=True)).strip("\n")
    excluded = [f":(exclude){path}" for path in _OWN]
    status = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--", ".", *excluded]
    entries = os.fsdecode(git(status, cwd=root, user_config=True)).split("\0")
    return [f"{entry[:2]} {entry[3:].removeprefix(prefix)}" for entry in entries if entry]


def _shown(root: Path, names: Collection[str], below: str) -> tuple[list[str], list[str]]:
    """The files shown of a diff, sorted, and notes on the others."""
    meant = [
        name
        for name in sorted(filter(None, names))
        if below in {".", name} or name.startswith(f"{below}/")
        if not any(name == own or name.startswith(f"{own}/") for own in _OWN)
    ]
    readable = [name for name in meant if _may_read(root, name)]
    notes = (
        [f"[{len(meant) - len(readable)} that may hold secrets are not shown]"] if len(readable) < len(meant) else []
    )
    if len(readable) > MAX_NAMES:
        notes.append(f"[{len(readable) - MAX_NAMES} more files; name a path]")
    return readable[:MAX_NAMES], notes


def _may_read(root: Path, name: str) -> bool:
    try:
        resolve_inside(root, name, write=False)
    except WorkspaceError:
        return False
    return True


def _listed(lines: Sequence[str]) -> list[str]:
    more = [f"[{len(lines) - MAX_NAMES} more]"] if len(lines) > MAX_NAMES else []
    shown = (line.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for line in lines[:MAX_NAMES])
    return [*(clip_line(line, _WIDTH) for line in shown), *more]
