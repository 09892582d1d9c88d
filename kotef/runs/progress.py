"""Progress of a run: what it is doing now, as its events say."""

from dataclasses import dataclass, field, replace
from typing import Final, Literal

from kotef.events import (
    AnsweredEvent,
    AskedEvent,
    CheckFinishedEvent,
    CheckStartedEvent,
    CoderFinishedEvent,
    CoderStartedEvent,
    EndedEvent,
    ModelAnswerEvent,
    ModelCallEvent,
    PlannedEvent,
    RecordedEvent,
    RunFinishedEvent,
    RunResumedEvent,
    RunStartedEvent,
    SetupStartedEvent,
    StoppingEvent,
    ToolFinishedEvent,
    ToolStartedEvent,
    TryingEvent,
    VerifiedEvent,
)
from kotef.runs.ending_text import killed

State = Literal["planning", "streaming", "tool_running", "verifying", "waiting_for_input", "idle", "error"]
"""`streaming`: a model writes for the coder. `idle`: nothing is at work, before a run begins and after it ended.
`error`: it ended without having been able to work, or no one knows how."""

UNABLE: Final = frozenset({"crashed", "environment_broken", "model_unavailable"})
"""Outcomes that say nothing about the task."""

_STATES: Final[dict[str, State]] = {
    "run_started": "verifying",
    "run_resumed": "planning",
    "setup_started": "verifying",
    "check_started": "verifying",
    "proving": "verifying",
    "setting_aside": "verifying",
    "probing": "verifying",
    "coder_finished": "verifying",
    "verified": "planning",
    "planned": "planning",
    "coder_started": "tool_running",
    "trying": "tool_running",
    "tool_started": "tool_running",
    "ended": "planning",
}
"""Event name → the state after it; other events do not change the state."""

_ASKED: Final[dict[str, State]] = {"planner": "planning", "review": "verifying"}
"""The state while a model of that node answers; the coder's models stream."""
_WHAT_FOR: Final = {"review": "asking the model to review", "compaction": "asking the model for a summary"}
_NODES: Final = {
    "check_started": "verifier",
    "verified": "planner",
    "planned": "coder",
    "coder_started": "coder",
    "coder_finished": "verifier",
    "proving": "verifier",
    "setting_aside": "verifier",
    "probing": "verifier",
    "ended": "done",
}


@dataclass(frozen=True, slots=True)
class ToolAtWork:
    """A tool call that has not ended."""

    tool: str
    arguments: str
    since: float


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Progress according to the events so far; `after` adds one. Times are seconds since the epoch."""

    state: State = "idle"
    run: str = ""
    """Its id; empty before its first event."""
    attempt: int = 0
    """The visit at work, or the last one; 0: the state before the run is judged."""
    node: str = "verifier"
    what: str = ""
    """The step in a few words: a command, a tool with its arguments, a question; empty if the state is enough."""
    tools: tuple[ToolAtWork, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    """Cost of the answers with a known price."""
    stopping: bool = False
    """A person has asked it to stop once the step is done."""
    outcome: str = ""
    """Empty until it ends."""
    reason: str = ""
    sentence: str = ""
    """The ending in words, also for a killed run."""
    exit_code: int | None = None
    last: float = 0.0
    """Time of the newest event."""
    worked: float = 0.0
    """Seconds of earlier stretches: other processes, and before a question."""
    since: float | None = None
    """When this stretch began; None while the clock stands."""
    before: tuple[State, str] = field(default=("idle", ""), repr=False)
    """State and step that a question interrupts."""

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.tokens_in + self.tokens_out

    def seconds(self, now: float) -> float:
        """Wall time of the run; what passes while a person is asked, or while no one works on it, is not counted."""
        return self.worked + (max(0.0, now - self.since) if self.since is not None else 0.0)

    def after(self, recorded: RecordedEvent) -> "RunProgress":
        """The progress after one more event. Pure."""
        event, now = recorded.event, recorded.time or self.last
        state, node = _STATES.get(event.event_name, self.state), _NODES.get(event.event_name, self.node)
        attempt = max(self.attempt, recorded.visit or 0)
        known = replace(self, state=state, node=node, attempt=attempt, last=now)
        match event:
            case RunStartedEvent() | RunResumedEvent():
                begun = RunProgress(known.state, event.run, self.attempt, cost=self.cost, last=now, since=now)
                worked = self.seconds(self.last)
                return replace(begun, tokens_in=self.tokens_in, tokens_out=self.tokens_out, worked=worked)
            case CheckStartedEvent() | SetupStartedEvent():
                return replace(known, what=event.command)
            case CheckFinishedEvent():
                return replace(known, what="")
            case ModelCallEvent():
                model_state: State = _ASKED.get(event.node, "streaming")
                return replace(known, state=model_state, what=_WHAT_FOR.get(event.node, "asking the model"))
            case ModelAnswerEvent():
                tokens_in, tokens_out = self.tokens_in + event.tokens_in, self.tokens_out + event.tokens_out
                return replace(known, tokens_in=tokens_in, tokens_out=tokens_out, cost=self.cost + event.cost)
            case TryingEvent():
                return replace(known, what=f"{event.coder}: {event.what}")
            case ToolStartedEvent():
                call = ToolAtWork(event.tool, event.arguments, now)
                return replace(known, tools=(*self.tools, call), what=f"{call.tool} {call.arguments}")
            case ToolFinishedEvent():
                return replace(known, tools=_without(self.tools, event))
            case CoderStartedEvent():
                return replace(known, tools=(), what=event.coder)
            case CoderFinishedEvent():
                return replace(known, tools=(), what="")
            case VerifiedEvent() | PlannedEvent():
                return replace(known, what="")
            case AskedEvent():
                waiting = replace(known, state="waiting_for_input", what=event.question)
                return replace(waiting, before=(self.state, self.what), worked=self.seconds(now), since=None)
            case AnsweredEvent() if self.state == "waiting_for_input":
                before, what = self.before
                return replace(known, state=before, what=what, since=now)
            case StoppingEvent():
                return replace(known, stopping=True)
            case EndedEvent():
                return replace(known, what="", reason=event.reason, sentence=event.sentence)
            case RunFinishedEvent():
                return _finished(known, event, self.seconds(now))
            case _:
                return known

    def lost(self) -> "RunProgress":
        """The progress of a run that is not at work: if it began and has no ending, it was killed."""
        if not self.run or self.outcome:
            return self
        lost = replace(self, state="error", tools=(), what="", sentence=killed(None))
        return replace(lost, worked=self.seconds(self.last), since=None)


def _finished(known: RunProgress, event: RunFinishedEvent, worked: float) -> RunProgress:
    state: State = "error" if event.outcome in UNABLE else "idle"
    ended = replace(known, state=state, tools=(), node="done", what="", worked=worked, since=None, stopping=False)
    return replace(ended, outcome=event.outcome, reason=event.reason, exit_code=event.exit_code)


def _without(tools: tuple[ToolAtWork, ...], event: ToolFinishedEvent) -> tuple[ToolAtWork, ...]:
    """The remaining calls after one has ended; of equal calls the oldest."""
    for at, call in enumerate(tools):
        if (call.tool, call.arguments) == (event.tool, event.arguments):
            return (*tools[:at], *tools[at + 1 :])
    return tools
