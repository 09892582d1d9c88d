"""The consoles that output goes to, and what each supports."""

import errno
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
    """A console that follows the window size, and whose reader may close early, as `head` does."""

    @property
    def size(self) -> ConsoleDimensions:
        """The current size of the terminal, because an exported COLUMNS does not follow the window."""
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
        """Print with rich; on a terminal, text is first wrapped at blanks with a hanging indent.

        Everything else (Markdown, a table) wraps its own text, which rich cuts off at the width where nothing wraps.
        Where `soft_wrap` is given it is left as it stands: the lines of a diff, what a person copies.
        """
        if self.is_terminal and len(objects) == 1 and "soft_wrap" not in options:
            objects, options = self._fitted(objects[0], options)
        super().print(*objects, **options)

    def _fitted(self, shown: Any, options: dict[str, Any]) -> tuple[tuple[Any], dict[str, Any]]:
        """What is printed, and how, so that nothing of it is lost at the width of the terminal."""
        if not isinstance(shown, str | Text):
            return (shown,), {**options, "soft_wrap": False}
        text = Text(shown) if isinstance(shown, str) else shown
        return (Text("\n").join(wrapped(text, self, self.width)),), options

    def _check_buffer(self) -> None:
        """Write what is pending; a closed terminal is a broken pipe."""
        try:
            super()._check_buffer()
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            self.on_broken_pipe()

    def on_broken_pipe(self) -> None:
        """Print nothing more and let the work finish; rich would exit with status 1."""
        self.quiet = True
        _deafen(self.file)


def say(text: str) -> None:
    """Write to stdout, even if it was closed; control characters are escaped as in JSON."""
    try:
        sys.stdout.write(escaped(text))
        sys.stdout.flush()
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EIO):
            raise
        _deafen(sys.stdout)


def say_json(value: object) -> None:
    """Print one JSON value on stdout (a pydantic model by its aliases); invisible characters are escaped."""
    if isinstance(value, BaseModel):
        say(value.model_dump_json(by_alias=True, indent=2) + "\n")
    else:
        say(json.dumps(value, indent=2) + "\n")


def warn(text: str) -> None:
    """One line on stderr."""
    complain(f"kotef: warning: {plain(text)}")


def complain(line: str) -> None:
    """One line on stderr; a terminal gets it wrapped at blanks."""
    if sys.stderr.isatty():
        console(stderr=True).print(line)
    else:
        sys.stderr.write(f"{line}\n")


def _deafen(stream: IO[str]) -> None:
    """Discard all further output, including what the interpreter flushes at exit."""
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
