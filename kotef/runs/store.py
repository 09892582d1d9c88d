"""Where is a run kept, and which runs are there?"""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from kotef.deps import CHECKPOINTS
from kotef.errors import UsageError
from kotef.runs.result import Result
from kotef.state import SCHEMA_VERSION, Task
from kotef.workspace.git import run_git
from kotef.workspace.paths import os_fault, write_atomic


@dataclass(frozen=True, slots=True)
class RunDir:
    """`.sdd/runs/<run-id>` and the files in it."""

    path: Path

    @property
    def run_id(self) -> str:
        """The name of the directory."""
        return self.path.name

    @property
    def events(self) -> Path:
        """One JSON object a line."""
        return self.path / "events.jsonl"

    @property
    def logs(self) -> Path:
        """Full outputs of commands."""
        return self.path / "logs"

    @property
    def checkpoints(self) -> Path:
        """The graph's SQLite file."""
        return self.path / CHECKPOINTS

    def create(self) -> None:
        """Make the directory; a `.gitignore` of its own keeps `runs/` out of the user's git status.

        Raises NoSpaceError, WorkspaceError.
        """
        try:
            self.logs.mkdir(parents=True)
            ignore = self.path.parent / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n")
        except OSError as error:
            hint = "kotef keeps its runs there; make the directory writable"
            raise os_fault(self.path, error, hint=hint) from error

    def stand(self) -> None:
        """Make the directory anew where an unconfined command has deleted it; what was in it is lost."""
        with suppress(OSError):  # whoever writes there says what is wrong
            self.logs.mkdir(parents=True, exist_ok=True)
            (self.path.parent / ".gitignore").write_text("*\n")

    def task(self) -> Task | None:
        """The task as it was when the run started; None when the run died before it was written.

        UsageError where it cannot be read, or speaks of things that only a newer kotef knows.
        """
        file = self.path / "task.json"
        if not file.exists():
            return None
        try:
            task = Task.model_validate_json(file.read_bytes())
        except ValidationError as error:
            raise self._unreadable(file.name, str(error.errors(include_url=False)[0]["msg"])) from error
        if task.schema_version != SCHEMA_VERSION:
            made = f"it has schema {task.schema_version}, and this kotef reads {SCHEMA_VERSION}"
            raise self._unreadable(file.name, f"{made} (it was begun by kotef {task.kotef_version or 'unknown'})")
        return task

    def write_task(self, task: Task) -> None:
        """Keep the task, so that a run killed before its first checkpoint can be resumed as well."""
        write_atomic(self.path / "task.json", task.model_dump_json(indent=1).encode())

    def result(self) -> Result | None:
        """How the run ended; None while it has not (or was killed). UsageError where it cannot be read."""
        file = self.path / "result.json"
        try:
            return Result.model_validate_json(file.read_bytes()) if file.exists() else None
        except ValidationError as error:
            raise self._unreadable(file.name, str(error.errors(include_url=False)[0]["msg"])) from error

    def _unreadable(self, name: str, why: str) -> UsageError:
        hint = "nothing was changed; use the kotef that began it, or start a new run with `kotef run`"
        return UsageError(f"{name} of run {self.run_id} cannot be read: {why}", hint=hint)

    def forget_result(self) -> None:
        """A run that goes on has not ended."""
        (self.path / "result.json").unlink(missing_ok=True)

    def write_result(self, result: Result) -> None:
        """`result.json`, whole or not at all."""
        self.path.mkdir(parents=True, exist_ok=True)  # an unconfined command may have deleted it
        write_atomic(self.path / "result.json", result.model_dump_json(by_alias=True, indent=2).encode() + b"\n")


def runs_dir(root: Path) -> Path:
    """Where a workspace keeps its runs."""
    return root / ".sdd" / "runs"


def uncommitted(root: Path) -> bool:
    """Whether the workspace differs from its HEAD by more than what kotef itself leaves there."""
    own = (":(exclude).sdd/runs", ":(exclude).sdd/issues.md")
    status = ["status", "--porcelain", "-z", "--untracked-files=normal", "--", ".", *own]
    return bool(run_git(status, cwd=root, user_config=True).stdout)


def new(root: Path) -> RunDir:
    """A run directory yet to be made, with a sortable id: UTC time, its last four hex digits parts of the second."""
    now = time.time()
    run_id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}-{int(now % 1 * 0x10000):04x}"
    return RunDir(runs_dir(root) / run_id)


def every(root: Path) -> Iterator[RunDir]:
    """The runs of a workspace, oldest first."""
    place = runs_dir(root)
    if place.is_dir():
        yield from (RunDir(path) for path in sorted(place.iterdir()) if path.is_dir())


def find(root: Path, wanted: str | None) -> RunDir:
    """The run with this id (or a unique beginning of it); the newest when `wanted` is None."""
    runs = list(every(root))
    if not runs:
        raise UsageError(f"no run in {runs_dir(root)}", hint="start one with `kotef run`")
    if wanted is None:
        return runs[-1]
    matching = [run for run in runs if run.run_id == wanted] or [run for run in runs if run.run_id.startswith(wanted)]
    if len(matching) != 1:
        problem = "no run is called" if not matching else f"{len(matching)} runs begin with"
        raise UsageError(f"{problem} {wanted}", hint="`kotef runs` lists them")
    return matching[0]
