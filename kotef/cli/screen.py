"""What does a person see while a run is at work?"""

import asyncio
import os
import re
import sys
import time
import unicodedata
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.live import Live
from rich.text import Text

from kotef.failures.counted import counted
from kotef.runs.events import Line
from kotef.workspace.hiding import redactor

if TYPE_CHECKING:
    from kotef.deps import Option

NODES: Final = {
    "check_started": "verifier",
    "verified": "planner",
    "planned": "coder",
    "coder_started": "coder",
    "coder_finished": "verifier",
    "proving": "verifier",
    "setting_aside": "verifier",
    "ended": "done",
}


_STEERING: Final = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
"""Control characters, marks of direction, and what no terminal can print; in JSON they stand in texts only."""


def plain(text: str) -> str:
    """`text` without what could steer a terminal: control characters and bidirectional marks, line breaks kept."""
    kept = (char for char in text if char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cf", "Cs"})
    return "".join(kept)


def one_line(text: str, width: int = 160) -> str:
    """The first line that says something, cut to `width` characters."""
    line = next((line for line in plain(text).splitlines() if line.strip()), "").strip()
    return line if len(line) <= width else line[: width - 1] + "…"


class _Console(Console):
    """One whose reader may leave early, as `head` does: work goes on, and ends with a status of its own."""

    def on_broken_pipe(self) -> None:
        """Say nothing more; rich would end the program here with status 1."""
        self.quiet = True
        _deafen(self.file)


def say(text: str) -> None:
    """Write to stdout, whether or not anybody still reads; what could steer a terminal is escaped as JSON has it."""
    try:
        sys.stdout.write(_STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
        sys.stdout.flush()
    except BrokenPipeError:
        _deafen(sys.stdout)


def _deafen(stream: IO[str]) -> None:
    """Let what is still to come go nowhere, what the interpreter flushes at its end included."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    finally:
        os.close(nowhere)


def console(*, stderr: bool = False) -> Console:
    """Colours only on a terminal; `NO_COLOR` is respected by rich, and lines are never wrapped when piped."""
    return _Console(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=True)


def is_live(screen: Console) -> bool:
    """A live view needs a terminal that a person watches."""
    return screen.is_terminal and not screen.is_dumb_terminal and not os.environ.get("CI")


def coloured(diff: str, *, indent: str = "") -> Text:
    """A unified diff, its added and removed lines coloured, of its headers the name of the file alone."""
    shown = (line.removeprefix("+++ b/") for line in plain(diff).splitlines())
    lines = [line for line in shown if not line.startswith(("--- ", "diff "))]
    styles = {"+": "green", "-": "red", "@": "cyan"}
    return Text("\n").join(Text(indent + line, style=styles.get(line[:1], "")) for line in lines)


async def _line() -> str:
    """One line from the terminal; the loop goes on, so a signal still ends the run."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    waiting = sys.stdin.fileno()

    def come() -> None:
        loop.remove_reader(waiting)
        ready.set_result(None)

    loop.add_reader(waiting, come)
    try:
        await ready
    finally:
        loop.remove_reader(waiting)
    return sys.stdin.readline().strip()


@dataclass(slots=True)
class Screen:
    """Turns the events of a run into lines, and on a terminal keeps one status line below them."""

    max_attempts: int
    screen: Console = field(default_factory=console)
    attempt: int = 0
    node: str = "verifier"
    doing: str = "baseline"
    tokens: int = 0
    started: float = field(default_factory=time.monotonic)
    _live: Live | None = None

    def watching(self) -> AbstractContextManager[Any]:
        """The live status line, for as long as the run is at work; nothing when piped or in CI."""
        if not is_live(self.screen):
            return nullcontext()
        self._live = Live(console=self.screen, get_renderable=self._status, refresh_per_second=4, transient=True)
        return self._live

    async def ask(self, question: str, options: Sequence["Option"]) -> int | None:
        """Show the options with their edits and wait for a number; anything else leaves the question open."""
        question, options = redactor().text(question), redactor().whole(options)
        if self._live is not None:
            self._live.stop()
        self.screen.print(Text(plain(question), style="bold"))
        for number, option in enumerate(options, 1):
            self.screen.print(Text(f"  {number}. {one_line(option.answer)}"))
            self.screen.print(coloured(option.diff, indent="     "))
        answer = "?"
        while answer and not (answer.isdecimal() and 0 < int(answer) <= len(options)):
            self.screen.print(f"  Which is meant? 1 to {len(options)}, or Enter to leave it open: ", end="")
            answer = await _line()
        if self._live is not None:
            self._live.start()
        return int(answer) - 1 if answer else None

    def __call__(self, event: Line) -> None:
        """Take in one event, and say it if it is worth a line."""
        name = str(event["event"])
        self.node = NODES.get(name, self.node)
        if name == "coder_started":
            self.attempt = int(event["visit"])
        elif name == "model_answer":
            self.tokens += int(event["tokens_in"]) + int(event["tokens_out"])
        elif name == "model_call":
            self.doing = "asking the model"
        elif name == "tool_started":
            self.doing = f"{event['tool']} {event['arguments']}"
        elif name == "trying":
            self.doing = f"{event['coder']}: {event['what']}"
        elif name == "check_started":
            self.doing = str(event["command"])
        if said := _said(event, self.max_attempts):
            text, style = said
            self.screen.print(Text(plain(text), style=style))

    def _status(self) -> Text:
        seconds = int(time.monotonic() - self.started)
        where = f"attempt {self.attempt} of {self.max_attempts}" if self.attempt else "baseline"
        parts = (
            where,
            self.node,
            one_line(self.doing, 50),
            counted(self.tokens, "token") if self.tokens else "",
            f"{seconds // 60}:{seconds % 60:02}",
        )
        return Text(" · ".join(part for part in parts if part), style="dim", overflow="ellipsis", no_wrap=True)


def _confined(event: Line) -> str:
    """The level, and whether commands have the network."""
    confined = event["sandbox"] not in {"off", "none"}
    return f"sandbox: {event['sandbox']}" + (f", {'with' if event['network'] else 'no'} network" if confined else "")


def _said(event: Line, max_attempts: int) -> tuple[str, str] | None:
    """The line for one event and its style; None for what only the status line shows."""
    match event["event"]:
        case "run_started":
            checks = "".join(f"\n  check: {command}" for command in event["checks"])
            model = f"  model: {event['model']}" if event["model"] else ""
            who = f"coder: {event['coder']}{model}"
            return f"run {event['run']}  {who}  {_confined(event)}{checks}", "bold"
        case "run_resumed":
            return f"run {event['run']} goes on  {_confined(event)}", "bold"
        case "setup_started":
            return f"setup: {event['command']}", "dim"
        case "setup_finished" if not event["passed"]:
            return f"setup failed: {event['summary']}", "red"
        case "notice":
            return f"note: {event['text']}", "yellow"
        case "snapshot" if event["left_out"]:
            some = ", ".join(event["left_out"][:5])
            return f"note: not in the snapshot (too large, or another repository): {some}", "yellow"
        case "check_finished":
            return _check_line(event)
        case "baseline_reused":
            return f"  baseline reused from {event['run']}, judged {event['judged_at']} (--no-cache judges anew)", "dim"
        case "rerun":
            some = ", ".join(one_line(test, 100) for test in event["flaky"][:5])
            return f"  {event['check']}: failed with the others, passed alone: {some}", "yellow"
        case "planned":
            steps = "".join(f"\n    {number}. {one_line(step)}" for number, step in enumerate(event["steps"], 1))
            why = f" ({one_line(event['hypothesis'])})" if event["hypothesis"] else ""
            return f"attempt {event['visit']} of {max_attempts}\n  plan by {event['source']}{why}:{steps}", "bold"
        case "plan_fallback":
            return "  the model gave no readable plan; code made one", "yellow"
        case "recalled":
            return f"note: the same failure was seen before; `kotef show {event['runs'][0]}` tells what was tried", ""
        case "coder_finished" if event["stopped_by"] != "exhausted":
            changed = ", ".join(event["changed"][:8]) or "nothing"
            why = (
                ""
                if event["stopped_by"] == "finished"
                else f"; stopped by {event['stopped_by']}: {one_line(event['detail'])}"
            )
            return f"  changed: {changed}{why}", ""
        case "declined":
            return f"  {event['coder']}: {one_line(event['why'], 200)}", "dim"
        case "answered":
            return f"  you said: {one_line(event['answer'])}", ""
        case "proving":
            return "  proving the new tests on the code as it was before", ""
        case "setting_aside":
            return f"  judging once more without {', '.join(event['paths'][:8])}", ""
        case "verified":
            return _verdict_lines(event)
        case "reviewed":
            return f"  review: {'accepted' if event['accepted'] else 'refused: ' + one_line(event['reason'])}", ""
        case "withheld":
            return f"the edit of attempt {event['visit']} is kept as {event['patch']}, not in the tree", ""
        case "restored" if event["put_back"] or event["left"]:
            return _restored_line(event), ""
        case _:
            return _said_in_a_visit(event)


def _said_in_a_visit(event: Line) -> tuple[str, str] | None:
    """As `_said`, of a coder at work: its model, its tools, and what guards them."""
    match event["event"]:
        case "retry":
            return f"  {event['what']}: {event['why']}", "yellow"
        case "model_retry" if event["level"] != "quiet":
            style = "bold red" if event["level"] == "loud" else "yellow"
            return f"  model: {one_line(event['why'])}; again in {event['seconds']:.0f} s", style
        case "model_fallback":
            return f"  {event['stand_in']} takes over for {event['model']}: {one_line(event['why'])}", "yellow"
        case "mended":
            return f"  {event['tool']}: its arguments were mended: {one_line(event['what'])}", "dim"
        case "empty_answer":
            then = "it is asked once more" if event["asked_again"] else "the visit ends"
            return f"  the model answered with nothing; {then}", "yellow"
        case "nudge":
            return f"  nudge: {event['what']}", "yellow"
        case "tool_finished":
            note = "" if event["ok"] else f" {one_line(event['note'], 100)}"
            mark = "✓" if event["ok"] else "✗"
            return f"  ↳ {event['tool']} {one_line(event['arguments'], 80)} {mark}{note}", "" if event["ok"] else "red"
        case "mistake_recovery":
            kinds = ", ".join(dict.fromkeys(event["failure_kinds"]))
            if event["escalated"]:
                return f"  errors persisted ({kinds}), the visit was stopped", "red"
            return f"  repeated different errors ({kinds}), guidance injected, continuing", "yellow"
        case "repeat":
            then = "the visit was stopped" if event["stopped"] else "warned, continuing"
            return f"  {event['tool']}: {one_line(event['what'])}; {then}", "red" if event["stopped"] else "yellow"
        case "compacted" | "prefix_drift":
            return _context_line(event)
        case "cap_reached":
            then = "going on from a summary" if event["can_continue"] else "the visit ends with a summary"
            return f"  {one_line(event['detail'])}; {then}", "yellow"
        case _:
            return None


def _context_line(event: Line) -> tuple[str, str]:
    """What became of the conversation, or of what stands before it."""
    if event["event"] == "prefix_drift":
        return f"  warning: what stands before the conversation changed: {', '.join(event['changed'])}", "yellow"
    left = f"{event['tokens_before']:,} of {event['window']:,} tokens, about {event['tokens_after']:,} are left"
    return f"  the conversation had {left} ({event['how']})", ""


def _check_line(event: Line) -> tuple[str, str]:
    status = "timed out" if event["exit_code"] is None else f"exit {event['exit_code']}"
    ran = f", {counted(event['executed'], 'test')} ran" if event["executed"] is not None else ""
    failing = f", {event['failing']} failed" if event["failing"] else ""
    summary = "" if event["passed"] else f"\n    {event['kind']}: {one_line(event['summary'])}"
    summary += "\n    the rest was not run: these were red before and have to pass first" if event["partial"] else ""
    head = "baseline" if event["visit"] == 0 else "verifier"
    return f"  {head}: {event['check']}: {status}{ran}{failing} ({event['seconds']:.1f} s){summary}", "green" if event[
        "passed"
    ] else "red"


def _restored_line(event: Line) -> str:
    if event["visit"]:
        return f"the workspace was left at attempt {event['visit']}, the best one"
    return "no attempt is better than the state before the run, so all edits are undone; visit-N.patch has each"


def _verdict_lines(event: Line) -> tuple[str, str] | None:
    lines = []
    if event["put_back"]:
        lines.append(f"  put back before judging: {', '.join(event['put_back'][:8])}")
    if event["left"]:
        lines.append(f"  left, because somebody else changed them: {', '.join(event['left'][:8])}")
    if event["visit"] and not event["passed"]:
        lines.append(f"  not verified: {one_line(event['summary'], 300)}")
    return ("\n".join(lines), "green" if event["passed"] else "red") if lines else None
