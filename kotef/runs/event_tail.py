"""New events of a run in another process, and whether that process is alive."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

from kotef.events import RecordedEvent, UnreadEvent, parse_text
from kotef.runs.store import RunDir
from kotef.workspace import at_work

_CHUNK = 1 << 20


@dataclass(slots=True)
class Following:
    """Reads `events.jsonl` from the last position; an unfinished line is read once it is complete."""

    root: Path
    run: RunDir
    _at: int = 0
    _rest: bytes = field(default=b"", repr=False)

    def new(self) -> Iterator[RecordedEvent]:
        """Events added since the last call; torn or foreign lines are skipped."""
        try:
            with self.run.events.open("rb") as file:
                file.seek(self._at)
                while chunk := file.read(_CHUNK):
                    self._at += len(chunk)
                    *lines, self._rest = (self._rest + chunk).split(b"\n")
                    yield from filter(_is_whole, map(parse_text, lines))
        except OSError:  # not there yet, or deleted by a command of the run
            return

    @property
    def is_at_work(self) -> bool:
        """Whether a process holds the workspace for this run."""
        return at_work(self.root) == self.run.run_id


def _is_whole(recorded: RecordedEvent | None) -> TypeGuard[RecordedEvent]:
    """Whether a line is an event that this kotef knows, with all its fields."""
    return recorded is not None and not isinstance(recorded.event, UnreadEvent) and not recorded.missing
