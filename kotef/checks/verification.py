"""What is known about one tree after every check has judged it?"""

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from kotef.checks.model import Evidence, Role, TestStatus
from kotef.failures.history import MAX_SUMMARY, FailureKind

MAX_RED: Final = 200
"""Failing ids one check verdict keeps; `Verification.tests` has them all."""


class CheckVerdict(BaseModel):
    """What one check says about one tree.

    Source: `judge`, from a `CommandResult`; its heuristic fields (`kind`, `detail`, `summary`) may be wrong.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    command: str
    role: Role
    required: bool
    """As the check was asked for."""
    exit_code: int | None
    """As in `CommandResult`: None when our timeout ended it, negative N for signal N."""
    passed: bool
    """Exit status 0 and nothing that contradicts it."""
    satisfied: bool
    """Passed, or it failed only by tests that were red before the run and are nobody's target."""
    advisory: bool
    """Reported, never blocking: not required, or a detected lint or type check that was red before the run."""
    kind: FailureKind | None = None
    detail: str = ""
    summary: str = ""
    fingerprint: str = ""
    seconds: float = Field(default=0.0, ge=0)
    timed_out: bool = False
    evidence: Evidence = "exit"
    executed: int | None = None
    """Tests that really ran; None when the command tells no count."""
    red: tuple[str, ...] = Field(default=(), max_length=MAX_RED)
    """Keys of the failing tests, the newly failing first."""
    failing: tuple[str, ...] = ()
    """Names of failing tests to show, also where no report gives keys; see `CommandResult.failing`."""
    log: str | None = None


class Verification(BaseModel):
    """One tree, judged by every check.

    A *unit* is what can be red: a test, by its key in `tests`, or a check that names no failing test, by its name.
    """

    model_config = ConfigDict(frozen=True)

    visit: int = Field(ge=0)
    """The run of the coder this judges; 0 is the baseline."""
    tree: str
    passed: bool
    """At visit 0: everything required was green already."""
    detail: str = ""
    """Why not, first reason that applies: regression, red, tests_missing, no_proof_of_work, put_back_left,
    nothing_proves_the_goal; empty when passed."""
    summary: str = Field(default="", max_length=MAX_SUMMARY)
    """One to three lines."""
    checks: tuple[CheckVerdict, ...]
    tests: dict[str, TestStatus] = Field(default_factory=dict)
    """Every id of every report of a required check; as `check: id` where two checks report the same id."""
    targets: tuple[str, ...] = ()
    """Units red at the baseline that have to become green."""
    preexisting: tuple[str, ...] = ()
    """Units red at the baseline that nobody asked for; they do not block."""
    fixed: tuple[str, ...] = ()
    """Units red at the baseline and green now."""
    broken: tuple[str, ...] = ()
    """Units green (or skipped) at the baseline and red now."""
    missing: tuple[str, ...] = ()
    """Tests of the baseline that no report lists now, other than `removed`."""
    removed: tuple[str, ...] = ()
    """Tests gone from files that this run was allowed to edit; they do not block."""
    newly_skipped: tuple[str, ...] = ()
    """Tests that are skipped, or expected to fail, and were not at the baseline."""
    new_tests: tuple[str, ...] = ()
    """Tests that the baseline did not have and that ran now."""
    proved: tuple[str, ...] = ()
    """New tests that pass now and fail on the baseline's code."""
    put_back: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    """Protected files that somebody else changed: not put back, so nothing judged with them is trusted."""
    wrote: tuple[str, ...] = ()
    """Paths the checks themselves wrote at the baseline; the caller fills it in."""
    environment: str = ""
    """Detail of an environment fault of a required check, else empty."""
    seconds: float = Field(default=0.0, ge=0)

    @property
    def green(self) -> bool:
        """Every check that can block passed outright."""
        return all(check.passed for check in self.checks if not check.advisory)

    @property
    def executed(self) -> int:
        """Tests that really ran in the checks that can block, as far as known."""
        return sum(check.executed or 0 for check in self.checks if not check.advisory)


def rank(verification: Verification) -> tuple[bool, bool, int, int]:
    """Sort key of the best visit, best first: passed, all regressions known, fewest regressions, most fixed.

    Ties are the caller's, by the size of the diff.
    """
    unknown = bool(verification.missing) or any(check.timed_out and not check.advisory for check in verification.checks)
    regressions = len(verification.broken) + len(verification.newly_skipped)
    return (not verification.passed, unknown, regressions, -len(verification.fixed))
