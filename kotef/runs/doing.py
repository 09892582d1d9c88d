"""What is a run doing now, as its events tell?"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Final, Literal

State = Literal["planning", "streaming", "tool_running", "verifying", "waiting_for_input", "idle", "error"]
"""`idle`: nothing is at work, before a run begins and after it ended; `error`: it ended without having been able to
work, or nobody knows how."""

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
    "coder_finished": "verifying",
    "verified": "planning",
    "planned": "planning",
    "trying": "tool_running",
    "tool_started": "tool_running",
}
_ASKED: Final[dict[str, State]] = {"planner": "planning", "review": "verifying"}
"""The state while a model of that node answers; the coder's models stream."""
_NODES: Final = {
    "check_started": "verifier",
    "verified": "planner",
    "planned": "coder",
    "coder_started": "coder",
    "coder_finished": "verifier",
    "proving": "verifier",
    "setting_aside": "verifier",
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
    visit: int = 0
    node: str = "verifier"
    what: str = "baseline"
    """The step: a command, a tool with its arguments, a question."""
    tools: tuple[ToolAtWork, ...] = ()
    tokens: int = 0
    cost: float = 0.0
    stopping: bool = False
    """A person has asked it to stop once the step is done."""
    outcome: str = ""
    """Empty until it ends."""
    exit_code: int | None = None
    last: float = 0.0
    """Time of the newest event."""
    worked: float = 0.0
    """Seconds of earlier stretches: other processes, and before a question."""
    since: float | None = None
    """When this stretch began; None while the clock stands."""
    before: State = field(default="idle", repr=False)
    """The state that a question interrupts."""

    def seconds(self, now: float) -> float:
        """Wall time of the run; what passes while a person is asked, or while nobody works on it, is not counted."""
        return self.worked + (max(0.0, now - self.since) if self.since is not None else 0.0)

    def after(self, event: Event) -> "Doing":
        """This, and what one more event says. Pure."""
        name = str(event["event"])
        now = float(event.get("t", self.last))
        state, node = _STATES.get(name, self.state), _NODES.get(name, self.node)
        known = replace(self, state=state, node=node, visit=self._visit(event), last=now)
        match name:
            case "run_started" | "run_resumed":
                worked = self.seconds(self.last)
                new = Doing(known.state, str(event["run"]), self.visit, tokens=self.tokens, cost=self.cost)
                return replace(new, last=now, worked=worked, since=now)
            case "check_started" | "setup_started":
                return replace(known, what=str(event["command"]))
            case "check_finished":
                return replace(known, what="")
            case "model_call":
                return replace(known, state=_ASKED.get(event["node"], "streaming"), what="asking the model")
            case "model_answer":
                tokens = self.tokens + int(event["tokens_in"]) + int(event["tokens_out"])
                return replace(known, tokens=tokens, cost=self.cost + float(event.get("cost", 0.0)))
            case "trying":
                return replace(known, what=f"{event['coder']}: {event['what']}")
            case "tool_started":
                call = ToolAtWork(event["tool"], event["arguments"], now)
                return replace(known, tools=(*self.tools, call), what=f"{call.tool} {call.arguments}")
            case "tool_finished":
                return replace(known, tools=_without(self.tools, event))
            case "coder_started" | "coder_finished":
                return replace(known, tools=())
            case "asked":
                asked = replace(known, state="waiting_for_input", what=str(event["question"]), before=self.state)
                return replace(asked, worked=self.seconds(now), since=None)
            case "answered" if self.state == "waiting_for_input":
                return replace(known, state=self.before, since=now)
            case "stopping":
                return replace(known, stopping=True)
            case "run_finished":
                how: State = "error" if event["outcome"] in UNABLE else "idle"
                ended = replace(known, state=how, tools=(), node="done", what="")
                ended = replace(ended, worked=self.seconds(now), since=None, stopping=False)
                return replace(ended, outcome=event["outcome"], exit_code=event["exit_code"])
            case _:
                return known

    def lost(self) -> "Doing":
        """The same once nobody works on it, and no ending was recorded."""
        return replace(self, state="error", tools=(), what="killed", worked=self.seconds(self.last), since=None)

    def _visit(self, event: Event) -> int:
        """A visit begins with its coder: what is planned is not at work yet."""
        return int(event["visit"]) if event["event"] == "coder_started" else self.visit


def doing_after(events: Iterable[Event], start: Doing | None = None) -> Doing:
    """What all these events say."""
    return reduce(Doing.after, events, start or Doing())


def _without(tools: tuple[ToolAtWork, ...], event: Event) -> tuple[ToolAtWork, ...]:
    """The calls still at work once one like this has ended, the oldest of those that are alike."""
    for at, call in enumerate(tools):
        if (call.tool, call.arguments) == (event["tool"], event["arguments"]):
            return (*tools[:at], *tools[at + 1 :])
    return tools
