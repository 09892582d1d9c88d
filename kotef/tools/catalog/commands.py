"""Tools that run commands."""

from typing import Final

from pydantic import Field

from kotef.tools import shell
from kotef.tools.background import Background
from kotef.tools.command_outcome import ToolAnswer, tell
from kotef.tools.errors import ToolFault
from kotef.tools.tool import Args, ToolContext, ToolSpec


class RunCommand(Args):
    """Arguments of run_command."""

    command: str
    timeout: float | None = Field(default=None, gt=0)
    background: bool = False


class ReadOutput(Args):
    """Arguments of read_output."""

    handle: str
    wait: float = Field(default=0, ge=0, le=60)


class StopCommand(Args):
    """Arguments of stop_command."""

    handle: str


class RunChecks(Args):
    """Arguments of run_checks."""

    names: list[str] = Field(default_factory=list)


async def _run_command(
    context: ToolContext, command: str, timeout: float | None = None, background: bool = False
) -> str | ToolAnswer:
    shell.refuse(command, context.rule(command))
    async with context.one_at_a_time:
        if background:
            return await _background(context).start(command, timeout, keep=context.keep)
        return tell(await context.run(command, timeout), context.keep)


async def _read_output(context: ToolContext, handle: str, wait: float = 0) -> str:
    return await _background(context).read(handle, wait, keep=context.keep)


async def _stop_command(context: ToolContext, handle: str) -> str:
    return await _background(context).stop(handle, keep=context.keep)


def _background(context: ToolContext) -> Background:
    if context.background is None:
        raise ToolFault("permission_denied", "nothing runs in the background here; run it without `background`")
    return context.background


async def _run_checks(context: ToolContext, names: list[str] | None = None) -> str | ToolAnswer:
    async with context.one_at_a_time:
        return await context.run_checks(names or None)


ROWS: Final = (
    ToolSpec(
        "read_output",
        "reader",
        "standard",
        ReadOutput,
        _read_output,
        "State and new output of a command, after `wait` seconds.",
        polls=True,
    ),
    ToolSpec("run_checks", "runner", "standard", RunChecks, _run_checks, "Run the checks that judge, or those named."),
    ToolSpec(
        "run_command",
        "runner",
        "standard",
        RunCommand,
        _run_command,
        "Run a shell command; timeout in seconds; background gives a handle.",
    ),
    ToolSpec("stop_command", "runner", "standard", StopCommand, _stop_command, "End a background command."),
)
