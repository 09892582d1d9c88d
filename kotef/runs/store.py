"""The runs of a workspace: their state, outside the tree, and the record of each for people and CI.

What kotef acts on (task, checkpoints, visits, marks, effects) is in the state directory, where neither a repository nor
a command can write. `.sdd/runs/<run-id>` is a record: kotef writes and shows it, but never acts on it. A run of which
only the record exists can be shown, reported and replayed, nothing else.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from kotef.deps import CHECKPOINTS
from kotef.errors import UsageError
from kotef.files import facts_within, os_fault, state_dir, write_atomic
from kotef.git import run_git
from kotef.runs.public_record import RECORDS, copy_record, foreign_records
from kotef.runs.result import Result
from kotef.state import SCHEMA_VERSION, Task


@dataclass(frozen=True, slots=True)
class RunDir:
    """One run and its files."""

    path: Path
    """Its state, below the state directory; for a foreign record a private copy of the record."""
    record: Path
    """`.sdd/runs/<run-id>` in the workspace, absolute; only `kotef.runs.public_record` opens it."""
    is_foreign: bool = False
    """Whether only the record below `.sdd/runs` exists, which anyone may have written."""

    @property
    def run_id(self) -> str:
        """The name of both directories."""
        return self.record.name

    @property
    def shown(self) -> str:
        """The path of the record as messages show it, relative to the workspace."""
        return f"{RECORDS}/{self.run_id}"

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
        """Make the state directory of a new run. Raises NoSpaceError, WorkspaceError."""
        try:
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
            self.path.mkdir(mode=0o700)
            self.logs.mkdir()
        except OSError as error:
            raise os_fault(self.path, error, hint="kotef keeps the state of its runs there") from error

    def must_be_own(self, what: str) -> None:
        """UsageError if only the record of this run exists; `what` is the verb that needs its state."""
        if self.is_foreign:
            problem = f"{self.shown} is a record of unknown origin, and kotef does not {what} such a run"
            hint = "use `kotef show` or `kotef replay`; `kotef resume --from FILE` continues an exported run"
            raise UsageError(problem, hint=hint)

    def task(self) -> Task | None:
        """The task as it was when the run started; None if the run crashed before it was written.

        UsageError if it cannot be read, or speaks of things that only a newer kotef knows. One of an older schema is
        returned: its run can be shown and taken back, see `resume_compatibility` for what it cannot.
        """
        file = self.path / "task.json"
        if not file.exists():
            return None
        try:
            task = Task.model_validate_json(file.read_bytes())
        except ValidationError as error:
            raise self._unreadable(file.name, str(error.errors(include_url=False)[0]["msg"])) from error
        if task.schema_version > SCHEMA_VERSION:
            made = f"it has schema {task.schema_version}, and this kotef reads up to {SCHEMA_VERSION}"
            raise self._unreadable(file.name, f"{made} (it was started by kotef {task.kotef_version or 'unknown'})")
        return task

    def write_task(self, task: Task) -> None:
        """Keep the task, so that a run killed before its first checkpoint can be resumed as well."""
        write_atomic(self.path / "task.json", task.model_dump_json(indent=1).encode())

    def result(self) -> Result | None:
        """How the run ended; None while it has not (or was killed). UsageError if it cannot be read."""
        file = self.path / "result.json"
        try:
            return Result.model_validate_json(file.read_bytes()) if file.exists() else None
        except ValidationError as error:
            raise self._unreadable(file.name, str(error.errors(include_url=False)[0]["msg"])) from error

    def _unreadable(self, name: str, why: str) -> UsageError:
        hint = "nothing was changed; use the version that started it, or start a new run with `kotef run`"
        return UsageError(f"{name} of run {self.run_id} cannot be read: {why}", hint=hint)

    def forget_result(self) -> None:
        """Delete the result of a run that continues."""
        (self.path / "result.json").unlink(missing_ok=True)

    def write_result(self, result: Result) -> None:
        """Write `result.json` atomically."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)  # an unconfined command may have deleted it
        write_atomic(self.path / "result.json", result.model_dump_json(by_alias=True, indent=2).encode() + b"\n")


def runs_dir(root: Path) -> Path:
    """Where the state of the workspace's runs is kept."""
    return state_dir(root) / "runs"


def at(root: Path, run_id: str) -> RunDir:
    """The run with this id in a workspace; it need not exist yet."""
    return RunDir(runs_dir(root) / run_id, root / RECORDS / run_id)


def uncommitted(root: Path, *, sdd: bool = False) -> bool:
    """Whether the workspace differs from its HEAD by more than `.sdd`, which no check judges, and environments.

    An installed environment that no one told git to ignore is not work. With `sdd` it counts, and so do the spec and
    tickets; what a run itself leaves in `.sdd` never does.
    """
    own = (":(exclude).sdd/runs", ":(exclude).sdd/issues.md") if sdd else (":(exclude).sdd",)
    status = ["status", "--porcelain", "-z", "--untracked-files=normal", "--", ".", *own]
    entries = filter(None, run_git(status, cwd=root, user_config=True).stdout.decode("utf-8", "replace").split("\0"))
    return any(sdd or not _is_environment(root, entry) for entry in entries)


def _is_environment(root: Path, entry: str) -> bool:
    """Whether an entry of git's status is a new folder that Python's venv or npm has made."""
    new, path = entry.startswith("?? ") and entry.endswith("/"), entry[3:]
    return new and (path.endswith("node_modules/") or facts_within(root, f"{path}pyvenv.cfg") is not None)


def changed_paths(root: Path) -> tuple[str, ...]:
    """The paths that differ from HEAD or are new; empty outside of a repository."""
    status = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--", ".", ":(exclude).sdd"]
    entries = run_git(status, cwd=root, user_config=True).stdout.decode("utf-8", "replace").split("\0")
    return tuple(entry[3:] for entry in entries if entry)


def new(root: Path) -> RunDir:
    """A run directory yet to be made, with a sortable id: UTC time, its last four hex digits parts of the second."""
    now = time.time()
    run_id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}-{int(now % 1 * 0x10000):04x}"
    return at(root, run_id)


def own_runs(root: Path) -> Iterator[RunDir]:
    """The runs whose state is in the state directory, oldest first."""
    place = runs_dir(root)
    if place.is_dir():
        yield from (at(root, path.name) for path in sorted(place.iterdir()) if path.is_dir())


def every(root: Path) -> list[RunDir]:
    """The runs of a workspace, and foreign records below `.sdd/runs` with the files of a list; oldest first.

    UsageError if `.sdd`, `.sdd/runs` or a run in it is a link.
    """
    own = list(own_runs(root))
    foreign = foreign_records(root, known={run.run_id for run in own})
    copies = (_copied(root, name, whole=False) for name in foreign)
    return sorted((*own, *copies), key=lambda run: run.run_id)


def find(root: Path, wanted: str | None) -> RunDir:
    """The run with this id (or a unique prefix of it); the newest when `wanted` is None.

    The newest is one with its state here, if there is any, so that a repository cannot ship a record with a late date
    for `--last` to pick. UsageError if there is no such run, or if it is a link.
    """
    own = list(own_runs(root))
    if wanted is None and own:
        return own[-1]
    names = {run.run_id for run in own}
    foreign = foreign_records(root, known=names)
    if not (names or foreign):
        raise UsageError(f"no runs in {root}", hint="start one with `kotef run`")
    if wanted is None:
        return _copied(root, max(foreign))
    known = sorted((*names, *foreign))
    matching = [name for name in known if name == wanted] or [name for name in known if name.startswith(wanted)]
    if len(matching) != 1:
        problem = "no run is named" if not matching else f"{len(matching)} runs begin with"
        raise UsageError(f"{problem} {wanted}", hint="`kotef runs` lists them")
    return at(root, matching[0]) if matching[0] in names else _copied(root, matching[0])


def _copied(root: Path, run_id: str, *, whole: bool = True) -> RunDir:
    return RunDir(copy_record(root, run_id, whole=whole), root / RECORDS / run_id, is_foreign=True)
