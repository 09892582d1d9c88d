"""What is a run doing now, told from its events alone?"""

from collections.abc import Iterable
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from kotef.runs.events import Line

State = Literal["planning", "streaming", "tool_running", "verifying", "waiting_for_input", "idle", "error"]
"""`streaming`: a model writes for the coder. `idle`: nothing is at work, the run has ended. `error`: it broke."""

BROKEN: Final = frozenset({"crashed", "environment_broken", "model_unavailable"})
"""Endings that say nothing about the task."""

_AFTER: Final[dict[str, State]] = {
    "run_started": "verifying",
    "run_resumed": "planning",
    "setup_started": "verifying",
    "check_started": "verifying",
    "proving": "verifying",
    "setting_aside": "verifying",
    "coder_finished": "verifying",
    "verified": "planning",
    "planned": "planning",
    "coder_started": "tool_running",
    "trying": "tool_running",
    "tool_started": "tool_running",
    "asked": "waiting_for_input",
    "answered": "tool_running",
    "ended": "planning",
}
"""What is at work once an event of this name was written; the other names change nothing."""

_ASKS: Final[dict[str, State]] = {"planner": "planning", "review": "verifying"}
"""Who asks a model other than for the coder."""


class Condition(BaseModel):
    """Where a run stands."""

    model_config = ConfigDict(frozen=True)

    state: State = "idle"
    run: str = ""
    """Its id; empty before its first event."""
    attempt: int = 0
    """The visit at work, or the last one; 0: the state before the run is judged."""
    doing: str = ""
    """The command, tool or question at work, in one line; empty where the state says it all."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    """Of the answers whose price is known."""
    estimated: bool = False
    """Whether an endpoint left the count of tokens to us."""
    outcome: str = ""
    """Empty while the run is at work."""
    reason: str = ""
    sentence: str = ""
    exit_code: int | None = None

    def after(self, line: Line) -> "Condition":
        """The condition once `line` was written."""
        name = str(line["event"])
        known = {"state": _AFTER[name]} if name in _AFTER else {}
        attempt = max(self.attempt, int(line.get("visit") or 0))
        now = self.model_copy(update={**known, "attempt": attempt, "doing": _doing(line) if known else self.doing})
        match name:
            case "run_started":
                return now.model_copy(update={"run": line["run"]})
            case "run_resumed":
                ended = {"outcome": "", "reason": "", "sentence": "", "exit_code": None}
                return now.model_copy(update={"run": line["run"], **ended})
            case "model_call":
                asks = _ASKS.get(str(line["node"]), "streaming")
                return now.model_copy(update={"state": asks, "doing": "" if line["node"] == "coder" else line["node"]})
            case "model_answer":
                return now.model_copy(
                    update={
                        "tokens_in": self.tokens_in + line["tokens_in"],
                        "tokens_out": self.tokens_out + line["tokens_out"],
                        "cost": self.cost + line["cost"],
                        "estimated": self.estimated or line["estimated"],
                    }
                )
            case "ended":
                return now.model_copy(update={name: line[name] for name in ("reason", "sentence")})
            case "run_finished":
                state: State = "error" if line["outcome"] in BROKEN else "idle"
                told = {name: line[name] for name in ("outcome", "reason", "exit_code")}
                return now.model_copy(update={"state": state, "doing": "", **told})
            case _:
                return now


def condition(events: Iterable[Line], *, alive: bool = True) -> Condition:
    """Where a run stands after `events`; not `alive`: no process works on it any more.

    Such a run without an ending was killed, and that is an `error`.
    """
    now = Condition()
    for line in events:
        now = now.after(line)
    if alive or now.exit_code is not None or not now.run:
        return now
    return now.model_copy(update={"state": "error", "doing": "", "sentence": "killed before it ended"})


def _doing(line: Line) -> str:
    """What an event says is at work, in the words it has."""
    match line["event"]:
        case "check_started" | "setup_started":
            return str(line["command"])
        case "tool_started":
            return f"{line['tool']} {line['arguments']}".strip()
        case "trying":
            return f"{line['coder']}: {line['what']}"
        case "coder_started":
            return str(line["coder"])
        case "asked":
            return str(line.get("question", ""))
        case _:
            return ""
