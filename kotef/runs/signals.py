"""What becomes of SIGINT and SIGTERM while a run works?"""

import asyncio
import contextlib
import signal


class Signals:
    """The first one cancels what is at work; a second one is the system's to answer."""

    def __init__(self) -> None:
        """Nothing is caught before `catch`."""
        self.number = 0
        """The signal that came; 0 while none did."""
        self._at_work: asyncio.Task[object] | None = None

    def catch(self, at_work: asyncio.Task[object] | None) -> None:
        """From now on a signal cancels `at_work`; None: it is only noted, for what comes next to end at once."""
        self._at_work = at_work
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(ValueError, RuntimeError):  # not the main thread: somebody embeds us
                if not self.number:
                    loop.add_signal_handler(number, self._stop, number)

    def let_go(self) -> None:
        """From now on every signal is the system's."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)

    def _stop(self, number: signal.Signals) -> None:
        self.number = number
        asyncio.get_running_loop().remove_signal_handler(number)
        if self._at_work is not None:
            self._at_work.cancel()
