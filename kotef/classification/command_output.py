"""Facts about one command that ended."""

import signal
from dataclasses import dataclass, field
from typing import Final

from kotef.classification.machine_reports import Report
from kotef.classification.output_lines import Output
from kotef.shell import CommandPurpose

SHELL_SIGNAL_BASE: Final = 128
FATAL_TO_ITSELF: Final = frozenset({"SIGSEGV", "SIGABRT", "SIGFPE", "SIGILL", "SIGBUS", "SIGTRAP", "SIGSYS"})
"""Signals that a program brings upon itself; the others come from outside."""

OUTSIDE: Final = frozenset({"SIGKILL", "SIGTERM", "SIGINT", "SIGXCPU", "SIGQUIT"})
"""Signals that a positive exit status of 128+N is taken to mean.

Other such numbers are just numbers: 129 is git's usage error."""


@dataclass(frozen=True, slots=True)
class Run:
    """What is known about one command that ended."""

    command: str
    asked: CommandPurpose
    exit_code: int | None
    output: Output
    timed_out: bool
    report: Report = field(default_factory=Report)
    """What the output says in JSON or XML; empty for plain text."""

    @property
    def signal(self) -> str:
        """Name of the signal that ended the command, through a shell's 128+N too; empty if none did."""
        if self.exit_code is None:
            return ""
        number = -self.exit_code if self.exit_code < 0 else self.exit_code - SHELL_SIGNAL_BASE
        try:
            return signal.Signals(number).name
        except ValueError:  # an exit status that is not a signal
            return ""
