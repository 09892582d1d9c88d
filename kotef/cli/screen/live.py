"""The live screen of a run at work."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.text import Text

from kotef.cli.screen.console import coloured, console, is_live
from kotef.cli.screen.event_text import said, steps_told
from kotef.cli.screen.prompts import TerminalPrompts
from kotef.cli.screen.sanitize import flat, one_line, plain
from kotef.cli.screen.status import clock, status_line
from kotef.cli.screen.tool_calls import FOLDED, FinishedCall, call_lines
from kotef.cli.screen.verdict import TABLE, table_of, unit_lines, verdict_lines, verdict_of
from kotef.events import PlannedEvent, RecordedEvent, ToolFinishedEvent, VerifiedEvent
from kotef.redaction import redactor
from kotef.runs.progress import RunProgress

if TYPE_CHECKING:
    from kotef.deps import Option, Permission

MAX_DIFF: Final = 40
"""Lines of an attempt's diff that are shown; its patch has the rest."""
_READ: Final = 1 << 20
"""Bytes of a patch that are looked at for them."""
_TOOLS: Final = 3
"""Tools at work side by side that are named."""


@dataclass(slots=True)
class Screen:
    """Turns the events of a run into lines, and on a terminal keeps what is at work below them."""

    max_attempts: int
    max_time: float = 0.0
    """Seconds the run may take; 0: unknown, so no remaining time is shown."""
    runs: Path | None = None
    """Where the runs are kept; None: neither diffs nor verdicts are shown."""
    elsewhere: bool = False
    """Whether the run works in another process, so that its questions are not asked here."""
    screen: Console = field(default_factory=console)
    doing: RunProgress = field(default_factory=RunProgress)
    _live: Live | None = None
    _calls: tuple[FinishedCall, ...] = ()
    """Consecutive calls of one tool that are not shown yet, or not completely."""
    _told: int = 0
    """How many of them are."""
    _planned: tuple[str, ...] = ()
    """The steps as they were printed last of all; empty once anything else was."""
    _asking: TerminalPrompts | None = None

    def catch_up(self, events: Iterable[RecordedEvent]) -> None:
        """Take in what happened before this process, without a word."""
        for recorded in events:
            self.doing = self.doing.after(recorded)

    def watching(self) -> AbstractContextManager[Any]:
        """The live view, for as long as the run is at work; only lines when piped, in CI or on a dumb terminal."""
        return self._shown() if is_live(self.screen) else self._lines_only()

    @contextmanager
    def _shown(self) -> Iterator[None]:
        self._live = Live(console=self.screen, get_renderable=self._now, refresh_per_second=8, transient=True)
        try:
            with self._live:
                yield
        finally:
            self._live = None
            self._tell_calls()

    @contextmanager
    def _lines_only(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._tell_calls()

    def _still(self) -> AbstractContextManager[None]:
        """No live view inside."""
        return nullcontext() if self._live is None else self._paused(self._live)

    @contextmanager
    def _paused(self, live: Live) -> Iterator[None]:
        self._tell_calls()
        live.stop()
        try:
            yield
        finally:
            live.start()

    @property
    def _questions(self) -> TerminalPrompts:
        if self._asking is None:
            self._asking = TerminalPrompts(self.screen, self._still)
        return self._asking

    async def ask(self, question: str, options: Sequence["Option"]) -> int | None:
        """As `deps.Ask`."""
        return await self._questions.choose(question, options)

    async def approve(self, visit: int, steps: Sequence[str]) -> tuple[str, ...] | None:
        """As `deps.Approval.plan`."""
        shown = self._planned == tuple(flat(redactor().text(step)) for step in steps)
        return await self._questions.plan(visit, steps, shown=shown)

    async def permit(self, command: str, reason: str) -> "Permission":
        """As `deps.Approval.command`."""
        return await self._questions.command(command, reason)

    def __call__(self, recorded: RecordedEvent) -> None:
        """Take in one event, and say it if it is worth a line."""
        self.doing = self.doing.after(recorded)
        event = recorded.event
        if isinstance(event, ToolFinishedEvent):
            self._take_call(FinishedCall.of(event))
            return
        words = said(event, self.max_attempts, elsewhere=self.elsewhere)
        if isinstance(event, VerifiedEvent) and event.visit and self.runs is not None:
            self._tell_calls()
            self._tell_diff(self.runs / self.doing.run / f"visit-{event.visit}.patch", event.visit)
            self._tell(*words) if words else None
            self._tell_verdict(self.runs / self.doing.run, event.visit)
        elif words:
            self._tell_calls()
            self._tell(*words)
        if isinstance(event, PlannedEvent):
            self._planned = steps_told(event)

    def _tell(self, text: str, style: str = "") -> None:
        self._planned = ()
        self.screen.print(Text(plain(text), style=style))

    def _take_call(self, call: FinishedCall) -> None:
        """Hold calls of one tool together; where nothing shows what is held back, the first two are shown at once."""
        if self._calls and self._calls[0].tool != call.tool:
            self._tell_calls()
        self._calls = (*self._calls, call)
        if self._live is None and len(self._calls) < FOLDED:
            for line in call_lines(self._calls[-1:]):
                self._tell(*line)
            self._told = len(self._calls)

    def _tell_calls(self) -> None:
        calls, told, self._calls, self._told = self._calls, self._told, (), 0
        if calls and self._live is not None:
            self._live.refresh()  # below the next output, rich repeats what it showed last
        for line in call_lines(calls, told=told) if calls[told:] else ():
            self._tell(*line)

    def _tell_diff(self, patch: Path, visit: int) -> None:
        """The attempt's diff, coloured and folded; a pipe gets none: the patch is a file."""
        if not is_live(self.screen):
            return
        try:
            with patch.open("rb") as file:
                text = redactor().text(file.read(_READ).decode("utf-8", "replace"))
        except OSError:
            return
        lines = coloured(text, indent="    ").split("\n")
        if not text.strip():
            return
        self._tell(f"  attempt {visit} changed, against the state before the run:")
        for line in lines[:MAX_DIFF]:
            line.truncate(max(20, self.screen.width - 1), overflow="ellipsis")
            self.screen.print(line)
        if len(lines) > MAX_DIFF:
            more = "" if len(text) < _READ else "at least "
            self._tell(f"    … {more}{len(lines) - MAX_DIFF:,} more lines: {_in_workspace(patch)}", "dim")

    def _tell_verdict(self, run: Path, visit: int) -> None:
        from pydantic import ValidationError

        from kotef.checks.verification import Verification

        try:
            states = [(run / f"visit-{number}.json").read_bytes() for number in (0, visit)]
            before, after = (Verification.model_validate_json(state) for state in states)
        except (OSError, ValidationError):  # deleted by a command of the run, or of another version
            return
        verdict = verdict_of(redactor().whole(before), redactor().whole(after))
        title = f"attempt {visit}: before → after"
        if is_live(self.screen) and self.screen.width >= TABLE:
            self._tell(f"  {title}", "bold")
            self.screen.print(Padding.indent(table_of(verdict), 3))
        else:
            for line in verdict_lines(verdict, title):
                self._tell(*line)
        for line in unit_lines(verdict):
            self._tell(*line)

    def _now(self) -> Group:
        """What is at work: the calls that are held back, the tools that have not ended, and the status line."""
        width = max(20, self.screen.width - 1)
        lines = [Text(plain(text), style=style) for text, style in call_lines(self._calls, width=max(20, width - 30))]
        now = time.time()
        for call in self.doing.tools[:_TOOLS]:
            running = f"  ↳ {call.tool} {one_line(call.arguments, max(10, width - 24))} … {clock(now - call.since)}"
            lines.append(Text(plain(running), style="cyan"))
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        return Group(*lines[: max(1, self.screen.height - 2)], self._status())

    def _status(self) -> Text:
        width = max(20, self.screen.width - 1)
        told = status_line(
            self.doing, max_attempts=self.max_attempts, max_time=self.max_time, now=time.time(), width=width
        )
        return Text(told, style="dim", overflow="ellipsis", no_wrap=True)


def _in_workspace(patch: Path) -> str:
    """As a person names it: `.sdd/runs/RUN/visit-1.patch`."""
    return "/".join(patch.parts[-4:])
