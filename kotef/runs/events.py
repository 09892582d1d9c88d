"""The events of a run, in order, one line each."""

import json
import logging
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model

from kotef.failures.mistakes import MistakeRecovery
from kotef.files import append_line
from kotef.models.retry_verbosity import Loudness
from kotef.redaction import encodable, redactor

log = logging.getLogger("kotef")

Line = dict[str, Any]
Watcher = Callable[[Line], None]

FIELDS: Final[dict[str, dict[str, Any]]] = {
    "run_started": {
        "run": str,
        "goal": str,
        "ticket": str | None,
        "checks": list[str],
        "coder": str,
        "model": str,
        "sandbox": str,
        "network": bool,
    },
    "run_resumed": {"run": str, "outcome": str | None, "sandbox": str, "network": bool},
    "setup_started": {"command": str},
    "setup_finished": {
        "command": str,
        "exit_code": int | None,
        "passed": bool,
        "summary": str,
        "seconds": float,
        "changed": list[str],
    },
    "notice": {"text": str},
    "snapshot": {"tree": str, "kept": int, "left_out": list[str]},
    "retry": {"what": str, "why": str},
    "check_started": {"visit": int, "check": str, "command": str},
    "check_finished": {
        "visit": int,
        "check": str,
        "exit_code": int | None,
        "passed": bool,
        "kind": str | None,
        "summary": str,
        "executed": int | None,
        "failing": int,
        "seconds": float,
        "partial": bool,
        "obstructions": list[str],
        "failures": list[str],
    },
    "rerun": {"visit": int, "check": str, "tests": list[str], "flaky": list[str]},
    "baseline_reused": {"run": str, "judged_at": str},
    "verified": {
        "visit": int,
        "passed": bool,
        "detail": str,
        "summary": str,
        "fixed": list[str],
        "broken": list[str],
        "put_back": list[str],
        "left": list[str],
    },
    "proving": {"visit": int, "tests": list[str]},
    "setting_aside": {"visit": int, "paths": list[str]},
    "probing": {"visit": int, "targets": int},
    "probed": {"visit": int, "line": str, "alarm": bool},
    "reviewed": {"visit": int, "accepted": bool, "reason": str},
    "planned": {"visit": int, "source": str, "hypothesis": str, "steps": list[str]},
    "plan_fallback": {"visit": int, "problems": list[str]},
    "nudge": {"visit": int, "what": str},
    "recalled": {"visit": int, "runs": list[str]},
    "model_call": {"visit": int, "node": str},
    "model_answer": {
        "visit": int,
        "node": str,
        "tokens_in": int,
        "tokens_out": int,
        "cost": float,
        "estimated": bool,
        "tokens_cached": int,
        "model": str,
        "seconds": float | None,
        "text": str,
    },
    "model_words": {"text": str},
    "model_retry": {"attempt": int, "seconds": float, "why": str, "level": Loudness},
    "model_fallback": {"model": str, "stand_in": str, "why": str},
    "model_cancelled": {"model": str, "tries": int},
    "coder_started": {"visit": int, "coder": str},
    "coder_finished": {"visit": int, "stopped_by": str, "changed": list[str], "detail": str, "summary": str},
    "declined": {"visit": int, "coder": str, "why": str},
    "trying": {"visit": int, "coder": str, "what": str},
    "asked": {"visit": int, "question": str},
    "answered": {"visit": int, "question": str, "answer": str},
    "tool_started": {"visit": int, "tool": str, "arguments": str},
    "tool_finished": {
        "visit": int,
        "tool": str,
        "arguments": str,
        "ok": bool,
        "note": str,
        "seconds": float,
        "category": str,
    },
    "edited": {"visit": int, "path": str, "diff": str},
    "rescued": {"calls": list[str]},
    "mended": {"tool": str, "what": str},
    "empty_answer": {"visit": int, "asked_again": bool},
    "mistake_recovery": {
        "visit": int,
        **{name: field.annotation for name, field in MistakeRecovery.model_fields.items()},
    },
    "repeat": {"visit": int, "kind": str, "tool": str, "what": str, "stopped": bool},
    "cap_reached": {"visit": int, "cap": str, "detail": str, "can_continue": bool},
    "compacted": {
        "visit": int,
        "how": str,
        "messages": int,
        "tokens_before": int,
        "tokens_after": int,
        "window": int,
    },
    "prefix_drift": {"visit": int, "role": str, "model": str, "changed": list[str]},
    "in_doubt": {"visit": int, "tool": str, "arguments": str},
    "withheld": {"visit": int, "patch": str, "put_back": list[str], "left": list[str], "differs": list[str]},
    "restored": {"visit": int, "put_back": list[str], "left": list[str], "differs": list[str]},
    "stopping": {"signal": str},
    "issue": {"path": str, "change": str},
    "ended": {"outcome": str, "reason": str, "sentence": str},
    "run_finished": {"outcome": str, "reason": str, "exit_code": int, "seconds": float},
}
"""Every event and its fields; the one schema for the writer, the live view and the readers of `events.jsonl`."""


_WHERE_KNOWN: Final[dict[str, dict[str, Any]]] = {
    "check_finished": {"obstructions": [], "failures": []},
    "model_answer": {"tokens_cached": 0, "model": "", "seconds": None, "text": ""},
    "tool_finished": {"category": ""},
}
"""What a field is that the sender does not know; files of an older kotef lack these altogether."""

PASSING: Final = frozenset({"model_words"})
"""Events that only those hear who watch at this moment: `events.jsonl` has the whole answer instead."""


class _Event(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _fields(event: str) -> dict[str, Any]:
    known = _WHERE_KNOWN.get(event, {})
    return {field: (kind, known.get(field, ...)) for field, kind in FIELDS[event].items()}


@cache
def _model(event: str) -> type[BaseModel]:
    """Made at the first event of its name: all of them at once cost every start of kotef a tenth of a second."""
    return create_model(event, __base__=_Event, **_fields(event))


_LINE: Final = TypeAdapter(dict[str, Any])


class EventLog:
    """The one writer of `events.jsonl`; a bad event, or a full disk, costs the event and never the run."""

    def __init__(self, path: Path, watchers: tuple[Watcher, ...] = ()) -> None:
        """Numbers go on from the last line on disk, so they are monotonic over resumes."""
        self.path, self.watchers = path, watchers
        self._has_warned = False
        self._number = max((line["n"] for line in read_events(path)), default=0)

    def __call__(self, event: str, /, **facts: Any) -> None:
        """Check the event against its schema, write it without secrets, and tell the watchers."""
        if event not in FIELDS:
            log.warning("unknown event dropped: %s", event)
            return
        try:
            fields = _model(event).model_validate(facts).model_dump(mode="json")
        except ValidationError as error:
            log.warning("bad event dropped: %s: %s", event, error.errors(include_url=False, include_input=False)[:3])
            return
        passing = event in PASSING
        self._number += not passing
        line = {"n": self._number, "t": round(time.time(), 3), "event": event, **encodable(redactor().whole(fields))}
        try:
            if not passing:
                append_line(self.path, json.dumps(line))
        except OSError as error:
            if not self._has_warned:
                log.warning("%s cannot be written; the run continues: %s", self.path, error.strerror or error)
            self._has_warned = True
        for watcher in self.watchers:
            watcher(line)


def told(found: object) -> Line | None:
    """A line on record with all the fields of its event; None for one that this kotef does not understand."""
    if not isinstance(found, dict) or not isinstance(found.get("t", 0.0), int | float):
        return None
    event = str(found.get("event"))
    try:
        fields = _model(event).model_validate({name: found[name] for name in FIELDS[event] if name in found})
    except (KeyError, ValidationError):
        return None
    return {**found, **fields.model_dump(mode="json")}


def read_events(path: Path) -> Iterator[Line]:
    """The events on record, in order; a torn or foreign line is passed over."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for text in file:
            try:
                line = _LINE.validate_json(text)
            except ValidationError:
                continue
            if isinstance(line.get("n"), int) and str(line.get("event")) in FIELDS:
                yield line
