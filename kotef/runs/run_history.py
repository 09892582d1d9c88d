"""History of a run: the one fold of its events, for screens, statistics and reports."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from kotef.events import (
    KINDS,
    CheckFinishedEvent,
    CheckStartedEvent,
    NoticeEvent,
    PlannedEvent,
    RecordedEvent,
    ReviewedEvent,
    RunEvent,
    RunResumedEvent,
    UnreadEvent,
)
from kotef.runs.progress import RunProgress

PHASES: Final = ("plan", "code", "check")
_AFTER: Final = {
    "run_started": "check",
    "verified": "plan",
    "coder_started": "code",
    "coder_finished": "check",
    "ended": "end",
}
"""Kind of event → the phase that begins with it."""

EventT = TypeVar("EventT", bound=RunEvent)


@dataclass(frozen=True, slots=True)
class VisitEvents:
    """The events of one visit, in order; events without a visit belong to the current one."""

    visit: int
    recorded: tuple[RecordedEvent, ...]
    seconds: Mapping[str, float]
    """By phase, without the time between a kill and its resume."""

    @property
    def events(self) -> Iterator[RunEvent]:
        """The events without their places."""
        return (recorded.event for recorded in self.recorded)

    def all(self, kind: type[EventT]) -> tuple[EventT, ...]:
        """Every event of a kind."""
        return tuple(event for event in self.events if isinstance(event, kind))

    def last(self, kind: type[EventT]) -> EventT | None:
        """The last event of a kind: of a visit that a kill made start twice, what was recorded last."""
        return next(iter(self.all(kind)[::-1]), None)

    @property
    def since_plan(self) -> "VisitEvents":
        """The events from its last plan on; all if nothing was planned."""
        plans = [at for at, event in enumerate(self.events) if isinstance(event, PlannedEvent)]
        return replace(self, recorded=self.recorded[plans[-1] :]) if plans else self

    @property
    def refusal(self) -> ReviewedEvent | None:
        """The review that refused its diff."""
        return next((review for review in self.all(ReviewedEvent) if not review.accepted), None)


@dataclass(slots=True)
class RunHistory:
    """The history of a run; `take` adds the next event."""

    progress: RunProgress = field(default_factory=RunProgress)
    """What the run is doing now."""
    recorded: list[RecordedEvent] = field(default_factory=list)
    began: float | None = None
    """Seconds since 1970; None without any event."""
    last: float | None = None
    notices: list[str] = field(default_factory=list)
    unread: int = 0
    """Events of a kind this kotef knows whose fields it cannot read."""
    _visits: defaultdict[int, list[RecordedEvent]] = field(default_factory=lambda: defaultdict(list))
    _seconds: defaultdict[int, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    _at: int = 0
    """The visit at work."""
    _phase: str = "check"

    @classmethod
    def of(cls, events: Iterable[RecordedEvent]) -> "RunHistory":
        """The history of these events."""
        history = cls()
        for recorded in events:
            history.take(recorded)
        return history

    def take(self, recorded: RecordedEvent) -> None:
        """Add the next event."""
        event, at = recorded.event, recorded.time or self.last or 0.0
        self.began = at if self.began is None else self.began
        self._at = self._at if recorded.visit is None else recorded.visit
        if self.last is not None and self._phase in PHASES and not isinstance(event, RunResumedEvent):
            spent = self._seconds[self._at]
            spent[self._phase] = spent.get(self._phase, 0.0) + max(0.0, at - self.last)
        self.last = at
        self._phase = _AFTER.get(event.event_name, self._phase)

        match event:
            case NoticeEvent():
                self.notices.append(event.text)
            case UnreadEvent():
                self.unread += event.name in KINDS
        self.progress = self.progress.after(recorded)
        self.recorded.append(recorded)
        self._visits[self._at].append(recorded)

    @property
    def events(self) -> Iterator[RunEvent]:
        """The events without their places, in order."""
        return (recorded.event for recorded in self.recorded)

    @property
    def visits(self) -> tuple[VisitEvents, ...]:
        """Every visit that began, in order; 0 is the baseline."""
        begun = [
            visit
            for visit, found in self._visits.items()
            if visit == 0 or any(recorded.visit is not None for recorded in found)
        ]
        return tuple(
            VisitEvents(visit, tuple(self._visits[visit]), dict(self._seconds[visit])) for visit in sorted(begun)
        )

    @property
    def model(self) -> str:
        """The model that was named first; empty if none was."""
        return next((model for event in self.events if (model := getattr(event, "model", ""))), "")

    def last_failures(self) -> tuple[tuple[str, CheckFinishedEvent], ...]:
        """The checks that failed in the newest visit in which one did, each with its command."""
        commands: dict[str, str] = {}
        failed: dict[int, dict[str, CheckFinishedEvent]] = {}
        for event in self.events:
            match event:
                case CheckStartedEvent():
                    commands[event.check] = event.command
                case CheckFinishedEvent() if not event.passed:
                    failed.setdefault(event.visit, {})[event.check] = event
        newest = failed.get(max(failed, default=0), {})
        return tuple((commands.get(name, name), event) for name, event in newest.items())
