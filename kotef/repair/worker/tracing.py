"""Tracing of the project lines that a test runs, and of the values there."""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType
from typing import Any, Callable

_CALLS = 24
"""Calls of one function whose arguments are kept."""
_LOOKS = 40
"""Frames of one function whose variables' types are recorded."""
_ATTRIBUTES = 30
_EVENTS = 4000
"""Line events of one function without a new line, after which it is no longer traced in this test (below 3.12)."""
_LONGEST = 400
"""Characters of one argument's literal."""


class Watcher:
    """Records lines, types and arguments of functions in the watched files; one test at a time."""

    def __init__(self, relative: Callable[[str], str], files: set[str]) -> None:
        self.lines: dict[str, set[int]] = {}
        self.types: dict[str, dict[str, set[str]]] = {}
        """`path:line:name` of a function → variable → names of the types it had."""
        self.calls: dict[str, list[str]] = {}
        """`path:line:name` → arguments of calls, as the literal of a dict; each once."""
        self.on_line: Callable[[str, int], None] | None = None
        """Called at every line that was not run before: should the test take the process with it."""
        self._relative = relative
        self._files = files
        self._known: dict[CodeType, str] = {}
        self._looks: dict[CodeType, int] = {}

    def forget_lines(self) -> dict[str, list[int]]:
        """What was run since the last call."""
        lines = {path: sorted(numbers) for path, numbers in self.lines.items()}
        self.lines = {}
        return lines

    def watched(self, code: CodeType) -> str:
        """The code's path in the workspace, empty if it is not watched."""
        path = self._known.get(code)
        if path is None:
            path = self._relative(code.co_filename)
            path = path if path in self._files else ""
            self._known[code] = path
        return path

    def entered(self, frame: FrameType) -> None:
        """A function starts: its variables are its arguments."""
        code = frame.f_code
        count = self._looks.get(code, 0)
        if count >= _LOOKS or code.co_name.startswith("<"):
            return
        self._looks[code] = count + 1
        key = f"{self._known[code]}:{code.co_firstlineno}:{code.co_name}"
        calls = self.calls.setdefault(key, [])
        plain = not code.co_flags & 0x0C  # no *args, no **kwargs
        if plain and len(calls) < _CALLS:
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            values = frame.f_locals
            literal = literal_of({name: _plain(name, values[name]) for name in names if name in values})
            if literal and literal not in calls:
                calls.append(literal)

    def left(self, frame: FrameType) -> None:
        """A function ends: its variables had their last values."""
        code = frame.f_code
        if self._looks.get(code, 0) < _LOOKS:
            types = self.types.setdefault(f"{self._known[code]}:{code.co_firstlineno}:{code.co_name}", {})
            for name, value in list(frame.f_locals.items()):
                types.setdefault(name, set()).add(type(value).__name__)
                if name == "self" and hasattr(value, "__dict__"):
                    for attribute, inner in list(vars(value).items())[:_ATTRIBUTES]:
                        types.setdefault(f"self.{attribute}", set()).add(type(inner).__name__)

    def start(self) -> None:
        """Watch from here on."""
        raise AssertionError("one of the two ways below is used")

    def stop(self) -> None:
        """Watch no longer."""
        raise AssertionError("one of the two ways below is used")


class Tracer(Watcher):
    """By `sys.settrace`."""

    def __init__(self, relative: Callable[[str], str], files: set[str]) -> None:
        super().__init__(relative, files)
        self._idle: dict[CodeType, int] = {}

    def start(self) -> None:
        """Watch from here on."""
        self._idle = {}
        threading.settrace(self._on_call)
        sys.settrace(self._on_call)

    def stop(self) -> None:
        """Watch no longer."""
        sys.settrace(None)
        threading.settrace(None)

    def _on_call(self, frame: FrameType, _event: str, _argument: Any) -> Callable[..., Any] | None:
        path = self.watched(frame.f_code)
        if not path or self._idle.get(frame.f_code, 0) > _EVENTS:
            return None
        self.entered(frame)
        return self._on_event

    def _on_event(self, frame: FrameType, event: str, _argument: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        if event == "line":
            lines = self.lines.setdefault(self._known[code], set())
            number = frame.f_lineno
            if number not in lines:
                lines.add(number)
                self._idle[code] = 0
                if self.on_line is not None:
                    self.on_line(self._known[code], number)
            else:
                idle = self._idle[code] = self._idle.get(code, 0) + 1
                if idle > _EVENTS:
                    frame.f_trace_lines = False
        elif event == "return":
            self.left(frame)
        return self._on_event


class Monitor(Watcher):
    """By `sys.monitoring` (3.12 and later): a line costs once per test."""

    def __init__(self, relative: Callable[[str], str], files: set[str]) -> None:
        super().__init__(relative, files)
        self._monitoring: Any = getattr(sys, "monitoring")  # noqa: B009 - 3.12 and later; we type-check as 3.11
        self._tool = next(number for number in (4, 3, 5, 2, 1, 0) if self._monitoring.get_tool(number) is None)
        events = self._monitoring.events
        self._monitoring.use_tool_id(self._tool, "kotef")
        self._monitoring.register_callback(self._tool, events.LINE, self._on_line)
        self._monitoring.register_callback(self._tool, events.PY_START, self._on_start)
        self._monitoring.register_callback(self._tool, events.PY_RETURN, self._on_end)
        self._monitoring.register_callback(self._tool, events.PY_UNWIND, self._on_unwind)
        self._events = events.LINE | events.PY_START | events.PY_RETURN | events.PY_UNWIND

    def start(self) -> None:
        """Watch from here on."""
        self._monitoring.restart_events()
        self._monitoring.set_events(self._tool, self._events)

    def stop(self) -> None:
        """Watch no longer."""
        self._monitoring.set_events(self._tool, 0)

    def _on_line(self, code: CodeType, line: int) -> Any:
        path = self.watched(code)
        if path:
            self.lines.setdefault(path, set()).add(line)
            if self.on_line is not None:
                self.on_line(path, line)
        return self._monitoring.DISABLE

    def _on_start(self, code: CodeType, _offset: int) -> Any:
        if not self.watched(code) or self._looks.get(code, 0) >= _LOOKS:
            return self._monitoring.DISABLE
        self.entered(sys._getframe(1))
        return None

    def _on_end(self, code: CodeType, _offset: int, _value: object) -> Any:
        if not self.watched(code) or self._looks.get(code, 0) >= _LOOKS:
            return self._monitoring.DISABLE
        self.left(sys._getframe(1))
        return None

    def _on_unwind(self, code: CodeType, _offset: int, _error: BaseException) -> None:
        if self.watched(code):
            self.left(sys._getframe(1))


def _plain(name: str, value: Any) -> Any:
    """An object whose method is called stands for its attributes."""
    return dict(vars(value)) if name == "self" and hasattr(value, "__dict__") else value


def watcher(relative: Callable[[str], str], files: set[str]) -> Watcher:
    """The cheapest way this interpreter has."""
    return (Monitor if hasattr(sys, "monitoring") else Tracer)(relative, files)


def literal_of(value: Any, depth: int = 4) -> str:
    """Source text that makes an equal value, at most `_LONGEST` characters; empty if there is none."""
    text = _literal(value, depth)
    return text if len(text) <= _LONGEST else ""


def _literal(value: Any, depth: int) -> str:
    kind = type(value)
    if kind in {int, str, bytes, bool, type(None)}:
        return repr(value) if not isinstance(value, (str, bytes)) or len(value) < _LONGEST else ""
    if kind is float:
        return repr(value) if value == value and abs(value) != float("inf") else f"float('{value}')"  # noqa: PLR0124
    if depth and kind in {list, tuple, set, frozenset, dict} and len(value) <= 40:
        return _container(value, depth - 1)
    return ""


def _container(value: Any, depth: int) -> str:
    if isinstance(value, dict):
        pairs = [(_literal(key, depth), _literal(item, depth)) for key, item in value.items()]
        return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}" if all(map(all, pairs)) else ""
    items = [_literal(item, depth) for item in value]
    if not all(items):
        return ""
    inside = ", ".join(items)
    if isinstance(value, list):
        return f"[{inside}]"
    if isinstance(value, tuple):
        return f"({inside},)" if len(items) == 1 else f"({inside})"
    return f"{type(value).__name__}([{inside}])"
