"""Counts of how often a statement runs and how often it raises."""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any, Callable, Set

_NO_ERRORS = (StopIteration, StopAsyncIteration, GeneratorExit)


class Raised:
    """Counts both for the lines `first` to `last` of a file, while it is entered."""

    def __init__(self, relative: Callable[[str], str], path: str, first: int, last: int) -> None:
        self.ran = 0
        self.raised = 0
        self._relative = relative
        self._path = path
        self._first = first
        self._last = last
        self._within: Set[int] = set()
        """Frames that are on these lines."""

    def __enter__(self) -> Raised:  # noqa: PYI034 - the interpreter may be older than `Self`
        threading.settrace(self._called)
        sys.settrace(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)
        threading.settrace(None)

    def _called(self, frame: FrameType, _event: str, _value: Any) -> Any:
        code = frame.f_code
        if code.co_name.startswith("<") or self._relative(code.co_filename) != self._path:
            return None
        return self._followed

    def _followed(self, frame: FrameType, event: str, value: Any) -> Any:
        inside = self._first <= frame.f_lineno <= self._last
        known = id(frame) in self._within
        if event == "line" and inside and (not known or frame.f_lineno == self._first):
            self.ran += 1
            self._within.add(id(frame))
        elif event == "exception" and inside and known and not issubclass(value[0], _NO_ERRORS):
            self.raised += 1
        if event == "return" or (event == "line" and not inside):
            self._within.discard(id(frame))
        return self._followed
