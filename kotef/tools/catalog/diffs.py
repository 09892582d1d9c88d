"""Tools that show changes."""

from typing import Final

from kotef.tools import git
from kotef.tools.errors import ToolFault
from kotef.tools.tool import Args, ToolContext, ToolSpec


class GitStatus(Args):
    """Arguments of git_status."""


class GitDiff(Args):
    """Arguments of git_diff."""

    path: str = "."
    base: str = ""


def _start(context: ToolContext) -> git.RunStart:
    if context.start is None:
        raise ToolFault("permission_denied", "there is nothing to compare with here; read the files")
    return context.start


async def _git_status(context: ToolContext) -> str:
    return git.git_status(context.root, _start(context))


async def _git_diff(context: ToolContext, path: str = ".", base: str = "") -> str:
    return git.git_diff(context.root, _start(context), path, base, keep=context.keep)


ROWS: Final = (
    ToolSpec("git_diff", "reader", "standard", GitDiff, _git_diff, "Diff from the run's start, or from `base`."),
    ToolSpec("git_status", "reader", "standard", GitStatus, _git_status, "Which files have changed."),
)
