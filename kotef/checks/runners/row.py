"""A row of the table of test runners: how to request, read and name results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

from kotef.checks.reports import executed
from kotef.checks.runner_summaries import Closings, SummaryCounts
from kotef.checks.types import RED, TestStatus
from kotef.classification import all_lines
from kotef.shell import CommandPurpose

REPORT_FOLDER: Final = "KOTEF_REPORTS"
"""Environment variable with the folder into which our plug-ins write, outside the workspace."""

Statuses = dict[str, TestStatus]
"""Status of each test by its id: `place::part::name`, where the place is a path of the workspace or a package."""


@dataclass(frozen=True, slots=True)
class RunnerCommand:
    """A command that is about to be run."""

    line: str
    asked: CommandPurpose
    """The tools in it, wrappers taken off."""
    root: Path
    folder: Path
    """Outside of the workspace, empty, and for this one command."""


@dataclass(frozen=True)
class Leavings:
    """What a command left behind."""

    command: RunnerCommand
    started: float
    """Seconds since 1970, before the command began."""
    stdout: str
    stderr: str

    @cached_property
    def out(self) -> list[str]:
        """All lines of stdout, in plain form."""
        return all_lines(self.stdout)

    @cached_property
    def err(self) -> list[str]:
        """All lines of stderr, in plain form."""
        return all_lines(self.stderr)

    @cached_property
    def closings(self) -> Closings:
        """What the closing lines say."""
        return Closings((*self.out, *self.err))


def as_counted(tests: Statuses, counts: SummaryCounts) -> bool:
    """Whether as many tests ran and failed as the runner counts; some runners count skipped tests as run."""
    failed = sum(status in RED for status in tests.values())
    return failed == counts.failed and executed(tests) <= counts.executed <= len(tests)


def as_many_ran(tests: Statuses, counts: SummaryCounts) -> bool:
    """Whether as many tests ran, and some failed if the runner says so; the number may be of failed assertions."""
    ran = sum(status != "skipped" for status in tests.values())
    return ran == counts.executed and bool(counts.failed) == any(status in RED for status in tests.values())


def as_counted_exactly(tests: Statuses, counts: SummaryCounts) -> bool:
    """Whether as many tests ran and failed; for runners that do not count skipped tests as run."""
    return as_counted(tests, counts) and as_many_ran(tests, counts)


def as_many_or_skipped(tests: Statuses, counts: SummaryCounts) -> bool:
    """Whether as many tests ran or were skipped, and some failed if the runner says so."""
    return len(tests) == counts.executed and bool(counts.failed) == any(status in RED for status in tests.values())


Single = Callable[[Sequence[str], Sequence[str], Callable[[str], bool]], list[str] | None]
"""From the arguments behind the tool's name, the ids, and whether a path exists: the arguments that run these alone."""


@dataclass(frozen=True, slots=True)
class Runner:
    """How to get the results of one test runner, test by test."""

    name: str
    ids: str
    """What an id looks like."""
    tools: frozenset[str] = frozenset()
    """Names of the program, as `unwrap` tells them, where a command may run single tests."""
    environment: Callable[[RunnerCommand, Mapping[str, str]], dict[str, str]] | None = None
    """What is added to the environment of the command, so that a report is written; None: nothing."""
    report: Callable[[Leavings], Statuses | None] | None = None
    """The report the runner wrote; None if it wrote none, or one that cannot be trusted."""
    lines: Callable[[Leavings], Statuses | None] | None = None
    """Read from the output; weaker than a report, and believed only where the runner's own counts agree."""
    closing: str = ""
    """The runner's name in `closings`: with whose counts lines, and the report of a program, have to agree; empty if
    the reader itself makes sure that nothing is missing. A report is a nested run's where only others close."""
    agrees: Callable[[Statuses, SummaryCounts], bool] = as_counted
    """Whether what was read is what the runner counts."""
    kind: Literal["runner", "harness", "program"] = "runner"
    """A harness starts programs and takes them for tests; a program is a test binary with a library in it. Of a program
    that a harness started, the harness tells; several of one command may overwrite each other's report."""
    single: Single | None = None
    failing_status: Callable[[int, int], bool] = lambda status, _: status == 1
    """Whether an exit status says, with so many failing tests, that tests ran and some failed."""
    untried: bool = False
    """Whether the row follows the documented format only and was never tried with the tool."""
