"""Questions to a person at the terminal before and during a run."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kotef.cli.screen import Screen, console, is_attended
from kotef.deps import Approval, Permission
from kotef.errors import UsageError
from kotef.nodes.approval import APPROVED
from kotef.runs.run_config import RunConfig
from kotef.runs.store import RunDir
from kotef.state import Task


def is_interactive(options: Mapping[str, Any], task: Task | None = None, run: RunDir | None = None) -> bool:
    """Whether to ask a person; a resume does what the run did, unless the command line says otherwise.

    UsageError if one is to be asked and no one can be. A run whose plan was approved before continues without.
    """
    wanted: bool | None = options["interactive"]
    if wanted is False or (wanted is None and not (task and task.interactive)):
        return False
    why = "--json prints one object and nothing else" if options["as_json"] else ""
    why = why or ("" if is_attended(console()) else "no interactive terminal, or this is CI")
    if not why:
        return True
    if wanted:
        raise UsageError(f"--interactive: no one can answer: {why}", hint="leave it out, or run it at a terminal")
    if run is not None and (run.path / APPROVED).exists():
        return False
    raise UsageError(
        f"run {run.run_id if run else ''} has a question, but no one can answer it: {why}",
        hint="resume it at a terminal, or pass --no-interactive to continue without asking",
    )


def attended(setting: RunConfig, screen: Screen, *, interactive: bool) -> RunConfig:
    """The setting with this screen, and with the person before it if there is one."""
    if not is_attended(screen.screen):
        return replace(setting, watchers=(*setting.watchers, screen))

    async def command(_: int, line: str, reason: str) -> Permission:
        return await screen.permit(line, reason)

    approval = Approval(screen.approve, command) if interactive else None
    return replace(setting, watchers=(*setting.watchers, screen), ask=screen.ask, approval=approval, attended=True)
