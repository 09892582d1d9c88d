"""What does a person at a terminal see, and how is a question answered there?"""

import fcntl
import os
import select
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Self

import pyte
from support.process import kotef_at_terminal

NOT_A_PERSONS = {"CI", "LANGGRAPH_STRICT_MSGPACK", "VISUAL", "EDITOR", "COLUMNS", "LINES"}
"""Variables that are set for tests, and not where a person works."""


def at_a_terminal(arguments: Sequence[str], cwd: Path, answers: Mapping[str, str], *, seconds: float = 60) -> str:
    """Run kotef on a pseudo-terminal; once it has written a key of `answers`, its value is typed. All it wrote."""
    process, terminal = _started(arguments, cwd, {})
    written, waiting, until = b"", dict(answers), time.monotonic() + seconds
    while time.monotonic() < until:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            written += os.read(terminal, 1 << 16)
        except OSError:  # the other end is closed: it has ended
            break
        for question in [question for question in waiting if question.encode() in written]:
            os.write(terminal, waiting.pop(question).encode())
    os.close(terminal)
    process.join()
    return written.decode("utf-8", "replace")


def _started(
    arguments: Sequence[str], cwd: Path, env: Mapping[str, str], size: tuple[int, int] = (0, 0), *, cold: bool = False
) -> tuple[BaseProcess, int]:
    """A process of kotef at a pseudo-terminal of `size` lines and columns, and our end of it; `env` is added to ours."""
    ours, theirs = os.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    inherited = {name: value for name, value in os.environ.items() if name not in NOT_A_PERSONS}
    process = kotef_at_terminal(
        arguments, {**inherited, "TERM": "xterm-256color", **env}, cwd, os.ttyname(theirs), cold=cold
    )
    os.close(theirs)
    return process, ours


class Terminal:
    """kotef on a pseudo-terminal: what it wrote, and the screen as a person sees it."""

    def __init__(
        self,
        arguments: Sequence[str],
        cwd: Path,
        *,
        columns: int = 100,
        lines: int = 40,
        env: Mapping[str, str] | None = None,
        cold: bool = False,
    ) -> None:
        self.written = b""
        self.status: int | None = None
        self._mark = 0
        self._is_closed = False
        self._screen = pyte.HistoryScreen(columns, lines, history=5000, ratio=1)
        self._stream = pyte.ByteStream(self._screen)
        self._process, self._terminal = _started(arguments, cwd, env or {}, (lines, columns), cold=cold)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        if self.status is None:
            self._process.kill()
            self._process.join()
        if not self._is_closed:
            os.close(self._terminal)

    def close_window(self) -> int:
        """As a person who closes the window: the kernel sends SIGHUP, and nothing can be written. The exit status."""
        os.close(self._terminal)
        self._is_closed = True
        self._process.join(120)
        self.status = self._process.exitcode
        assert self.status is not None
        return self.status

    def resize(self, columns: int, lines: int) -> None:
        """As a person who drags the window's corner: the kernel tells the command by SIGWINCH."""
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self._screen.resize(lines, columns)

    def type(self, text: str) -> None:
        """As from the keyboard: `\\x03` is Ctrl-C."""
        os.write(self._terminal, text.encode())

    def until(self, text: str, seconds: float = 240) -> None:
        """Read until the command has written `text` after what it had written before the last call."""
        began, until = self._mark, time.monotonic() + seconds
        while (at := self.written.find(text.encode(), began)) < 0:
            assert time.monotonic() < until, f"no {text!r} after {seconds} s: {self.text}"
            assert self._read(), f"it ended without {text!r}: {self.text}"
        self._mark = at + len(text.encode())

    def see(self, wanted: Callable[[list[str]], bool], seconds: float = 240) -> None:
        """Read until the screen, two lines or more, is as `wanted`."""
        until = time.monotonic() + seconds
        while not (len(self.shown) > 1 and wanted(self.shown)):
            assert time.monotonic() < until, f"not seen after {seconds} s: {self.text}"
            assert self._read(), f"it ended: {self.text}"

    def end(self, seconds: float = 240) -> int:
        """Wait for its end; the exit status."""
        until = time.monotonic() + seconds
        while self._read():
            assert time.monotonic() < until, f"still at work after {seconds} s: {self.text}"
        if self.status is None:
            self._process.join()
            self.status = self._process.exitcode
            assert self.status is not None
        return self.status

    def _read(self) -> bool:
        """Take what comes within a moment; False once the other end is closed."""
        if select.select([self._terminal], [], [], 0.1)[0]:
            try:
                came = os.read(self._terminal, 1 << 16)
            except OSError:
                return False
            self.written += came
            self._stream.feed(came)
        return True

    @property
    def shown(self) -> list[str]:
        """The lines on the screen now, the empty ones at its end aside."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip().splitlines()

    @property
    def text(self) -> str:
        """Everything that stands on the screen, or has scrolled off it."""
        gone = ["".join(line[at].data for at in range(self._screen.columns)) for line in self._screen.history.top]
        return "\n".join(line.rstrip() for line in (*gone, *self.shown))

    @property
    def colours(self) -> set[str]:
        """Foreground colours of the characters on the screen."""
        return {cell.fg for line in self._screen.buffer.values() for cell in line.values()}
