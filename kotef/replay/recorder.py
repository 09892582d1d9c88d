"""The recorder of everything that a run hears from outside."""

import logging
import os
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kotef import __version__
from kotef.checks.baselines import Baselines, StoredBaseline
from kotef.checks.types import CommandResult
from kotef.coders.base import Brief, Coder, CoderResult
from kotef.deps import Approval, Clock, Permission
from kotef.events import ModelCallEvent, RecordedEvent
from kotef.files import append_line
from kotef.redaction import redactor
from kotef.replay.record_types import (
    Agreed,
    Begun,
    Called,
    Commanded,
    Declined,
    Entry,
    Full,
    ModelsRecord,
    Permitted,
    Reused,
    TreeRecord,
    WindowRecord,
    Worked,
    digest_of,
)
from kotef.replay.tape import CommandKey, Run
from kotef.tools.toolset import Kit
from kotef.workspace import Snapshots

if TYPE_CHECKING:
    from kotef.deps import Models

log = logging.getLogger("kotef")

LARGEST: Final = 100 * 1024 * 1024
"""Bytes of one record; the run continues without one beyond."""

OUTSIDE: Final = frozenset(
    {"git_status", "web_fetch", "web_search", "manage_memory", "read_output", "stop_command"}
    | {"skill_find", "skill_use", "skill_resource"}
)
"""Tools whose answers come from elsewhere than the files of the workspace, or from a process that runs on."""

_FULL: Final = b'\n{"kind":"full"'
"""How the line begins after which nothing is kept, by a resume neither: it would be played as if nothing were gone."""
_PID: Final = re.compile(r"(?<=^coder-)\d+-\d+-")


def comes_from_outside(tool: str, arguments: dict[str, Any]) -> bool:
    """Whether the answer of a tool call is kept; that of any other is computed again from the files and commands."""
    in_background = tool == "run_command" and bool(arguments.get("background"))
    compares = tool == "git_diff" and bool(arguments.get("base"))
    return tool in OUTSIDE or in_background or compares or is_foreign(tool)


class Whereabouts:
    """In which visit the run is, and who asks a model; shown by its events."""

    def __init__(self) -> None:
        """Before the first event it is at its baseline."""
        self.visit, self.node = 0, "planner"
        self._calls: Counter[tuple[int, str]] = Counter()

    def see(self, recorded: RecordedEvent) -> None:
        """Take in one event."""
        if recorded.visit is not None:
            self.visit = recorded.visit
        if isinstance(recorded.event, ModelCallEvent):
            self.node = recorded.event.node

    def next_call(self) -> tuple[int, str, int]:
        """Visit, node, and the number of the call in it, from 1."""
        self._calls[self.visit, self.node] += 1
        return self.visit, self.node, self._calls[self.visit, self.node]


class Recorder:
    """Writes `record.jsonl`: append only, without secrets, readable by its owner alone, and never larger than a cap.

    What goes wrong with it costs the record and never the run.
    """

    def __init__(self, path: Path, root: Path) -> None:
        """A record that is there already continues: the run is resumed."""
        self.path, self.root = path, root
        self._size = path.stat().st_size if path.exists() else 0
        before = path.read_bytes() if self._size else b""
        self._open = self._size < LARGEST and _FULL not in before
        self._number = before.count(b"\n")
        self.where = Whereabouts()
        self._pending: int | None = None
        self._tree = ""

    def begin(self, clock: Clock, snapshots: Snapshots, kit: Kit) -> None:  # noqa: ARG002  a player needs the clock
        """Listen to every tree that is taken: the first after a command tells what that changed."""
        snapshots.told = self._took
        self.write(Begun(kotef_version=__version__, tier=kit.tier, patches=kit.patches, window=kit.window))

    def see(self, event: RecordedEvent) -> None:
        """Where the run is."""
        self.where.see(event)

    def baselines(self, store: Baselines) -> Baselines:
        """Those that keep what was taken over from an earlier run."""
        store.on_reuse = self._reused
        return store

    def coder(self, coder: Coder) -> Coder:
        """One whose work is kept as a whole."""
        return _HeardCoder(coder, self)

    def approval(self, given: Approval | None) -> Approval | None:
        """The same, its answers kept: they steer the run as a model's do."""
        if given is None:
            return None

        async def plan(visit: int, steps: Sequence[str]) -> tuple[str, ...] | None:
            answer = await given.plan(visit, steps)
            self.write(Agreed(visit=visit, steps=answer))
            return answer

        async def command(visit: int, line: str, reason: str) -> Permission:
            answer = await given.command(visit, line, reason)
            self.write(Permitted(visit=visit, command=line, said=answer))
            return answer

        return Approval(plan, command)

    def models(self, models: "Models") -> "Models":
        """The same, listened to."""
        from kotef.replay.recorded_models import listen

        listen(self, [model for model in (models.coder, models.planner, models.reviewer) if model is not None])
        self.write(
            ModelsRecord(
                coder=models.coder_name if models.coder else "",
                planner=models.planner is not None,
                reviewer=models.reviewer is not None,
                coder_price=models.coder_price,
                planner_price=models.planner_price,
                reviewer_price=models.reviewer_price,
            )
        )
        return models

    def window(self, tokens: int | None) -> int | None:
        """The context window as given."""
        return tokens

    def read_at_once(self, tokens: int) -> None:
        """Keep it: no one can be asked later."""
        self.write(WindowRecord(tokens=tokens))

    async def command(self, ran: CommandKey, run: Run) -> CommandResult:
        """Run it and keep what it did."""
        result = await run()
        number, visit = self._next(), self.where.visit
        line = Commanded(
            n=number, visit=visit, of=ran.kind, name=without_pid(ran.name), command=ran.command, result=result
        )
        if self.write(line):
            self._pending = number
        return result

    async def tool(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Make the call; keep the answer of one that reaches outside."""
        before, call = self._tree, request.tool_call
        answer = await handler(request)
        if comes_from_outside(call["name"], call["args"]) and hasattr(answer, "content"):
            number = self._next()
            self.write(
                Called(
                    n=number,
                    visit=self.where.visit,
                    tool=call["name"],
                    arguments=digest_of(call["args"]),
                    content=answer.content,
                    status=answer.status,
                    marks=answer.additional_kwargs,
                )
            )
            if is_foreign(call["name"]) and self._tree != before:  # it was looked at before and after
                self.write(TreeRecord(of=number, tree=self._tree))
        return answer

    def write(self, line: Entry) -> bool:
        """Whether there was room for it."""
        if not self._open:
            return False
        try:
            text = redactor().whole(line).model_dump_json()
            size = len(text.encode())
            if self._size + size > LARGEST:
                self._open = False
                text = Full(bytes=self._size).model_dump_json()
            if not self._size:
                os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
            append_line(self.path, text)
        except (OSError, ValueError) as error:  # a full disk, or text that is not text
            log.warning("the record of the run ends here: %s", error)
            self._open = False
            return False
        self._size += size + 1
        return self._open

    def _next(self) -> int:
        self._number += 1
        return self._number

    def worked(self, brief: Brief, work: CoderResult, coder: str, seconds: float) -> None:
        """Record the work of a coder that starts its own processes."""
        number, visit = self._next(), brief.plan.visit
        line = Worked(
            n=number,
            visit=visit,
            coder=coder,
            edits=work.edits,
            usage=work.usage,
            found=work.found,
            hints=work.hints,
            tried=work.tried,
            seconds=seconds,
        )
        if self.write(line):
            self._pending, self._tree = number, brief.tree  # whatever trees it has taken itself

    def _reused(self, kept: StoredBaseline) -> None:
        self.write(Reused(kept=kept))

    def _took(self, tree: str) -> None:
        """A tree was taken; where it is another than before, what ran since has changed it."""
        if self._pending is not None and tree != self._tree:
            self.write(TreeRecord(of=self._pending, tree=tree))
        self._pending, self._tree = None, tree


def without_pid(name: str) -> str:
    """The name of a check's log without the numbers that differ from process to process."""
    return _PID.sub("", name)


def is_foreign(tool: str) -> bool:
    """Whether a tool is in no table of ours: an MCP server's."""
    from kotef.tools.registry import BY_NAME

    return tool not in BY_NAME


class _HeardCoder:
    """A coder whose visits are kept."""

    def __init__(self, coder: Coder, recorder: Recorder) -> None:
        self._coder, self._recorder = coder, recorder
        self.name, self.uses_model = coder.name, coder.uses_model

    def declines(self, brief: Brief) -> str:
        """The coder's answer."""
        why = self._coder.declines(brief)
        self._recorder.write(Declined(visit=brief.plan.visit, coder=self.name, why=why))
        return why

    async def work(self, brief: Brief) -> CoderResult:
        """The coder's work."""
        began = time.monotonic()
        work = await self._coder.work(brief)
        self._recorder.worked(brief, work, self.name, time.monotonic() - began)
        return work
