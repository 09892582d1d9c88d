"""The table of test runners: how to request per-test results from each, and how to read them.

A new runner is a row: an entry of `RUNNERS` in `table.py`, made in the module of its ecosystem.
"""

from kotef.checks.runners.row import Leavings, Runner, RunnerCommand, Statuses
from kotef.checks.runners.table import (
    RUNNERS,
    Reading,
    environment_for,
    names_runner,
    reading_of,
    says_tests_failed,
    single_tests,
)

__all__ = [
    "RUNNERS",
    "Leavings",
    "Reading",
    "Runner",
    "RunnerCommand",
    "Statuses",
    "environment_for",
    "names_runner",
    "reading_of",
    "says_tests_failed",
    "single_tests",
]
