"""The fold of a run's events into what it is doing now."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Final, Literal

State = Literal["planning", "streaming", "tool_running", "verifying", "waiting_for_input", "idle", "error"]
"""`streaming`: a model writes for the coder. `idle`: nothing is at work, before a run begins and after it ended.
`error`: it ended without having been able to work, or no one knows how."""

Event = dict[str, Any]

UNABLE: Final = frozenset({"crashed", "environment_broken", "model_unavailable"})
"""Outcomes that say nothing of the task."""

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
"""What is at work once an event of this name was written; the other names change nothing."""

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
class Doing:
    """All that the events up to now say; `after` takes in one more. Times are seconds since the epoch."""

    state: State = "idle"
    run: str = ""
    """Its id; empty before its first event."""
    attempt: int = 0
    """The visit at work, or the last one; 0: the state before the run is judged."""
    node: str = "verifier"
    what: str = ""
    """The step in a few words: a command, a tool with its arguments, a question; empty where the state says it all."""
    tools: tuple[ToolAtWork, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    """Of the answers whose price is known."""
    stopping: bool = False
    """A person has asked it to stop once the step is done."""
    outcome: str = ""
    """Empty until it ends."""
    reason: str = ""
    sentence: str = ""
    """The ending in words; so is the end of one that was killed."""
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

    def after(self, event: Event) -> "Doing":
        """This, and what one more event says. Pure."""
        name = str(event["event"])
        now = float(event.get("t", self.last))
        state, node = _STATES.get(name, self.state), _NODES.get(name, self.node)
        attempt = max(self.attempt, int(event.get("visit") or 0))
        known = replace(self, state=state, node=node, attempt=attempt, last=now)
        match name:
            case "run_started" | "run_resumed":
                begun = Doing(known.state, str(event["run"]), self.attempt, cost=self.cost, last=now, since=now)
                worked = self.seconds(self.last)
                return replace(begun, tokens_in=self.tokens_in, tokens_out=self.tokens_out, worked=worked)
            case "check_started" | "setup_started":
                return replace(known, what=str(event["command"]))
            case "check_finished":
                return replace(known, what="")
            case "model_call":
                asker = str(event["node"])
                asked: State = _ASKED.get(asker, "streaming")
                return replace(known, state=asked, what=_WHAT_FOR.get(asker, "asking the model"))
            case "model_answer":
                tokens_in, tokens_out = (
                    self.tokens_in + int(event["tokens_in"]),
                    self.tokens_out + int(event["tokens_out"]),
                )
                cost = self.cost + float(event.get("cost", 0.0))
                return replace(known, tokens_in=tokens_in, tokens_out=tokens_out, cost=cost)
            case "trying":
                return replace(known, what=f"{event['coder']}: {event['what']}")
            case "tool_started":
                call = ToolAtWork(event["tool"], event["arguments"], now)
                return replace(known, tools=(*self.tools, call), what=f"{call.tool} {call.arguments}")
            case "tool_finished":
                return replace(known, tools=_without(self.tools, event))
            case "coder_started" | "coder_finished":
                return replace(known, tools=(), what=str(event["coder"]) if name == "coder_started" else "")
            case "verified" | "planned":
                return replace(known, what="")
            case "asked":
                waiting = replace(known, state="waiting_for_input", what=str(event["question"]))
                return replace(waiting, before=(self.state, self.what), worked=self.seconds(now), since=None)
            case "answered" if self.state == "waiting_for_input":
                before, what = self.before
                return replace(known, state=before, what=what, since=now)
            case "stopping":
                return replace(known, stopping=True)
            case "ended":
                return replace(known, what="", reason=str(event["reason"]), sentence=str(event["sentence"]))
            case "run_finished":
                how: State = "error" if event["outcome"] in UNABLE else "idle"
                ended = replace(known, state=how, tools=(), node="done", what="")
                ended = replace(ended, worked=self.seconds(now), since=None, stopping=False)
                return replace(ended, **{key: event[key] for key in ("outcome", "reason", "exit_code")})
            case _:
                return known

    def lost(self) -> "Doing":
        """The same once no one works on it: a run that has begun, and has no ending, was killed."""
        if not self.run or self.outcome:
            return self
        killed = replace(self, state="error", tools=(), what="", sentence="killed before it ended")
        return replace(killed, worked=self.seconds(self.last), since=None)


def doing_after(events: Iterable[Event], start: Doing | None = None) -> Doing:
    """What all these events say."""
    return reduce(Doing.after, events, start or Doing())


def _without(tools: tuple[ToolAtWork, ...], event: Event) -> tuple[ToolAtWork, ...]:
    """The calls still at work once one like this has ended, the oldest of those that are alike."""
    for at, call in enumerate(tools):
        if (call.tool, call.arguments) == (event["tool"], event["arguments"]):
            return (*tools[:at], *tools[at + 1 :])
    return tools
