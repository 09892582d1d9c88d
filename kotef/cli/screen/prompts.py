"""Questions at the terminal, and their answers."""

import asyncio
import os
import shlex
import sys
import tempfile
import termios
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from rich.console import Console
from rich.text import Text

from kotef.cli.screen.diffs import coloured
from kotef.cli.screen.sanitize import flat, one_line, plain
from kotef.cli.screen.wrap import wrapped
from kotef.redaction import redactor

if TYPE_CHECKING:
    from kotef.deps import Option, Permission

T = TypeVar("T")

EDITORS: Final = ("VISUAL", "EDITOR")
"""Environment variables that name the editor, the first that is set."""
_PROMPT_ROWS: Final = 3
"""Rows below the options: one or two for the prompt, and one for the cursor."""
_LEAST_DIFF: Final = 2
_MOST_COMMAND: Final = 12
"""Lines shown of a command that needs permission: its first and last ones."""
_HELP: Final = "# One step per line; lines that begin with # are ignored. Without steps the plan stays as it was.\n"


class TerminalPrompts:
    """Asks questions one at a time; `still` pauses the live view meanwhile."""

    def __init__(self, screen: Console, still: Callable[[], AbstractContextManager[None]]) -> None:
        self.screen, self._still = screen, still
        self._one_at_a_time = asyncio.Lock()

    async def choose(self, question: str, options: Sequence["Option"]) -> int | None:
        """Show the options with their edits and wait for a number; anything else leaves the question open."""
        question, options = redactor().text(question), redactor().whole(options)
        async with self._one_at_a_time:
            with self._still():
                self.screen.print(Text(plain(question), style="bold"))
                room = self._room(question, options)
                for number, option in enumerate(options, 1):
                    self.screen.print(Text(f"  {number}. {one_line(option.answer)}"))
                    self._show_diff(option.diff, room)
                known = {str(number): number for number in range(1, len(options) + 1)}
                prompt = f"  Which is intended? 1 to {len(options)}, or Enter to leave it open: "
                chosen = await self._answer(prompt, {**known, "": 0}, end=0)
        return chosen - 1 if chosen else None

    def _room(self, question: str, options: Sequence["Option"]) -> int:
        """Lines available for the diff of each option, so that the first line of the question stays visible."""
        width, height = max(1, self.screen.width), self.screen.height
        taken = [plain(question), *(f"  {number}. {one_line(each.answer)}" for number, each in enumerate(options, 1))]
        rows = sum(len(wrapped(Text(text), self.screen, width)) for text in taken)
        return max(_LEAST_DIFF, (height - rows - _PROMPT_ROWS) // max(1, len(options)))

    def _show_diff(self, diff: str, room: int) -> None:
        """The diff in at most this many lines; one of them says how many are left out."""
        lines = coloured(diff, indent="     ").split("\n")
        shown = lines if len(lines) <= room else lines[: max(1, room - 1)]
        for line in shown:
            line.truncate(max(20, self.screen.width - 1), overflow="ellipsis")
            self.screen.print(line)
        if hidden := len(lines) - len(shown):
            self.screen.print(Text(f"     … {hidden:,} more lines", style="dim"))

    async def plan(self, visit: int, steps: Sequence[str], *, shown: bool) -> tuple[str, ...] | None:
        """The approved steps, possibly edited; None if the person quits. `shown`: they were just printed."""
        steps = [flat(redactor().text(step)) for step in steps]
        async with self._one_at_a_time:
            with self._still():
                while True:
                    if not shown:
                        self._list(steps)
                    answers = {"a": "approve", "e": "edit", "q": "quit"}
                    words = {**answers, **{word: word for word in answers.values()}, "y": "approve", "n": "quit"}
                    before = (
                        "Nothing has been edited yet" if visit == 1 else f"Attempt {visit} has not edited anything yet"
                    )
                    prompt = f"  {before}. Approve this plan (a), edit it (e) or quit (q)? "
                    match await self._answer(prompt, words, end="quit"):
                        case "approve":
                            return tuple(steps)
                        case "edit":
                            steps, shown = await self._edited(steps), False
                        case _:
                            return None

    async def command(self, command: str, reason: str) -> "Permission":
        """Whether a command line that the policy does not allow on its own may run."""
        command, reason = redactor().text(command), redactor().text(reason)
        async with self._one_at_a_time:
            with self._still():
                self.screen.print(Text("  The model wants to run a command that needs your permission:", style="bold"))
                self.screen.print(Text("\n".join(f"    {line}" for line in _folded(command)), style="bold"))
                self.screen.print(Text(f"    ({one_line(reason, 300)})", style="yellow"))
                words: dict[str, Permission] = {"o": "once", "once": "once", "y": "once", "yes": "once", "r": "run"}
                words |= {"run": "run", "n": "no", "no": "no", "": "no"}
                return await self._answer("  Allow it once (o), for this run (r), or not (n)? ", words, end="no")

    async def _answer(self, prompt: str, known: dict[str, T], *, end: T) -> T:
        """The first valid answer, in upper or lower case; `end` if the terminal is closed."""
        with suppress(termios.error, OSError):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before the question is not an answer to it
        while True:
            self.screen.print(Text(prompt, style="bold"), end="")
            line = await typed_line()
            if line is None:
                self.screen.print("")
                return end
            if (reply := line.strip().lower()) in known:
                return known[reply]

    def _list(self, steps: Sequence[str]) -> None:
        self.screen.print(Text("  plan:", style="bold"))
        for number, step in enumerate(steps, 1):
            self.screen.print(Text(f"    {number}. {step}"))

    async def _edited(self, steps: list[str]) -> list[str]:
        """The steps from the editor, or typed without one; unchanged if none are left."""
        editor = next((words for name in EDITORS if (words := os.environ.get(name, "").strip())), "")
        found = await self._in_editor(editor, steps) if editor else await self._typed()
        if not found:
            self.screen.print(Text("  No steps were left, so the plan stays as it was.", style="yellow"))
        return found or steps

    async def _typed(self) -> list[str]:
        self.screen.print("  No $VISUAL or $EDITOR is set: type the steps, one per line; an empty line ends the plan.")
        found: list[str] = []
        while True:
            self.screen.print(f"    {len(found) + 1}. ", end="")
            line = await typed_line()
            if not (line or "").strip():
                return found
            found.append(flat(plain(line or "")))

    async def _in_editor(self, editor: str, steps: Sequence[str]) -> list[str]:
        """The edited text; empty if the editor cannot be started or exits with an error."""
        with tempfile.TemporaryDirectory(prefix="kotef-plan-") as place:
            file = Path(place) / "plan.txt"
            file.write_text(_HELP + "".join(f"{step}\n" for step in steps), encoding="utf-8")
            try:
                process = await asyncio.create_subprocess_exec(*shlex.split(editor), str(file))
            except (OSError, ValueError) as error:
                self.screen.print(Text(f"  The editor cannot be started: {plain(str(error))}", style="red"))
                return []
            if status := await process.wait():
                self.screen.print(Text(f"  The editor ended with status {status}.", style="red"))
                return []
            lines = plain(file.read_text(encoding="utf-8", errors="replace")).splitlines()
        return [flat(line) for line in lines if line.strip() and not line.startswith("#")]


def _folded(command: str) -> list[str]:
    """The lines of a command, without those in the middle of a very long one."""
    lines = plain(command).splitlines()
    if len(lines) <= _MOST_COMMAND:
        return lines
    half = _MOST_COMMAND // 2
    return [*lines[:half], f"… {len(lines) - 2 * half:,} more lines", *lines[-half:]]


async def typed_line() -> str | None:
    """One line from the terminal, None if it is closed; the loop continues, so a signal still ends the run."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    waiting = sys.stdin.fileno()

    def come() -> None:
        loop.remove_reader(waiting)
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(waiting, come)
    try:
        await ready
    finally:
        loop.remove_reader(waiting)
    try:
        typed = os.read(waiting, 1 << 16)  # a terminal gives one line at a time; nothing stays behind in a buffer
    except OSError:
        return None
    return typed.decode("utf-8", "replace") if typed else None
