"""The model of the report page: everything it shows."""

from dataclasses import dataclass
from typing import Literal

from kotef.checks.verification import CheckVerdict, Verification
from kotef.report.diffs import FileDiff
from kotef.report.guards import GuardReport
from kotef.report.test_matrix import Matrix
from kotef.report.timeline import VisitRecord
from kotef.runs.result import ResultDone, ResultEdit

Tone = Literal["good", "bad", "working"]


@dataclass(frozen=True, slots=True)
class UnsatisfiedCheck:
    """An unsatisfied check, with the part of its output that shows it."""

    check: CheckVerdict
    log: str
    """An excerpt."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One visit as shown; 0 is the state before the run."""

    visit: int
    record: VisitRecord
    judged: Verification | None
    status: str
    """`verified`, `failed`, `red`, `green`, `not judged`, `at work`."""
    failed: tuple[UnsatisfiedCheck, ...]
    diff: tuple[FileDiff, ...]
    patch: str
    """The name of its file; empty without one."""
    put_back: tuple[FileDiff, ...]
    """The files that were put back before judging."""

    @property
    def seconds(self) -> float:
        """At work on it."""
        return sum(self.record.seconds.values())

    @property
    def stopping(self) -> tuple[GuardReport, ...]:
        """Guards that ended it."""
        return tuple(guard for guard in self.record.guards if guard.level == "stop")


@dataclass(frozen=True, slots=True)
class ModelUsageRow:
    """All answers of one model in one role."""

    node: str
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    cost: float
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Way:
    """A next step for a person, with its command."""

    why: str
    command: str


@dataclass(frozen=True, slots=True)
class Page:
    """Everything the page shows."""

    run_id: str
    tone: Tone
    outcome: str
    """The outcome of `result.json`; `at work` or `killed` without one."""
    sentence: str
    goal: str
    ticket: str
    checks: tuple[str, ...]
    coder: str
    model: str
    extensions: str
    """Kind, name and distribution of each; empty without any."""
    sandbox: str
    exit_code: int | None
    attempts: tuple[Attempt, ...]
    max_attempts: int
    spent: int
    """Attempts that failed."""
    matrix: Matrix
    done: tuple[ResultDone, ...]
    asked: tuple[ModelUsageRow, ...]
    drifts: tuple[GuardReport, ...]
    ways: tuple[Way, ...]
    entry: str
    """Where the issue entry stands; empty without one."""
    edit: ResultEdit | None
    notices: tuple[str, ...]
    seconds: float
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    cost: float | None
    """None if a price is not known."""
    estimated: bool
    doing: str
    """What the run is doing, while at work."""
    began: float | None
    written: float
    """Seconds since 1970."""
    version: str
    files: tuple[str, ...]
    """Other files of the run's directory."""
