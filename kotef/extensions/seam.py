"""The seam for extensions: what a package implements for each kind, and what it is given to work with."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel

from kotef.checks.projects import DetectedCheck
from kotef.checks.types import CommandResult
from kotef.fixers import Complaint, FixProposal, Project, PythonText
from kotef.shell import Ruling
from kotef.source import SourceEdit
from kotef.tools.errors import ToolFault
from kotef.tools.files import write_file
from kotef.tools.guard import FileGuard
from kotef.tools.shell import refuse
from kotef.tools.workspace_files import locate, read_text

__all__ = [
    "SEAM",
    "CheckExtension",
    "CoderExtension",
    "CoderTask",
    "CommandOutput",
    "Complaint",
    "DetectedCheck",
    "ExtensionWorkspace",
    "FixProposal",
    "FixerExtension",
    "GuardExtension",
    "GuardedCall",
    "Project",
    "ProjectFiles",
    "PythonText",
    "RefusalError",
    "SourceEdit",
    "ToolExtension",
]

SEAM: Final = 1
"""The version of this seam. An extension has `seam = 1`; it is raised when an extension would have to change."""

Run = Callable[[str, float | None], Awaitable[CommandResult]]
"""Runs a command line in the sandbox of the run, with a timeout in seconds or the run's own."""


class RefusalError(Exception):
    """Something cannot be done; the message says why.

    `write` and `run` raise it, and an extension may: a model reads it as the answer of a tool, and a person as the
    reason why a coder found nothing. It does not count as a failure of the extension.
    """


class CommandOutput(NamedTuple):
    """What a command did."""

    exit_code: int | None
    """Exit status, 0-255; None when a time limit ended it; negative N: killed by signal N."""
    output: str
    """stdout and stderr, as UTF-8, head and tail if they are long."""


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """The files of the workspace, to be read: nothing outside of it, no secrets, and no link is followed out of it."""

    root: Path

    def exists(self, path: str) -> bool:
        """Whether there is such a file, or folder."""
        return self.size(path) is not None

    def size(self, path: str) -> int | None:
        """Bytes of a file; None where there is none that may be read."""
        try:
            return locate(self.root, path).real.lstat().st_size
        except (ToolFault, OSError):
            return None

    def read(self, path: str) -> str | None:
        """The text of a file, with plain line ends; None where there is no text that may be read."""
        try:
            return read_text(self.root, locate(self.root, path)).plain
        except ToolFault:
            return None


class ExtensionWorkspace:
    """The workspace, to be read and changed as a run may change it: by `write` and `run` alone."""

    def __init__(self, root: Path, guard: FileGuard, *, wrote: Callable[[str, str], None], run: Run) -> None:
        """`wrote` is told the path and the diff of each file that was written."""
        self.files = ProjectFiles(root)
        self.root = root
        self._guard, self._wrote, self._run = guard, wrote, run

    def write(self, path: str, text: str) -> None:
        """Write a whole file. Raises RefusalError for a protected file, and for one outside of the workspace."""
        try:
            written = write_file(self.root, path, text, guard=self._guard)
        except ToolFault as fault:
            raise RefusalError(fault.message) from fault
        self._wrote(written.path, written.diff)

    async def run(self, command: str, timeout: float | None = None) -> CommandOutput:
        """Run a command line from the root of the workspace, in the sandbox; RefusalError where it may not run."""
        result = await self._run(command, timeout)
        return CommandOutput(result.exit_code, "\n".join(text for text in (result.stdout, result.stderr) if text))


def ruled(run: Run, rule: Callable[[str], Ruling], lock: asyncio.Lock) -> Run:
    """The same, for command lines that the policy of the run allows, one at a time."""

    async def run_ruled(command: str, timeout: float | None) -> CommandResult:
        try:
            refuse(command, rule(command))
        except ToolFault as fault:
            raise RefusalError(fault.message) from fault
        async with lock:
            return await run(command, timeout)

    return run_ruled


@dataclass(frozen=True, slots=True)
class _NoEdits:
    """A guard that lets nothing be edited."""

    why: str

    def may_edit(self, path: str) -> str | None:
        """Never."""
        return f"{path} is not written: {self.why}"


def unchanging(root: Path, why: str) -> ExtensionWorkspace:
    """A workspace in which nothing can be changed, for this reason."""

    async def run(command: str, timeout: float | None) -> CommandResult:  # noqa: ARG001  as any command
        raise RefusalError(f"not run: {why}")

    return ExtensionWorkspace(root, _NoEdits(why), wrote=lambda _path, _diff: None, run=run)


@dataclass(frozen=True, slots=True)
class GuardedCall:
    """A tool call of a model that is about to be made."""

    tool: str
    arguments: Mapping[str, Any]
    """A copy: what a guard changes in it has no effect."""
    files: ProjectFiles


@dataclass(frozen=True, slots=True)
class CoderTask:
    """What a coder is asked in one visit."""

    goal: str
    steps: tuple[str, ...]
    """The plan of the visit."""
    failing: tuple[str, ...]
    """Command lines of the checks that fail."""
    summaries: tuple[str, ...]
    """One to three lines for each of them: what failed."""
    tests: tuple[str, ...]
    """Ids of failing tests, as far as they are known."""
    workspace: ExtensionWorkspace


ArgumentsT_contra = TypeVar("ArgumentsT_contra", bound=BaseModel, contravariant=True)


class ToolExtension(Protocol[ArgumentsT_contra]):
    """A tool for the model. Its name is that of the entry point, in the group `kotef.tools`."""

    @property
    def seam(self) -> int:
        """The version of the seam that the tool was written for, as a number."""
        ...

    @property
    def description(self) -> str:
        """What a model reads; it costs tokens with every request."""
        ...

    @property
    def arguments(self) -> type[BaseModel]:
        """The arguments, and what they may be."""
        ...

    @property
    def changes(self) -> bool:
        """Whether a call may change anything. A tool that changes nothing can neither write nor run commands."""
        ...

    async def call(self, workspace: ExtensionWorkspace, arguments: ArgumentsT_contra) -> str:
        """The answer to the model. A RefusalError is an answer, too."""
        ...


class GuardExtension(Protocol):
    """A guard of the model's tool calls, in the group `kotef.guards`. It can refuse a call, and do nothing else."""

    @property
    def seam(self) -> int:
        """The version of the seam that the guard was written for, as a number."""
        ...

    def refusal(self, call: GuardedCall) -> str:
        """Why this call may not be made, for the model to read; empty where the guard has nothing against it."""
        ...


class CheckExtension(Protocol):
    """Further checks for a workspace, in the group `kotef.checks`; those of the project stay as they are."""

    @property
    def seam(self) -> int:
        """The version of the seam that it was written for, as a number."""
        ...

    def checks(self, files: ProjectFiles) -> Iterable[DetectedCheck]:
        """The checks for this workspace; none where they do not concern it."""
        ...


class FixerExtension(Protocol):
    """A mechanical fix of Python code, in the group `kotef.fixers`."""

    @property
    def seam(self) -> int:
        """The version of the seam that the fixer was written for, as a number."""
        ...

    @property
    def errors(self) -> Collection[str]:
        """The exceptions it answers, by the name of their class."""
        ...

    def propose(self, complaint: Complaint, project: Project) -> Iterable[FixProposal]:
        """What would settle the complaint, best first; nothing when in doubt. Edits only what `project.editable` gives.

        A fix is kept only if the failing checks get better with it.
        """
        ...


class CoderExtension(Protocol):
    """A coder without a model, in the group `kotef.coders`. The name of the entry point is its name in `--coder`."""

    @property
    def seam(self) -> int:
        """The version of the seam that the coder was written for, as a number."""
        ...

    def declines(self, task: CoderTask) -> str:
        """Why it cannot help here, in one line; empty when it can. Changes nothing."""
        ...

    async def work(self, task: CoderTask) -> str:
        """Edit the workspace and say in one line what was done; the checks judge it."""
        ...
