"""Types of the fixers' inputs and results."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from kotef.fixers.complaints import Complaint
from kotef.fixers.symbol_index import Project
from kotef.source import SourceEdit


@dataclass(frozen=True, slots=True)
class FailingCheck:
    """One failing check."""

    command: str
    """The command as run, from the workspace root."""
    output: str
    """stdout and stderr, bounded."""
    kind: str
    """A `FailureKind`."""
    detail: str
    """The machine word beside the kind."""


@dataclass(frozen=True, slots=True)
class Fix:
    """One readable step, unverified; every file in it compiles."""

    fixer: str
    """Names of the rows that made it, `+` between them."""
    files: dict[str, bytes]
    """Workspace-relative path → whole new content, byte for byte as it was apart from the edit."""
    rationale: str
    """One line, from `path:line` on."""
    evidence: str
    """The line of the output that called for it."""


@dataclass(frozen=True, slots=True)
class FixProposal:
    """What one fixer answers, not yet looked at by anybody."""

    edits: tuple[SourceEdit, ...]
    rationale: str
    """One line, from `path:line` on."""


class FixRule(Protocol):
    """A pure function from one complaint to what would settle it, best first; nothing when in doubt."""

    def __call__(self, complaint: Complaint, project: Project) -> Iterator[FixProposal]:
        """Yield proposals; edit only what `project.editable` gives."""
        ...


class Fixer(NamedTuple):
    """One row of the table."""

    name: str
    errors: frozenset[str]
    """The exceptions it answers."""
    answer: FixRule
    source: str
    """Where its rule is written down."""
