"""The results of all checks on one tree."""

from collections.abc import Iterable
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from kotef.checks.probe import ProbeResult
from kotef.checks.types import RED, Evidence, TestStatus
from kotef.failures.history import MAX_SUMMARY, FailureKind
from kotef.failures.progress import compare
from kotef.shell import Role

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
    """Whether the check is required."""
    exit_code: int | None
    """See `CommandResult`: None if kotef's timeout ended it, negative N for signal N."""
    passed: bool
    """Exit status 0 and nothing that contradicts it."""
    satisfied: bool
    """Passed, or it failed only by tests that were red before the run and are no one's target."""
    advisory: bool
    """Reported, never blocking: not required, or a detected lint or type check that was red before the run."""
    kind: FailureKind | None = None
    detail: str = ""
    summary: str = ""
    fingerprint: str = ""
    seconds: float = Field(default=0.0, ge=0)
    timed_out: bool = False
    partial: bool = False
    """Only the tests red at the baseline were run: one that has to turn green is red still, and the whole takes long.
    Whether anything else broke is not known."""
    evidence: Evidence = "exit"
    executed: int | None = None
    """Tests that really ran; None when the command reports no count."""
    red: tuple[str, ...] = Field(default=(), max_length=MAX_RED)
    """Keys of the failing tests, the newly failing first."""
    failing: tuple[str, ...] = ()
    """Names of failing tests to show, also where no report gives keys; see `CommandResult.failing`."""
    failed: int | None = None
    """How many failed, all of them; None when nothing says so."""
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
    """Why not, first reason that applies: speaks_to_the_judge, steers_the_judge, judge_deaf, not_by_the_change,
    regression, flaky, red, tests_missing, no_proof_of_work, put_back_left, nothing_proves_the_goal; empty if passed."""
    summary: str = Field(default="", max_length=MAX_SUMMARY)
    """One to three lines."""
    progress: str = ""
    """What fails now compared with the attempt before: `2 of 5 still fail, none new`; empty when passed, and at the
    baseline. It is the last line of the summary."""
    checks: tuple[CheckVerdict, ...]
    tests: dict[str, TestStatus] = Field(default_factory=dict)
    """Every id of every report of a required check; as `check: id` where two checks report the same id."""
    targets: tuple[str, ...] = ()
    """Units red at the baseline that have to become green."""
    preexisting: tuple[str, ...] = ()
    """Units red at the baseline that no one asked for; they do not block."""
    fixed: tuple[str, ...] = ()
    """Units red at the baseline and green now."""
    broken: tuple[str, ...] = ()
    """Units green (or skipped) at the baseline and red now."""
    flaky: tuple[str, ...] = ()
    """Units that failed with the others and passed when run again alone. At the baseline they are pre-existing, and
    targets only where nothing else was named; later they are among `broken`, and the edit may leak state."""
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
    unproved: tuple[str, ...] | None = None
    """New tests that pass now and there as well, so that they prove nothing; None: they were not tried there."""
    put_back: tuple[str, ...] = ()
    """Protected files, tables of shared ones (`pyproject.toml [tool.pytest.ini_options]`), and new files that were set
    aside while the tests of the baseline were judged again."""
    left: tuple[str, ...] = ()
    """Protected files that someone else changed: not put back, so nothing judged with them is trusted."""
    wrote: tuple[str, ...] = ()
    """Paths the checks themselves wrote at the baseline; the caller fills it in."""
    absent: tuple[str, ...] = ()
    """Top-level Python modules that a check could not import at the baseline; the caller fills it in."""
    test_files: tuple[str, ...] = ()
    """Files that judge by what they hold and not by their names, at the baseline; the caller fills it in."""
    unheld: str = ""
    """Id, in the store of snapshots, of what none of them held when the baseline was judged; the caller fills it in."""
    probes: tuple[ProbeResult, ...] = ()
    """Results of the probes, made after the checks passed; the caller fills it in."""
    steering: str = ""
    """One line that names the new files that the checks read, where they may be why it is red; else empty."""
    doubts: tuple[str, ...] = ()
    """What the code of a green contains that may make its judge deaf, and that probes have to answer."""
    environment: str = ""
    """Detail of an environment fault of a required check, else empty."""
    seconds: float = Field(default=0.0, ge=0)

    @property
    def regressions_known(self) -> bool:
        """Whether every test was run that could have broken; if not, `broken` and `missing` say nothing."""
        return not any(check.partial for check in self.checks)

    @property
    def red_units(self) -> frozenset[str]:
        """What fails now: tests, and checks that can block and name none."""
        tests = {test for test, status in self.tests.items() if status in RED}
        return frozenset(tests.union(c.name for c in self.checks if not (c.passed or c.advisory or c.red)))

    @property
    def green(self) -> bool:
        """Every check that can block passed outright."""
        return all(check.passed for check in self.checks if not check.advisory)

    @property
    def executed(self) -> int:
        """Tests that really ran in the checks that can block, as far as known."""
        return sum(check.executed or 0 for check in self.checks if not check.advisory)


def fitted(lines: Iterable[str]) -> str:
    """The first three of the lines that are not empty, cut so that all together keep within `MAX_SUMMARY`."""
    chosen = [line for line in lines if line][:3]
    each = MAX_SUMMARY // max(len(chosen), 1) - 1
    return "\n".join(line if len(line) <= each else f"{line[: each - 1]}…" for line in chosen)


def with_line(summary: str, line: str) -> str:
    """The summary, still one to three lines and `MAX_SUMMARY` characters, with this line as its last one."""
    room = MAX_SUMMARY - len(line) - 1
    return "\n".join(["\n".join(summary.splitlines()[:2])[:room], line]).strip()


def compared(judged: Verification, before: Verification) -> Verification:
    """The verification of an attempt, with a comparison of its failures to those of the attempt (or state) before.

    Where one of the two did not run everything, only what was red before the run is compared.
    """
    if judged.passed:
        return judged
    was, now = before.red_units, judged.red_units
    if not (judged.regressions_known and before.regressions_known):
        common = frozenset((*judged.targets, *judged.preexisting))
        was, now = was & common, now & common
    if not (was or now):
        return judged
    line = f"compared with the {'attempt before' if before.visit else 'state before the run'}: {compare(was, now)}"
    return judged.model_copy(update={"progress": line, "summary": with_line(judged.summary, line)})


def rank(verification: Verification) -> tuple[bool, bool, int, int]:
    """Sort key of the best visit, best first: passed, all regressions known, fewest regressions, most fixed.

    Ties are the caller's, by the size of the diff.
    """
    unknown = bool(verification.missing) or not verification.regressions_known
    unknown = unknown or any(check.timed_out and not check.advisory for check in verification.checks)
    regressions = len(verification.broken) + len(verification.newly_skipped)
    return (not verification.passed, unknown, regressions, -len(verification.fixed))
