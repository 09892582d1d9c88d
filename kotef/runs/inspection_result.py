"""The result of one check of the workspace: checks, failures and counts, as `kotef check` gives them."""

from typing import Literal

from kotef.checks.types import TestStatus
from kotef.runs.result import Camel, ResultProbe
from kotef.shell import Role

FailureState = Literal["new", "still", "failing"]
"""`new`: passed (or was not there) at the earlier commit; `still`: failed there as well; `failing`: not compared."""


class CheckFailure(Camel):
    """One failing test, complaint or command."""

    test: str
    """Empty when it is not a test."""
    message: str
    file: str
    line: int | None
    state: FailureState
    flaky: bool
    """Whether it passed when run again alone."""


class CheckCounts(Camel):
    """Totals of all checks for one state of the workspace."""

    checks: int
    checks_passed: int
    tests_run: int | None
    """Null when no check reports a count."""
    passed: int | None
    """Null, like the next three, if a check with tests wrote no report."""
    failed: int | None
    skipped: int | None


class Checked(Camel):
    """One check, now."""

    name: str
    command: str
    role: Role
    required: bool
    passed: bool
    exit_code: int | None
    """Null when a time limit ended it; negative N: killed by signal N."""
    kind: str | None
    detail: str
    summary: str
    fingerprint: str
    tests_run: int | None
    failed: int | None
    """Number of all failed tests; null if unknown. `failures` lists at most 100."""
    tests: dict[str, TestStatus] | None
    """Status of each test by its id; null if single tests are not known."""
    evidence: str
    """`report`, `lines`, `counts`, `summary` or `exit`: what the verdict rests on."""
    unjudged: str = ""
    """Why it could not be judged at the commit compared with; empty if it was, or nothing was compared."""
    seconds: float
    obstructions: tuple[str, ...] = ()
    """What the sandbox hid from the command and may explain the failure, with the option that opens it."""
    failures: tuple[CheckFailure, ...]


class Inspection(Camel):
    """What `kotef check` found."""

    schema_version: int = 1
    green: bool
    exit_code: int
    """0 green, 3 red, 5 when a check could not do its work."""
    detail: str
    """Empty when green; else a machine word: `red`, `regression`, `flaky`, `tests_missing`, or the fault."""
    sandbox: str
    """The level that confined the checks: `bwrap`, `strict`, `landlock` or `off`."""
    network: bool
    """Whether they had the network."""
    ci: str
    """The variable CI as they saw it; kotef sets it to 1, so that nothing waits for a person."""
    against: str | None
    """The commit compared with, as it was named; null without a comparison."""
    before: CheckCounts | None
    now: CheckCounts
    checks: tuple[Checked, ...]
    fixed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Tests of the earlier commit that no longer run."""
    newly_skipped: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    probes: tuple[ResultProbe, ...] = ()
    """Probes that test whether the checks can still fail; only with `--against`."""
    judging: tuple[str, ...] = ()
    """Files that judge and differ from the commit, where a probe raised an alarm."""
    notices: tuple[str, ...] = ()
