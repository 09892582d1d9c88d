"""What becomes of SIGINT and SIGTERM while a run works?"""

import asyncio
import contextlib
import signal
from collections.abc import Iterator

from kotef.deps import Emit


class Signals:
    """A person's first Ctrl-C lets the current step end; any other signal cancels what is at work.

    Once that is cancelled, one more is the system's to answer; where nothing can be cancelled, each is only noted.
    """

    def __init__(self, emit: Emit, *, gently: bool = False) -> None:
        """Nothing is caught before `catch`. `gently`: a person at a terminal reads what becomes of it."""
        self.number = 0
        """The signal that came; 0 while none did."""
        self.emit, self._gently = emit, gently
        self._waits = False
        """Whether what is at work goes on up to the end of its step, and no further."""
        self._questions = 0
        self._at_work: asyncio.Task[object] | None = None

    def catch(self, at_work: asyncio.Task[object] | None) -> None:
        """From now on a signal cancels `at_work`; None: it is only noted, for what comes next to end at once."""
        self._at_work = at_work
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(ValueError, RuntimeError):  # not the main thread: somebody embeds us
                if at_work is None or not self.number:
                    loop.add_signal_handler(number, self._stop, number)

    def let_go(self) -> None:
        """From now on every signal is the system's."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)

    async def gate(self) -> None:
        """Passed before each step; does not return once a person wants no other one, whoever is about to begin it."""
        task = asyncio.current_task()
        if not self._waits or self._at_work is None or (task is not None and task.cancelling()):
            return
        if not self._at_work.cancelling():
            self._at_work.cancel()
        await asyncio.get_running_loop().create_future()

    @contextlib.contextmanager
    def question(self) -> Iterator[None]:
        """Inside a person is asked: the step is theirs, so a Ctrl-C ends it at once."""
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
