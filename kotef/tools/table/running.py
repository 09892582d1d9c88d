"""With which tools does the model run something?"""

from typing import Final

from pydantic import Field

from kotef.tools import shell
from kotef.tools.row import Args, Row, ToolContext


class RunCommand(Args):
    """Arguments of run_command."""

    command: str
    timeout: float | None = Field(default=None, gt=0, description="seconds")


class RunChecks(Args):
    """Arguments of run_checks."""

    names: list[str] = Field(default_factory=list, description="empty: all")


async def _run_command(context: ToolContext, command: str, timeout: float | None = None) -> str:
    shell.refuse(command, context.rule(command))
    async with context.one_at_a_time:
        return shell.render(await context.run(command, timeout))


async def _run_checks(context: ToolContext, names: list[str] | None = None) -> str:
    async with context.one_at_a_time:
        return await context.run_checks(names or None)


ROWS: Final = (
    Row("run_checks", "runner", "standard", RunChecks, _run_checks, "Run the checks that judge this task."),
    Row(
        "run_command",
        "runner",
        "standard",
        RunCommand,
        _run_command,
        "Run a shell command from the workspace root, without input.",
    ),
)
