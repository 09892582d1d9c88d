"""Adapter from the coder of an extension to a coder of the chain."""

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from kotef.checks.types import CommandResult
from kotef.coders.base import NO_TIME, Brief, CoderResult
from kotef.deps import RunContext
from kotef.errors import KotefError
from kotef.extensions.extension_set import LoadedExtension
from kotef.extensions.loader import failed, unusable
from kotef.extensions.seam import CoderTask, ExtensionWorkspace, RefusalError, ruled, unchanging
from kotef.settings import PROFILES
from kotef.shell import decide_command
from kotef.state import Edits, Spent, Usage
from kotef.tools.text import clip_line

SECONDS: Final = 600.0
"""Wall time of one visit unless the chain names another (`NAME:60s`)."""
_LONGEST: Final = 400
"""Characters of what it says."""


@dataclass(frozen=True, slots=True)
class ExtensionCoder:
    """Asks the extension, bounds its time, and reports what it left in the tree; the checks judge that."""

    context: RunContext
    loaded: LoadedExtension
    seconds: float = SECONDS
    uses_model: bool = False

    @property
    def name(self) -> str:
        """The name of its entry point."""
        return self.loaded.record.name

    def declines(self, brief: Brief) -> str:
        """What the extension says, or why it cannot be asked."""
        if self._time() <= 0:
            return NO_TIME
        workspace = unchanging(self.context.root, "a coder that is asked whether it declines changes nothing")
        try:
            why = self.loaded.target.declines(_task(brief, workspace))
        except (Exception, SystemExit) as error:  # noqa: BLE001  a coder that fails declines
            return str(failed(self.loaded.extension, "failed", error))
        if not isinstance(why, str):
            return str(unusable(self.loaded.extension, f"answered {type(why).__name__}, not a text"))
        return _line(why)

    async def work(self, brief: Brief) -> CoderResult:
        """Let it work. What it had changed when it failed is judged all the same."""
        commands: list[str] = []
        fault, summary = "", ""
        bound = asyncio.timeout(self._time())
        try:
            async with bound:
                summary = await self.loaded.target.work(_task(brief, self._workspace(brief, commands)))
        except RefusalError as refusal:
            fault = _line(str(refusal))
        except KotefError:  # of kotef's own functions that it called
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001  a failure of the extension ends its visit
            late = bound.expired()
            fault = str(self._late() if late else failed(self.loaded.extension, "failed", error))
        if not fault and not isinstance(summary, str):
            fault = str(unusable(self.loaded.extension, f"answered {type(summary).__name__}, not a text"))
        return self._result(brief, _line(summary) if not fault else "", fault, len(commands))

    def _result(self, brief: Brief, summary: str, fault: str, commands: int) -> CoderResult:
        visit = brief.plan.visit
        found = self.context.snapshots.take() != brief.tree
        if found and fault:
            self.context.emit("notice", text=f"{fault}; what it had changed is judged")
        edits = Edits(
            visit=visit,
            coder=self.name,
            stopped_by="finished",
            summary=summary,
            rationale=(summary or f"an edit of {self.loaded.record.origin}") if found else "",
            detail=fault or ("" if found else summary or "it changed nothing"),
        )
        usage = Usage(by_call={f"{visit}/{self.name}/commands": Spent(commands=commands)})
        return CoderResult(edits, usage, found=found)

    def _workspace(self, brief: Brief, commands: list[str]) -> ExtensionWorkspace:
        task = brief.task
        profile = PROFILES[task.profile]
        installs = {"installs": "allowed"} if task.allow_install else {}
        policy = profile.model_copy(update=installs)

        async def run(command: str, timeout: float | None) -> CommandResult:
            commands.append(command)
            return await self.context.executor.run_command(command, timeout)

        def rule(command: str) -> Any:
            ruling = decide_command(command, policy, root=self.context.root)
            return self.context.permits.ruled(command, ruling)

        checked = ruled(run, rule, asyncio.Lock())
        return ExtensionWorkspace(self.context.root, brief.guard, wrote=lambda _path, _diff: None, run=checked)

    def _time(self) -> float:
        left = self.context.clock.left() - 2 * self.context.executor.reserve()
        return min(self.seconds, left)

    def _late(self) -> Exception:
        return unusable(self.loaded.extension, f"had not finished after {self.seconds:g} s")


def _task(brief: Brief, workspace: ExtensionWorkspace) -> CoderTask:
    red = [check for check in brief.judged.checks if not (check.satisfied or check.advisory)]
    return CoderTask(
        goal=brief.task.goal,
        steps=tuple(step.description for step in brief.plan.steps),
        failing=tuple(check.command for check in red),
        summaries=tuple(check.summary for check in red),
        tests=tuple(dict.fromkeys(test for check in red for test in check.red)),
        workspace=workspace,
    )


def _line(text: str) -> str:
    return clip_line(" ".join(text.split()), _LONGEST)
