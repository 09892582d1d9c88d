"""Answers to the model about a command that ran or was refused."""

import signal
from typing import Final

from kotef.checks.types import CommandResult
from kotef.shell import Ruling
from kotef.tools.errors import ToolFault
from kotef.tools.truncated_output import Keep, clip_kept

MAX_OUTPUT: Final = 12_000
"""Characters of output shown; the rest is kept."""


def refuse(command: str, ruling: Ruling) -> None:
    """Raise `ToolFault` `permission_denied` unless the command is allowed, after asking a person if possible."""
    if ruling.policy == "refused":
        raise ToolFault("permission_denied", f"not run: {ruling.reason}")
    if ruling.policy == "ask":
        raise ToolFault(
            "permission_denied",
            f"not run, because a person would have to allow it: {ruling.reason} (`{command[:200]}`)",
        )


def render(result: CommandResult, keep: Keep | None = None) -> str:
    """How the command ended in the first line, then its output, head and tail if it is long.

    Each stream may have what the other leaves free of `MAX_OUTPUT`, and never less than half if it needs it.
    """
    half = MAX_OUTPUT // 2
    out, err = result.stdout.rstrip(), result.stderr.rstrip()
    shown_out = clip_kept(out, max(half, MAX_OUTPUT - len(err)), keep)
    shown_err = clip_kept(err, max(half, MAX_OUTPUT - len(out)), keep)
    parts = [f"{_ending(result)} ({result.seconds:.1f} s)", shown_out or ("" if err else "[no output]")]
    parts.append(f"[stderr]\n{shown_err}" if err else "")
    return "\n".join(part for part in parts if part)


def _ending(result: CommandResult) -> str:
    if result.timed_out:
        return "timed out: it was stopped before it had finished; narrow what it does, or set a longer timeout"
    if result.exit_code is None:
        return "stopped before it had finished"
    if result.exit_code >= 0:
        return f"exit {result.exit_code}"
    try:
        return f"killed by {signal.Signals(-result.exit_code).name}"
    except ValueError:
        return f"killed by signal {-result.exit_code}"
