"""Timeline of a run for its report: each visit, from its events."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kotef.events import (
    CheckStartedEvent,
    CoderFinishedEvent,
    CoderStartedEvent,
    EndedEvent,
    ModelAnswerEvent,
    ModelCallEvent,
    PlannedEvent,
    RecordedEvent,
    RunEvent,
    RunFinishedEvent,
    RunResumedEvent,
    RunStartedEvent,
    ToolFinishedEvent,
    ToolStartedEvent,
    VerifiedEvent,
)
from kotef.failures.plural import counted
from kotef.report.guards import GuardReport, guard_of
from kotef.runs.run_history import RunHistory, VisitEvents


@dataclass(frozen=True, slots=True)
class VisitRecord:
    """One visit according to its events; check results are in its `Verification`."""

    visit: int
    hypothesis: str = ""
    source: str = ""
    """`model` or `code`; empty when nothing was planned."""
    steps: tuple[str, ...] = ()
    coder: str = ""
    stopped_by: str = ""
    """Empty while the coder is at work, or if it did not finish."""
    stopped_why: str = ""
    said: str = ""
    """The coder's last words; a claim."""
    changed: tuple[str, ...] = ()
    passed: bool | None = None
    """None when nothing was judged."""
    verdict: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """By phase, without the time between a kill and its resume."""
    calls: tuple[ModelAnswerEvent, ...] = ()
    tools: tuple[ToolFinishedEvent, ...] = ()
    guards: tuple[GuardReport, ...] = ()

    @property
    def tokens(self) -> int:
        """Input plus output, of all calls."""
        return sum(call.tokens_in + call.tokens_out for call in self.calls)

    @property
    def cost(self) -> float:
        """Cost of all calls; 0 if no price is known."""
        return sum(call.cost for call in self.calls)


@dataclass(frozen=True, slots=True)
class Timeline:
    """The history of a run from its events."""

    visits: tuple[VisitRecord, ...] = ()
    """In order; 0 is the baseline."""
    began: float | None = None
    """Seconds since 1970; None without any event."""
    last: float | None = None
    doing: str = ""
    """What the run did last; empty once it has ended."""
    notices: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """At work, over all visits."""
        return sum(sum(visit.seconds.values()) for visit in self.visits)


def record_of(history: RunHistory) -> Timeline:
    """The history as the report shows it."""
    notices = [*history.notices]
    if history.unread:
        what = counted(history.unread, "event")
        notices.append(f"{what} cannot be read, of another version perhaps; not counted here")
    visits = tuple(_visit(visit) for visit in history.visits)
    return Timeline(visits, history.began, history.last, _doing(history), tuple(dict.fromkeys(notices)))


def _doing(history: RunHistory) -> str:
    """What the run did last, in words."""
    activity, visit = "", 0
    for recorded in history.recorded:
        visit = visit if recorded.visit is None else recorded.visit
        activity = _activity(recorded.event, visit, activity)
    return activity


def _activity(event: RunEvent, visit: int, before: str) -> str:
    match event:
        case CheckStartedEvent():
            return f"{'the baseline' if visit == 0 else f'attempt {visit}'} is judged by `{event.command}`"
        case VerifiedEvent() if event.passed and visit:
            return f"attempt {visit} passed its checks"
        case VerifiedEvent():
            return f"attempt {visit + 1} is planned"
        case PlannedEvent():
            return f"attempt {visit} is planned"
        case ModelCallEvent() if event.node != "coder":
            return f"attempt {visit} is planned"
        case CoderStartedEvent():
            return f"attempt {visit}: the coder ({event.coder}) is at work"
        case ToolStartedEvent():
            return f"attempt {visit}: {event.tool} {event.arguments}"
        case EndedEvent() | RunFinishedEvent():
            return ""
        case RunStartedEvent():
            return "the run begins"
        case RunResumedEvent():
            return "the run continues"
        case _:
            return before


def _guard(recorded: RecordedEvent) -> GuardReport | None:
    """The guard's report; nothing for an event of another version that lacks fields."""
    return None if recorded.missing else guard_of(recorded.event)


def _visit(visit: VisitEvents) -> VisitRecord:
    """The visit; if a kill made it start twice, what was recorded last."""
    plan, coder = visit.last(PlannedEvent), visit.last(CoderStartedEvent)
    edits, verdict, refusal = visit.last(CoderFinishedEvent), visit.last(VerifiedEvent), visit.refusal
    record = VisitRecord(
        visit=visit.visit,
        seconds=visit.seconds,
        calls=visit.all(ModelAnswerEvent),
        tools=visit.all(ToolFinishedEvent),
        guards=tuple(guard for recorded in visit.recorded if (guard := _guard(recorded))),
    )
    if plan:
        record = replace(record, hypothesis=plan.hypothesis, source=plan.source, steps=plan.steps)
    if coder:
        record = replace(record, coder=coder.coder)
    if edits:
        why, summary = edits.detail, edits.summary
        record = replace(record, stopped_by=edits.stopped_by, stopped_why=why, said=summary, changed=edits.changed)
    if verdict:
        record = replace(record, passed=verdict.passed, verdict=verdict.summary)
    if refusal:
        record = replace(record, passed=False, verdict=f"review refused: {refusal.reason}")
    return record
