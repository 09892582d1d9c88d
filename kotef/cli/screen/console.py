"""The consoles that output goes to, and what each supports."""

import json
import os
import sys
from contextlib import suppress
from typing import IO, Any

from pydantic import BaseModel
from rich.console import Console, ConsoleDimensions
from rich.text import Text

from kotef.cli.screen.sanitize import escaped, plain
from kotef.cli.screen.wrap import wrapped


class _Console(Console):
    """One that fits the window it is in, and whose reader may leave early, as `head` does."""

    @property
    def size(self) -> ConsoleDimensions:
        """Of a terminal its own size, asked each time: an exported COLUMNS stays as it is when the window changes."""
        if self.is_terminal and not self.is_dumb_terminal:
            with suppress(OSError, ValueError):
                columns, lines = os.get_terminal_size(self.file.fileno())
                if columns and lines:
                    return ConsoleDimensions(columns, lines)
        return super().size

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich prints; a text on a terminal is wrapped at blanks first, with a hanging indent.

        Where `soft_wrap` is given it is left as it stands: the lines of a diff, what a person copies.
        """
        if self.is_terminal and len(objects) == 1 and isinstance(objects[0], str | Text) and "soft_wrap" not in options:
            text = Text(objects[0]) if isinstance(objects[0], str) else objects[0]
            objects = (Text("\n").join(wrapped(text, self, self.width)),)
        super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Say nothing more and let work go on to its own status; rich would end the program here with status 1."""
        self.quiet = True
        _deafen(self.file)


def say(text: str) -> None:
    """Write to stdout, whether or not anybody still reads; what could steer a terminal is escaped as JSON has it."""
    try:
        sys.stdout.write(escaped(text))
        sys.stdout.flush()
    except BrokenPipeError:
        _deafen(sys.stdout)


def say_json(value: object) -> None:
    """Print one JSON value on stdout (a pydantic model by its aliases); invisible characters are escaped."""
    if isinstance(value, BaseModel):
        say(value.model_dump_json(by_alias=True, indent=2) + "\n")
    else:
        say(json.dumps(value, indent=2) + "\n")


def warn(text: str) -> None:
    """One line on stderr."""
    sys.stderr.write(f"kotef: warning: {plain(text)}\n")


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


def is_attended(screen: Console) -> bool:
    """Whether a person reads the output and can type an answer; no one does in CI."""
    return screen.is_terminal and sys.stdin.isatty() and not os.environ.get("CI")
