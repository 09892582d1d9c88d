"""Handling of SIGINT and SIGTERM while a run works."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator

from kotef.deps import Emit


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

    Once that is cancelled, one more is the system's to answer; where nothing can be cancelled, each is only noted.
    """

    def __init__(self, emit: Emit, *, gently: bool = False, stop: StopRequest | None = None) -> None:
        """Nothing is caught before `catch`. `gently`: a person at a terminal reads what becomes of it.

        `stop` is as a SIGINT, for who embeds kotef.
        """
        self.number = 0
        """The signal that came; 0 while none did."""
        self.emit, self._gently, self._stop_request = emit, gently, stop
        self._waits = False
        """Whether what is at work continues up to the end of its step, and no further."""
        self._questions = 0
        self._at_work: asyncio.Task[object] | None = None

    def catch(self, at_work: asyncio.Task[object] | None) -> None:
        """From now on a signal cancels `at_work`; None: it is only noted, for what comes next to end at once."""
        self._at_work = at_work
        loop = asyncio.get_running_loop()
        if self._stop_request is not None and not self.number:
            self._stop_request.tell(lambda: self._stop_requested(loop))
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(ValueError, RuntimeError):  # not the main thread: someone embeds us
                if at_work is None or not self.number:
                    loop.add_signal_handler(number, self._stop, number)

    def let_go(self) -> None:
        """Restore the system's handling of signals."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)

    def _stop_requested(self, loop: asyncio.AbstractEventLoop) -> None:
        with contextlib.suppress(RuntimeError):  # the run has ended meanwhile
            loop.call_soon_threadsafe(self._stop, signal.SIGINT)

    async def gate(self) -> None:
        """Awaited before each step; does not return after a person asked to stop."""
        task = asyncio.current_task()
        if not self._waits or self._at_work is None or (task is not None and task.cancelling()):
            return
        if not self._at_work.cancelling():
            self._at_work.cancel()
        await asyncio.get_running_loop().create_future()

    @contextlib.contextmanager
    def question(self) -> Iterator[None]:
        """Use during a question to a person: a Ctrl-C then stops at once."""
        self._questions += 1
        try:
            yield
        finally:
            self._questions -= 1

    def _stop(self, number: signal.Signals) -> None:
        gently = self._gently and number == signal.SIGINT and not (self.number or self._questions)
        self.number = number
        if gently and self._at_work is not None:
            self._waits = True
            self.emit("stopping", signal=number.name)
            return
        if self._at_work is not None:
            asyncio.get_running_loop().remove_signal_handler(number)
            self._at_work.cancel()
