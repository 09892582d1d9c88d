"""Types of checks and their results."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from kotef.failures.history import FailureKind
from kotef.shell import Role

Origin = Literal["option", "ticket", "architect", "kotef.toml", "pyproject", "detected", "extension"]
TestStatus = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
Evidence = Literal["report", "lines", "counts", "summary", "exit"]
"""What is known of single tests: the runner's own report, or its verbose lines where they agree with its counts; else
its closing line alone, a summary printed by an unknown program, or only the exit status."""

RED: frozenset[TestStatus] = frozenset({"failed", "error"})
"""Statuses that make a test red; a strict xpass is reported by pytest itself as failed."""


class Check(BaseModel):
    """One command whose exit status says whether the project is in order."""

    model_config = ConfigDict(frozen=True)

    name: str
    """Unique within a task, short, for people: `pytest`, `ruff check`; never empty."""
    command: str
    """A shell command line, run from the workspace root."""
    role: Role
    origin: Origin
    source: str = ""
    """The file that implied a detected check, and the section or target in it; of an extension its distribution.
    Empty for a check that was named."""
    required: bool = True
    """False for an advisory check: reported, never blocking."""


class CommandResult(BaseModel):
    """What one command did, whoever asked for it: the verifier or the coder.

    Source: the operating system for `exit_code`, `seconds` and the texts; `kind`, `detail`, `summary` and
    `fingerprint` come from `failures.classify` and are heuristic; `tests` comes from the runner's own report.
    """

    model_config = ConfigDict(frozen=True)

    command: str
    exit_code: int | None
    """Exit status, 0-255; None when our own timeout ended it; negative N: killed by signal N, as in `subprocess`."""
    stdout: str = ""
    """Decoded as UTF-8 with replacement, head and tail when long; the full output is in the log."""
    stderr: str = ""
    passed: bool
    """Exit status 0 *and* nothing in the output or the report that contradicts it."""
    kind: FailureKind | None = None
    """None when it passed."""
    detail: str = ""
    summary: str = ""
    fingerprint: str = ""
    seconds: float = Field(default=0.0, ge=0)
    """Wall-clock seconds (`time.monotonic`), start of the interpreter included."""
    timed_out: bool = False
    tests_executed: int | None = None
    """Tests that really ran (skipped and deselected ones did not); None when the command reports no count."""
    tests: dict[str, TestStatus] | None = None
    """Status of each test id from the runner's own report or its verbose lines, see `evidence`; None without
    either. Never empty by accident: an empty dict is a report that lists no test."""
    failing: tuple[str, ...] = ()
    """Names of failing tests, from the report or, without one, read from the output (heuristic then); at most 20."""
    failed: int | None = None
    """How many tests failed, all of them: by the report, else by the runner's own count; None when neither says so."""
    flaky: tuple[str, ...] = ()
    """Failing tests that passed when run again alone; filled in by the caller that reran them."""
    partial: bool = False
    """Only the tests that were red at the baseline were run, and one that has to turn green is red still."""
    obstructions: tuple[str, ...] = ()
    """What the sandbox kept from the command and may explain the failure, with the option that opens it."""
    evidence: Evidence = "exit"
    log: str | None = None
    """Path of the full output, relative to the run directory where there is one."""

    @property
    def red_ids(self) -> frozenset[str]:
        """Ids the report calls failed or in error; empty without a report."""
        return frozenset(test for test, status in (self.tests or {}).items() if status in RED)
