"""Outcome of a failed command: the model's mistake, or the answer it asked for."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from kotef.checks.types import CommandResult
from kotef.failures.tool_calls import Category
from kotef.tools.errors import ToolFault
from kotef.tools.shell import render
from kotef.tools.truncated_output import Keep

NOT_RUN: Final = frozenset({126, 127})
"""Exit statuses by which a shell says that it could not run the command (POSIX)."""


MAX_FAILED: Final = 50
"""Failures of one check that are noted beside a result."""
MAX_NAME: Final = 300
"""Characters of the name of one."""


class ToolAnswer(NamedTuple):
    """The answer to the model for a tool that did its work; tools that cannot end red return only text."""

    text: str
    red: Category | None
    """The failure that the result reports; None if there is none."""
    checks: Mapping[str, tuple[str, ...]] = {}
    """What it says of the checks: by name or command line, what failed; empty where all passed."""


def tell(result: CommandResult, keep: Keep | None = None) -> ToolAnswer:
    """The answer to the model about its command. Raises `ToolFault` if the command could not do its work.

    That is a name the shell does not find or may not execute, and our own limit.
    """
    text = render(result, keep)
    if result.timed_out or result.exit_code is None or result.exit_code in NOT_RUN:
        raise ToolFault("exec_error", text)
    return ToolAnswer(text, red_of(result), checks_of(result, " ".join(result.command.split())))


def checks_of(result: CommandResult, name: str) -> dict[str, tuple[str, ...]]:
    """What failed, under the name of what was run; nothing of a command that checks nothing.

    Where no test is named, the fingerprint of the failure stands for what failed.
    """
    judges = result.tests_executed is not None or result.kind in {"test_failure", "lint_failure"}
    if not judges:
        return {}
    failed = sorted(result.red_ids) or list(result.failing) or [result.fingerprint or "red"]
    return {name[:MAX_NAME]: () if result.passed else tuple(one[:MAX_NAME] for one in failed[:MAX_FAILED])}


def red_of(result: CommandResult) -> Category | None:
    """The failure of a command, tests before builds; None if it passed, or only answered no.

    `grep`, `test` and `diff` say no with status 1 and without a word; `grep -c` prints a 0 as well.
    """
    silent = not (result.stdout + result.stderr).strip()
    said_no = result.exit_code == 1 and (silent or result.detail == "no_match")
    if result.passed or said_no:
        return None
    match result.kind:
        case "test_failure":
            return "test_failure"
        case "lint_failure":  # compilers and type checkers speak in diagnostics as linters do
            return "build_failure"
        case _:
            return "tool_error"
