"""The log of tool effects, complete even if kotef is killed between an effect and its record."""

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from kotef.files import OPEN_FILE, append_line, os_fault

LARGEST: Final = 50_000_000
"""Bytes of the largest file that is read to tell whether it has changed."""

Standing = Literal["new", "done", "doubt"]


class RecordedEffect(NamedTuple):
    """The recorded state of one call."""

    standing: Standing
    """`done`: replay the result; `doubt`: it was started, but its end was not recorded."""
    result: str = ""
    failed: bool = False
    mark: str = ""
    """With `done`: further data about the result."""
    before: str = ""
    """With `doubt`: the state of the target that `start` recorded."""


class Effects:
    """An append-only file of `started` and `done` lines, one pair a call; each line is on disk before we go on."""

    def __init__(self, path: Path) -> None:
        """`path` is `effects.jsonl` of the run; a torn last line is a call whose line was never finished."""
        self.path = path
        self._known: dict[str, RecordedEffect] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                noted = json.loads(line)
            except ValueError:
                continue
            self._known[noted["key"]] = (
                RecordedEffect("done", noted["result"], noted["failed"], noted["mark"])
                if noted["done"]
                else RecordedEffect("doubt", before=noted["before"])
            )

    def look(self, key: str) -> RecordedEffect:
        """The state of the call."""
        return self._known.get(key, RecordedEffect("new"))

    def start(self, key: str, *, before: str = "") -> None:
        """Record that the effect is about to happen; `before` is the current state of its target."""
        self._append({"key": key, "done": False, "before": before})

    def finish(self, key: str, result: str, *, failed: bool, mark: str = "") -> None:
        """Record that it happened, with the answer to the model."""
        self._append({"key": key, "done": True, "result": result, "failed": failed, "mark": mark})
        self._known[key] = RecordedEffect("done", result, failed, mark)

    def _append(self, line: dict[str, Any]) -> None:
        try:
            append_line(self.path, json.dumps(line), durable=True)
        except OSError as error:
            raise os_fault(self.path, error) from error


def key_of(visit: int, call_id: str, name: str, arguments: dict[str, Any]) -> str:
    """The name of one effect: visit, call id, tool and arguments."""
    text = json.dumps([visit, call_id, name, arguments], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def digest(path: Path) -> str:
    """The content of a file as a hash; `missing` when there is none.

    Of a pipe, a device or a file above `LARGEST` bytes, which may never end, it is what is known without reading.
    """
    try:
        with open(os.open(path, OPEN_FILE), "rb") as file:  # noqa: PTH123 - a descriptor, not a path
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST:
                return f"{facts.st_mode:o}-{facts.st_size}-{facts.st_mtime_ns}"
            return hashlib.sha256(file.read(LARGEST + 1)).hexdigest()
    except OSError:
        return "missing"
