"""Signals that stop a run, from its directory to its result."""

import asyncio
import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any, Final, Self

from kotef.deps import Emit

STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end a run `interrupted`; SIGHUP is what a closed terminal sends, and `nohup` ignores it."""

PATIENCE: Final = 10.0
"""Seconds that an interrupted run has to write its result; a signal after that ends the process at once."""


class StopRequest:
    """A request from any thread to stop a run; it also holds if the run begins later."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted = False
        self._tell: Callable[[], None] | None = None

    def set(self) -> None:
        """Ask the run to stop."""
        with self._lock:
            self._wanted = True
            tell = self._tell
        if tell is not None:
            tell()

    def tell(self, act: Callable[[], None]) -> None:
        """Call `act` when the run is asked to stop; at once if it already was."""
        with self._lock:
            self._tell = act
            wanted = self._wanted
        if wanted:
            act()


class Signals:
    """A person's first Ctrl-C lets the current step end; any other signal cancels what is at work.

    Within the block no signal ends the process before the run has its result, but one that comes `PATIENCE` seconds
    after the work was cancelled: it raises KeyboardInterrupt, as if nothing caught it.
    """

    def __init__(self, *, gently: bool = False, stop: StopRequest | None = None) -> None:
        """Nothing is caught before the block. `gently`: a person at a terminal reads what becomes of it.

        `stop` is as a SIGINT, for who embeds kotef.
        """
        self.number = 0
        """The signal that came; 0 while none did."""
        self.emit: Emit = _unrecorded
        """Where a gentle stop is announced; set once the run has events."""
        self._gently, self._stop_request = gently, stop
        self._waits = False
        """Whether what is at work continues up to the end of its step, and no further."""
        self._questions = 0
        self._at_work: asyncio.Task[object] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ends_by = 0.0
        """Monotonic time up to which further signals are only noted; 0 while the work may continue."""
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        """Catch the signals; an ignored SIGHUP stays ignored."""
        for number in STOPPING:
            before = signal.getsignal(number)
            if number == signal.SIGHUP and before is signal.SIG_IGN:
                continue
            with contextlib.suppress(ValueError):  # not the main thread: someone embeds us
                signal.signal(number, self._received)
                self._before[number] = before
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restore the handling of signals."""
        for number, before in self._before.items():
            signal.signal(number, signal.SIG_DFL if before is None else before)

    def catch(self, at_work: asyncio.Task[object] | None) -> None:
        """From now on a signal cancels `at_work`; None: it is only noted, for what comes next to end at once.

        A signal that came before the first call cancels it now.
        """
        self._at_work, self._loop = at_work, asyncio.get_running_loop()
        if self.number and at_work is not None:
            self._cancel(at_work)
        if self._stop_request is not None and not self.number:
            self._stop_request.tell(self._stop_requested)

    def _stop_requested(self) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the run has ended meanwhile
                self._loop.call_soon_threadsafe(self._stop, signal.SIGINT)

    async def gate(self) -> None:
        """Awaited before each step; does not return after a person asked to stop."""
        task = asyncio.current_task()
        if not self._waits or self._at_work is None or (task is not None and task.cancelling()):
            return
        if not self._at_work.cancelling():
            self._cancel(self._at_work)
        await asyncio.get_running_loop().create_future()

    @contextlib.contextmanager
    def question(self) -> Iterator[None]:
        """Use during a question to a person: a Ctrl-C then stops at once."""
        self._questions += 1
        try:
            yield
        finally:
            self._questions -= 1

    def _received(self, number: int, _: FrameType | None) -> None:
        """Answer a signal, between any two instructions of the main thread."""
        if self._ends_by and time.monotonic() > self._ends_by:
            raise KeyboardInterrupt
        if self._at_work is None and not self._ends_by:
            self._ends_by = time.monotonic() + PATIENCE
        if self._loop is None:
            self.number = number
            return
        with contextlib.suppress(RuntimeError):  # its loop is closed: the result is written
            self._loop.call_soon_threadsafe(self._stop, number)

    def _stop(self, number: int) -> None:
        gently = self._gently and number == signal.SIGINT and not (self.number or self._questions)
        self.number = number
        if gently and self._at_work is not None:
            self._waits = True
            self.emit("stopping", signal=signal.Signals(number).name)
        elif self._at_work is not None:
            self._cancel(self._at_work)

    def _cancel(self, at_work: asyncio.Task[object]) -> None:
        """Cancel the work, once: a second cancellation would cut off its clean-up."""
        if not self._ends_by:
            self._ends_by = time.monotonic() + PATIENCE
        if not at_work.cancelling():
            at_work.cancel()


def _unrecorded(event: str, /, **facts: object) -> None:
    """An event of a run that has no log yet."""
