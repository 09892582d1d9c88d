"""Log of a run's events: the one writer of `events.jsonl`, and its reader."""

import json
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from kotef.events import KINDS, ModelWordsEvent, RecordedEvent, dump_event, make_event, parse_line, parse_text
from kotef.files import append_line
from kotef.redaction import encodable, redactor

log = logging.getLogger("kotef")

Watcher = Callable[[RecordedEvent], None]
"""Receives each event as soon as it is written."""

PASSING: Final = frozenset({ModelWordsEvent.event_name})
"""Events that only current watchers receive: `events.jsonl` has the whole answer instead."""


class EventLog:
    """The only writer of `events.jsonl`; a bad event or a full disk loses the event, never the run."""

    def __init__(self, path: Path, watchers: tuple[Watcher, ...] = ()) -> None:
        """Numbers go on from the last line on disk, so they are monotonic over resumes."""
        self.path, self.watchers = path, watchers
        self._has_warned = False
        self._number = max((recorded.number for recorded in read_events(path)), default=0)

    def __call__(self, event: str, /, **facts: Any) -> None:
        """Check the event against its class, write it without secrets, and pass it to the watchers."""
        if event not in KINDS:
            log.warning("unknown event dropped: %s", event)
            return
        try:
            made = make_event(event, facts)
        except ValidationError as error:
            log.warning("bad event dropped: %s: %s", event, error.errors(include_url=False, include_input=False)[:3])
            return
        passing = event in PASSING
        self._number += not passing
        fields = encodable(redactor().whole(dump_event(made)))
        line = {"n": self._number, "t": round(time.time(), 3), **fields}
        try:
            if not passing:
                append_line(self.path, json.dumps(line))
        except OSError as error:
            if not self._has_warned:
                log.warning("%s cannot be written; the run continues: %s", self.path, error.strerror or error)
            self._has_warned = True

        recorded = parse_line(line)
        assert recorded is not None, "it has a number and a name"  # noqa: S101
        for watcher in self.watchers:
            watcher(recorded)


def read_events(path: Path) -> Iterator[RecordedEvent]:
    """The recorded events, in order; torn or foreign lines are skipped."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for text in file:
            recorded = parse_text(text)
            if recorded is not None and recorded.number:
                yield recorded
