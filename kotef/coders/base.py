"""The protocol of a coder: its brief and its result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from kotef.checks.verification import Verification
from kotef.context.seen_files import Files
from kotef.failures.history import FailureEntry
from kotef.failures.visit_history import Visit
from kotef.state import CoderTrial, Edits, Plan, Task, Usage
from kotef.tools.guard import FileGuard

NO_TIME: Final = "no time is left"
"""Why a coder declines if the run has too little time left."""


@dataclass(frozen=True, slots=True)
class Brief:
    """Everything one visit starts from: never the transcript of an earlier one."""

    task: Task
    plan: Plan
    failures: tuple[FailureEntry, ...]
    """The newest entries, newest last."""
    judged: Verification
    """The newest verification."""
    tree: str
    """The tree the visit starts from."""
    changed: tuple[str, ...]
    """Files this run has changed before this visit."""
    guard: FileGuard
    """Says which files the coder may not change; the verifier puts those back."""
    spent: Usage
    """Usage of the run so far; the visit's budget is what the limits leave."""
    tried: frozenset[CoderTrial] = frozenset()
    """Which coder was asked about which failure on which tree; none is asked the same again."""
    visits: Mapping[int, Visit] = field(default_factory=dict)
    """What each visit before this one changed, fixed and broke; 0 is the state before the run."""
    files: Files = field(default_factory=Files)
    """Files that models saw and changed in earlier visits."""
    hints: tuple[str, ...] = ()
    """What coders before this one learnt in this visit, one line each: suspicious lines, near misses."""
    model_follows: bool = False
    """Whether a coder with a model is asked next in the chain if this one changes nothing."""


@dataclass(frozen=True, slots=True)
class CoderResult:
    """One finished visit: the edits are on disk, the claims are unchecked."""

    edits: Edits
    usage: Usage = field(default_factory=Usage)
    found: bool = True
    """False if the coder left the tree unchanged, so that the next one works."""
    hints: tuple[str, ...] = ()
    """Hints for the next coder."""
    tried: frozenset[CoderTrial] = frozenset()
    """The trials of this visit."""


class Coder(Protocol):
    """Edits files until it believes the plan is done, within its budget; never judges itself."""

    @property
    def name(self) -> str:
        """The name in `--coder` and in the result: `fixers`, `search`, `model`, `aider`, `command`."""
        ...

    @property
    def uses_model(self) -> bool:
        """Whether a model drives it, kotef's or its own: it follows a plan, and may be asked the same again."""
        ...

    def declines(self, brief: Brief) -> str:
        """Why it cannot help here, in one line; empty if it can."""
        ...

    async def work(self, brief: Brief) -> CoderResult:
        """Edit the workspace. Problems inside the visit are `Edits.stopped_by`, not exceptions."""
        ...


def failure_key(judged: Verification) -> str:
    """The failure as a whole: the fingerprints of every check that is not satisfied, or `green`."""
    red = sorted({check.fingerprint for check in judged.checks if not (check.satisfied or check.advisory)})
    return "+".join(red) or "green"
