"""Outcome of a failed command: the model's mistake, or the answer it asked for."""

from typing import Final, NamedTuple

from kotef.checks.types import CommandResult
from kotef.failures.tool_calls import Category
from kotef.tools.errors import ToolFault
from kotef.tools.shell import render
from kotef.tools.truncated_output import Keep

NOT_RUN: Final = frozenset({126, 127})
"""Exit statuses by which a shell says that it could not run the command (POSIX)."""


class ToolAnswer(NamedTuple):
    """The answer to the model for something that did its work; an act that cannot end red returns the text alone."""

    text: str
    red: Category | None
    """What the result reports; None when all is well."""


def tell(result: CommandResult, keep: Keep | None = None) -> ToolAnswer:
    """The answer to the model about its command. Raises `ToolFault` if the command could not do its work.

    That is a name the shell does not find or may not execute, and our own limit.
    """
    text = render(result, keep)
    if result.timed_out or result.exit_code is None or result.exit_code in NOT_RUN:
        raise ToolFault("exec_error", text)
    return ToolAnswer(text, red_of(result))


def red_of(result: CommandResult) -> Category | None:
    """What a command's end reports, tests before builds; None if it passed, or only said no.

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
