"""Words of a model on their way to the screen, while its answer arrives."""

import time
from typing import Final

from kotef.models.factory import Tell
from kotef.redaction import redactor

PAUSE: Final = 0.1
"""Seconds between two events, at least: an endpoint sends a hundred pieces in one."""


class WordStream:
    """Takes the pieces of one answer and tells them without secrets, a few at a time.

    What comes last may stay untold: the whole text follows with the event of the answer.
    """

    def __init__(self, emit: Tell) -> None:
        """One for each request: the words of one that failed are not part of the next answer."""
        self._emit = emit
        self._redactor = redactor().stream()
        self._waiting = b""
        self._told = time.monotonic()

    def __call__(self, text: str) -> None:
        """Take one piece."""
        self._waiting += self._redactor.feed(text.encode("utf-8", "replace"))
        if self._waiting and time.monotonic() - self._told >= PAUSE:
            words, self._waiting = self._waiting.decode("utf-8", "replace"), b""
            self._told = time.monotonic()
            self._emit("model_words", text=words)
