"""The live screen of a run at work."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.text import Text

from kotef.cli.screen.budget import clock
from kotef.cli.screen.console import console, is_live
from kotef.cli.screen.diffs import ShownDiffs, ShownFile, coloured, file_diffs
from kotef.cli.screen.event_text import QUIET_EVENTS, event_line, plan_steps
from kotef.cli.screen.model_text import live_words, word_lines
from kotef.cli.screen.prompts import TerminalPrompts
from kotef.cli.screen.sanitize import SHOWN, flat, one_line, plain
from kotef.cli.screen.status import status_line
from kotef.cli.screen.tool_calls import FOLDED, FinishedCall, call_lines
from kotef.cli.screen.verdict import TABLE, table_of, unit_lines, verdict_lines, verdict_of
from kotef.events import (
    CoderFinishedEvent,
    EditedEvent,
    ModelAnswerEvent,
    ModelCallEvent,
    ModelCancelledEvent,
    ModelRetryEvent,
    ModelWordsEvent,
    PlannedEvent,
    RecordedEvent,
    RunEvent,
    ToolFinishedEvent,
    VerifiedEvent,
)
from kotef.redaction import redactor
from kotef.runs.progress import RunProgress
from kotef.settings import Limits

if TYPE_CHECKING:
    from kotef.deps import Option, Permission

Detail = Literal["quiet", "usual", "full"]
"""How much of a run is shown: `quiet` is checks, attempts and the ending; `full` folds nothing."""

MAX_DIFF: Final = 40
"""Lines shown of an attempt's diff; its patch has the rest."""
MAX_EDIT: Final = 12
"""Lines shown of an edit's diff."""
_READ: Final = 1 << 20
"""Bytes read of a patch."""
_TOOLS: Final = 3
"""Concurrent tools that are named."""
_ECHO: Final = 3
"""Columns free at the end of the status line: there the terminal echoes `^C`, and must not begin a new line."""


class LiveView(Live):
    """The lines at the bottom that are drawn again and again, by a thread of its own."""

    def print(self, shown: Text | Padding) -> None:
        """Print above the view; it is not drawn in between, because rich would then erase too few lines or too many."""
        with self._lock:
            self.console.print(shown)


@dataclass(slots=True)
class Screen:
    """Turns the events of a run into lines, and on a terminal keeps what is at work below them."""

    limits: Limits | None = None
    """The run's budgets; None: not known, so only the used amounts are shown."""
    runs: Path | None = None
    """Where the runs are kept; None: neither diffs nor verdicts are shown."""
    elsewhere: bool = False
    """Whether the run works in another process, so that its questions are not asked here."""
    detail: Detail = "usual"
    screen: Console = field(default_factory=console)
    doing: RunProgress = field(default_factory=RunProgress)
    _live: LiveView | None = None
    _calls: tuple[FinishedCall, ...] = ()
    """Consecutive calls of one tool that are not shown yet, or not completely."""
    _told: int = 0
    """How many of them have been shown."""
    _planned: tuple[str, ...] = ()
    """The steps, if they were printed last; empty after any other output."""
    _words: str = ""
    """The text of the answer that is still arriving."""
    _edits: tuple[ShownFile, ...] = ()
    """The edits of the current call."""
    _shown: ShownDiffs = field(default_factory=ShownDiffs)
    _asking: TerminalPrompts | None = None
    _fixed: tuple[str, ...] = ()
    """The tests that the newest verdict shown called fixed."""
    _changed: tuple[str, ...] = ()
    """The files that the newest coder was shown to have changed."""

    def has_shown(self, title: str, items: Sequence[str]) -> bool:
        """Whether the screen showed exactly these, and all of them, for the newest attempt."""
        known = {"fixed": self._fixed, "changed": self._changed}.get(title, ())
        return len(known) <= SHOWN and sorted(known) == sorted(items)

    def catch_up(self, events: Iterable[RecordedEvent]) -> None:
        """Take in the events from before this process, without output."""
        for recorded in events:
            self.doing = self.doing.after(recorded)

    def watching(self) -> AbstractContextManager[Any]:
        """The live view, for as long as the run is at work; only lines when piped, in CI or on a dumb terminal."""
        return self._shown_live() if is_live(self.screen) else self._lines_only()

    @contextmanager
    def _shown_live(self) -> Iterator[None]:
        self._live = LiveView(console=self.screen, get_renderable=self._now, refresh_per_second=8, transient=True)
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
        """Pause the live view."""
        return nullcontext() if self._live is None else self._paused(self._live)

    @contextmanager
    def _paused(self, live: LiveView) -> Iterator[None]:
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
        """See `deps.Ask`."""
        for option in options:
            for diff in file_diffs(redactor().text(option.diff)):
                self._shown.note(diff)
        return await self._questions.choose(question, options)

    async def approve(self, visit: int, steps: Sequence[str]) -> tuple[str, ...] | None:
        """See `deps.Approval.plan`."""
        shown = self._planned == tuple(flat(redactor().text(step)) for step in steps)
        return await self._questions.plan(visit, steps, shown=shown)

    async def permit(self, command: str, reason: str) -> "Permission":
        """See `deps.Approval.command`."""
        return await self._questions.command(command, reason)

    def __call__(self, recorded: RecordedEvent) -> None:
        """Take in one event, and print its line if it has one."""
        self.doing = self.doing.after(recorded)
        event = recorded.event
        match event:
            case ModelWordsEvent():
                self._words += event.text
            case ModelCallEvent() | ModelRetryEvent() | ModelAnswerEvent() | ModelCancelledEvent():
                self._words = ""
            case _:
                pass
        match event:
            case ModelAnswerEvent():
                self._tell_words(event)
            case EditedEvent():
                lines = plain(event.diff).rstrip().split("\n")
                self._edits = (*self._edits, ShownFile(event.path, tuple(lines)))
            case ToolFinishedEvent():
                self._take_call(event)
            case VerifiedEvent() if event.visit and self.runs is not None:
                self._tell_attempt(event, self.runs / self.doing.run)
            case _:
                self._tell_event(event)

    def _tell_event(self, event: RunEvent) -> None:
        """The line of an event, if it has one."""
        if self.detail == "quiet" and event.event_name in QUIET_EVENTS:
            return
        attempts = self.limits.max_attempts if self.limits else 0
        words = event_line(event, attempts, elsewhere=self.elsewhere, full=self.detail == "full")
        if words:
            self._tell_calls()
            self._tell(*words)
        if isinstance(event, PlannedEvent):
            self._planned = plan_steps(event)
        if isinstance(event, CoderFinishedEvent):
            self._changed = tuple(event.changed) if words else ()

    def _tell(self, text: str, style: str = "") -> None:
        self._planned = ()
        self._print(Text(plain(text), style=style))

    def _print(self, shown: Text | Padding) -> None:
        printer = self.screen if self._live is None else self._live
        printer.print(shown)

    def _tell_words(self, event: ModelAnswerEvent) -> None:
        """Print the text of a coder's model beside its tool calls."""
        if event.node != "coder" or self.detail == "quiet":
            return
        lines = word_lines(event.text, self.screen, full=self.detail == "full")
        if lines:
            self._tell_calls()
        for line in lines:
            self._planned = ()
            self._print(line)

    def _take_call(self, event: ToolFinishedEvent) -> None:
        """Group calls of one tool; without a live view, the first two are shown at once."""
        call, edits, self._edits = FinishedCall.of(event), self._edits, ()
        if self.detail == "quiet":
            return
        if self._calls and self._calls[0].tool != call.tool:
            self._tell_calls()
        self._calls = (*self._calls, call)
        if edits and is_live(self.screen):
            self._tell_calls()
            for edit in edits:
                self._tell_edit(edit)
        elif self.detail == "full" or (self._live is None and len(self._calls) < FOLDED):
            for line in call_lines(self._calls[-1:], width=200 if self.detail == "full" else 80):
                self._tell(*line)
            self._told = len(self._calls)

    def _tell_calls(self) -> None:
        calls, shown_calls, self._calls, self._told = self._calls, self._told, (), 0
        if calls and self._live is not None:
            self._live.refresh()  # below the next output, rich repeats what it showed last
        for line in call_lines(calls, told=shown_calls) if calls[shown_calls:] else ():
            self._tell(*line)

    def _tell_edit(self, edit: ShownFile) -> None:
        """Print the hunks of an edit, folded."""
        if not any(edit.lines):
            return
        if not self._shown.note_edit(edit.path, "\n".join(edit.lines)):
            self._tell(f"    the same edit of {edit.path} as before", "dim")
            return
        self._tell_lines(edit.lines, MAX_EDIT)

    def _tell_lines(self, lines: Sequence[str], most: int, rest: str = "") -> None:
        """Print lines of a diff; one more line says how many are left out, and where they are."""
        most = len(lines) if self.detail == "full" or len(lines) == most + 1 else most
        self._planned = ()
        for line in coloured("\n".join(lines[:most]), indent="    ").split("\n"):
            line.truncate(max(20, self.screen.width - 1), overflow="ellipsis")
            self._print(line)
        if len(lines) > most:
            self._tell(f"    … {len(lines) - most:,} more lines{rest}", "dim")

    def _tell_attempt(self, event: VerifiedEvent, run: Path) -> None:
        """Print what an attempt changed, and its effect on the checks."""
        visit = event.visit
        self._fixed = ()
        self._tell_calls()
        if self.detail != "quiet":
            self._tell_diff(run / f"visit-{visit}.patch", visit)
        words = event_line(event, 0)
        if words:
            self._tell(*words)
        self._tell_verdict(run, visit)

    def _tell_diff(self, patch: Path, visit: int) -> None:
        """Print the attempt's diff without edits already shown; nothing in a pipe, because the patch is a file."""
        if not is_live(self.screen):
            return
        try:
            with patch.open("rb") as file:
                text = redactor().text(file.read(_READ).decode("utf-8", "replace"))
        except OSError:
            return

        files = list(file_diffs(text))
        unseen = [diff for diff in files if not self._shown.has(diff)]
        if not unseen:
            return
        others = "" if len(unseen) == len(files) else "; other files as shown above"
        self._tell(f"  attempt {visit} changed, against the state before the run{others}:")
        lines = [line for diff in unseen for line in (diff.path, *diff.lines)]
        self._tell_lines(lines, MAX_DIFF, f": {_in_workspace(patch)}")
        for diff in unseen:
            self._shown.note(diff)

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
            self._print(Padding.indent(table_of(verdict), 3))
        else:
            for line in verdict_lines(verdict, title):
                self._tell(*line)
        for line in unit_lines(verdict):
            self._tell(*line)
        self._fixed = dict(verdict.units).get("fixed", ())

    def _now(self) -> Group:
        """The current activity: grouped calls, running tools, text that is arriving, and the status line."""
        width = max(20, self.screen.width - 1)
        lines = [Text(plain(text), style=style) for text, style in call_lines(self._calls, width=max(20, width - 30))]
        now = time.time()
        for call in self.doing.tools[:_TOOLS]:
            running = f"  ↳ {call.tool} {one_line(call.arguments, max(10, width - 24))} … {clock(now - call.since)}"
            lines.append(Text(plain(running), style="cyan"))
        if self.detail != "quiet":
            lines.extend(live_words(self._words, self.screen))
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        return Group(*lines[: max(1, self.screen.height - 2)], self._status())

    def _status(self) -> Text:
        width = max(20, self.screen.width - _ECHO)
        line = status_line(self.doing, self.limits, now=time.time(), width=width)
        return Text(line, style="dim", overflow="ellipsis", no_wrap=True)


def _in_workspace(patch: Path) -> str:
    """The path as shown to people: `.sdd/runs/RUN/visit-1.patch`."""
    return "/".join((".sdd", *patch.parts[-3:]))
