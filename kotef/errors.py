"""Errors that kotef raises on purpose, and who must act on each.

* KotefError                 exit status 1   a defect in kotef itself
  x UsageError               2   an option or argument cannot be used as it stands
  x SpecError                2   .sdd/ is missing, unreadable or contradicts itself
  x BusyError                2   another run works in this workspace
  x ModelError               7   the endpoint refused, timed out, or kept returning invalid responses
    x ContextOverflowError   7   the conversation is larger than the model's context window
  x WorkspaceError           5   a path left the workspace, or a file cannot be read or written
    x NoSpaceError           5   the disk (or a quota) is full
  x CheckError               5   a verification command could not be started at all
    x NoChecksError          5   no check was found
  x SandboxError             5   the requested sandbox is not available
  x SetupError               5   a command of `[setup]` failed
  x ExtensionError           5   an extension cannot be used: a defect of its distribution, not of kotef
  x QuitError                130 a person ends the run at a question; a run makes the outcome `interrupted` of it

3, 4, 6 and 129/130/143 are not errors but outcomes of a run that stopped and said why.
A *failing* test is not an error: it is a `FailureEntry` in the state.
"""

import errno
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

INTERRUPTED: Final = 130
"""Exit status after Ctrl-C, or if a person quits at a question; as in a shell: 128 plus SIGINT."""

ModelFault = Literal[
    "call_time",
    "unreachable",
    "timeout",
    "silent",
    "unauthorized",
    "rate_limited",
    "server_error",
    "bad_request",
    "nonsense",
    "truncated",
]
"""Why an endpoint failed, in the words of the result file."""


class KotefError(Exception):
    """An error that ends the command; its message is one line that names the culprit and the way out."""

    exit_code: ClassVar[int] = 1


class UsageError(KotefError):
    """The command line cannot be carried out."""

    exit_code = 2

    def __init__(self, problem: str, *, hint: str = "") -> None:
        super().__init__(f"{problem} ({hint})" if hint else problem)


class SpecError(KotefError):
    """The specification cannot be used as it stands."""

    exit_code = 2

    def __init__(self, path: Path | str, problem: str, *, hint: str) -> None:
        super().__init__(f"{path}: {problem} ({hint})")
        self.path = path


class BusyError(KotefError):
    """Another run holds this workspace."""

    exit_code = 2

    def __init__(self, root: Path, *, pid: int | None, run: str | None) -> None:
        who = f"run {run or 'unknown'} (pid {pid or 'unknown'})"
        super().__init__(f"{root}: {who} is working here; wait for it, or stop it with `kill {pid or 'PID'}`")
        self.pid, self.run = pid, run


class ModelError(KotefError):
    """The model endpoint failed, retries included."""

    exit_code = 7

    def __init__(self, fault: ModelFault, detail: str, *, endpoint: str = "", hint: str = "") -> None:
        at = f" at {endpoint}" if endpoint else ""
        super().__init__(f"model endpoint{at}: {detail}" + (f" ({hint})" if hint else ""))
        self.fault: ModelFault = fault
        self.tries = 1
        """HTTP requests that were made."""
        self.lost = 0
        """Those of them that failed while the endpoint was at work, and may have to be paid for."""
        self.paid: tuple[Any, ...] = ()
        """Answers that came before it, in the same question."""
        self.unlisted = False
        """The endpoint is there, but has no list of models."""


class ContextOverflowError(ModelError):
    """The request is longer than the model's context window; sending it again unchanged is pointless."""

    def __init__(self, detail: str, *, endpoint: str = "") -> None:
        super().__init__("bad_request", detail, endpoint=endpoint, hint="context window exceeded")


class WorkspaceError(KotefError):
    """A file of the workspace (or of kotef's own state) cannot be read or written, or a path leaves it."""

    exit_code = 5

    def __init__(self, path: Path | str, problem: str, *, hint: str = "") -> None:
        super().__init__(f"{path}: {problem}" + (f" ({hint})" if hint else ""))
        self.path = path


class NoSpaceError(WorkspaceError):
    """The disk is full: the only remedy is a person's."""

    ERRNOS: ClassVar[frozenset[int]] = frozenset({errno.ENOSPC, errno.EDQUOT})
    """The error numbers of the operating system."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(
            path, "no space left on device", hint="free some space; `kotef runs` lists runs that can continue"
        )


class CheckError(KotefError):
    """A check command could not be started at all."""

    exit_code = 5

    def __init__(self, command: str, problem: str, *, hint: str) -> None:
        super().__init__(f"{command}: {problem} ({hint})")


class NoChecksError(CheckError):
    """No check can distinguish success from failure."""

    def __init__(self, root: Path) -> None:
        hint = "name one with --check, or in .sdd/kotef.toml"
        super().__init__(str(root), "no check is named or found here", hint=hint)


class NoEnvironmentError(CheckError):
    """The checks that were found cannot be started: what they run in is not installed."""

    def __init__(self, problem: str) -> None:
        super().__init__("environment", problem, hint="`kotef doctor` shows each check")


class SandboxError(KotefError):
    """Commands cannot be confined as they have to be; nothing is run unconfined instead."""

    exit_code = 5

    def __init__(self, wanted: str, problem: str, *, hint: str) -> None:
        super().__init__(f"--sandbox {wanted}: {problem} ({hint})")


class SetupError(KotefError):
    """A `[setup]` command failed, so checks would only fail too."""

    exit_code = 5

    def __init__(self, command: str, problem: str, *, hint: str) -> None:
        super().__init__(f"[setup] {command}: {problem} ({hint})")


class QuitError(KotefError):
    """A person chose to quit at a question."""

    exit_code = INTERRUPTED

    def __init__(self, at: str) -> None:
        super().__init__(f"a person quit at {at}, before its edits; a resume asks again")


class ExtensionError(KotefError):
    """An extension that another distribution provides cannot be used, or failed."""

    exit_code = 5

    def __init__(self, title: str, problem: str, *, name: str) -> None:
        super().__init__(f"the {title} {problem} (KOTEF_DISABLE_EXTENSIONS={name} switches it off)")
        self.name = name
