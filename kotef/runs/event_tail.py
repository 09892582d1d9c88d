"""New events of a run in another process, and whether that process is alive."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kotef.runs.events import told
from kotef.runs.progress import Event
from kotef.runs.store import RunDir
from kotef.workspace.lock import at_work

_CHUNK = 1 << 20


@dataclass(slots=True)
class Following:
    """Reads `events.jsonl` on from where it was left; a line that is not finished yet waits for its end."""

    root: Path
    run: RunDir
    _at: int = 0
    _rest: bytes = field(default=b"", repr=False)

    def new(self) -> Iterator[Event]:
        """What was added since the last time; a torn or foreign line is passed over."""
        try:
            with self.run.events.open("rb") as file:
                file.seek(self._at)
                while chunk := file.read(_CHUNK):
                    self._at += len(chunk)
                    *lines, self._rest = (self._rest + chunk).split(b"\n")
                    yield from (event for line in lines if (event := _event(line)) is not None)
        except OSError:  # not there yet, or deleted by a command of the run
            return

    @property
    def is_at_work(self) -> bool:
        """Whether a process holds the workspace for this run."""
        return at_work(self.root) == self.run.run_id


def _event(line: bytes) -> Event | None:
    try:
        return told(json.loads(line))
    except (ValueError, RecursionError):
        return None
