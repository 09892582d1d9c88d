"""The timeline of a run: its events, visit by visit."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kotef.failures.plural import counted
from kotef.report.guards import GuardReport, guard_of
from kotef.runs.events import Line

PHASES: Final = ("plan", "code", "check")
_AFTER: Final = {
    "run_started": "check",
    "verified": "plan",
    "coder_started": "code",
    "coder_finished": "check",
    "ended": "end",
}
"""What the run does from this event on."""
_END: Final = 2**36
"""Seconds since 1970: no run is later, and a calendar ends not much after."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One answer of a model."""

    node: str
    model: str
    """Empty where the endpoint, or an older kotef, did not tell."""
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    cost: float
    estimated: bool
    seconds: float | None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool that a model used."""

    tool: str
    arguments: str
    ok: bool
    note: str
    seconds: float


@dataclass(frozen=True, slots=True)
class VisitRecord:
    """One visit as its events tell it; the checks' own words are in its `Verification`."""

    visit: int
    hypothesis: str = ""
    source: str = ""
    """`model` or `code`; empty when nothing was planned."""
    steps: tuple[str, ...] = ()
    coder: str = ""
    stopped_by: str = ""
    """Empty while the coder is at work, or when it never came to an end."""
    stopped_why: str = ""
    said: str = ""
    """The coder's last words; a claim."""
    changed: tuple[str, ...] = ()
    passed: bool | None = None
    """None when nothing was judged."""
    verdict: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """By phase; the time between a kill and its resume is not a part."""
    calls: tuple[ModelCall, ...] = ()
    tools: tuple[ToolCall, ...] = ()
    guards: tuple[GuardReport, ...] = ()

    @property
    def tokens(self) -> int:
        """Input plus output, of all calls."""
        return sum(call.tokens_in + call.tokens_out for call in self.calls)

    @property
    def cost(self) -> float:
        """Of all calls; 0 where no price is known."""
        return sum(call.cost for call in self.calls)


@dataclass(frozen=True, slots=True)
class Timeline:
    """Everything the events of a run tell."""

    visits: tuple[VisitRecord, ...] = ()
    """In order; 0 is the baseline."""
    began: float | None = None
    """Seconds since 1970; None without any event."""
    last: float | None = None
    doing: str = ""
    """What the run did when it was last heard of; empty once it had ended."""
    notices: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """At work, over all visits."""
        return sum(sum(visit.seconds.values()) for visit in self.visits)


def record_of(events: Iterable[Line]) -> Timeline:
    """Read the events once, first to last; what tells no visit belongs to the one that was at work."""
    lines: dict[int, list[Line]] = defaultdict(list)
    seconds: dict[int, dict[str, float]] = defaultdict(dict)
    notices: list[str] = []
    unread = 0
    began: float | None = None
    before: float | None = None
    visit, phase, doing = 0, "check", ""
    for line in events:
        at = _time(line, before)
        began = at if began is None else began
        told = line.get("visit")
        visit = told if isinstance(told, int) and told >= 0 else visit
        if before is not None and phase in PHASES and line["event"] != "run_resumed":
            spent = seconds[visit]
            spent[phase] = spent.get(phase, 0.0) + max(0.0, at - before)
        before = at
        phase = _AFTER.get(line["event"], phase)
        doing = _doing(line, visit, doing)
        if line["event"] == "notice":
            notices.append(str(line.get("text", "")))
        unread += line["event"] in _READ and _READ[line["event"]](line) is None
        lines[visit].append(line)
    made = {number for number, found in lines.items() if number == 0 or any("visit" in line for line in found)}
    visits = tuple(_visit(number, lines[number], seconds[number]) for number in sorted(made))
    if unread:
        notices.append(f"{counted(unread, 'event')} cannot be read, of another version perhaps; not counted here")
    return Timeline(visits, began, before, doing, tuple(dict.fromkeys(notices)))


def _time(line: Line, before: float | None) -> float:
    at = line.get("t")
    return float(at) if isinstance(at, int | float) and 0 <= at < _END else before or 0.0


def _doing(line: Line, visit: int, before: str) -> str:
    match line["event"]:
        case "check_started":
            return f"{'the baseline' if visit == 0 else f'attempt {visit}'} is judged by `{line.get('command')}`"
        case "verified" if line.get("passed") and visit:
            return f"attempt {visit} passed its checks"
        case "verified" | "planned" | "model_call" if line.get("node") != "coder":
            number = visit + 1 if line["event"] == "verified" else visit
            return f"attempt {number} is planned"
        case "coder_started":
            return f"attempt {visit}: the coder ({line.get('coder')}) is at work"
        case "tool_started":
            return f"attempt {visit}: {line.get('tool')} {line.get('arguments')}"
        case "ended" | "run_finished":
            return ""
        case "run_started" | "run_resumed":
            return "the run begins" if line["event"] == "run_started" else "the run continues"
        case _:
            return before


def _visit(number: int, lines: list[Line], seconds: Mapping[str, float]) -> VisitRecord:
    """Of a visit that a kill made start twice, what was recorded last."""
    last: dict[str, Line] = {line["event"]: line for line in lines}
    plan, coder, edits, verdict = (
        last.get(name, {}) for name in ("planned", "coder_started", "coder_finished", "verified")
    )
    refused = next((line for line in lines if line["event"] == "reviewed" and not line.get("accepted")), None)
    said = f"review refused: {refused.get('reason')}" if refused else str(verdict.get("summary", ""))
    return VisitRecord(
        visit=number,
        hypothesis=str(plan.get("hypothesis", "")),
        source=str(plan.get("source", "")),
        steps=_texts(plan.get("steps")),
        coder=str(coder.get("coder", "")),
        stopped_by=str(edits.get("stopped_by", "")),
        stopped_why=str(edits.get("detail", "")),
        said=str(edits.get("summary", "")),
        changed=_texts(edits.get("changed")),
        passed=False if refused else verdict.get("passed"),
        verdict=said,
        seconds=dict(seconds),
        calls=tuple(call for line in lines if line["event"] == "model_answer" and (call := call_of(line))),
        tools=tuple(tool for line in lines if line["event"] == "tool_finished" and (tool := _tool(line))),
        guards=tuple(guard for line in lines if (guard := guard_of(line))),
    )


def call_of(line: Line) -> ModelCall | None:
    """The answer of a model that a `model_answer` tells of; None where its figures are none."""
    seconds = line.get("seconds")
    try:
        return ModelCall(
            node=str(line.get("node", "")),
            model=str(line.get("model") or ""),
            tokens_in=int(_figure(line, "tokens_in")),
            tokens_out=int(_figure(line, "tokens_out")),
            tokens_cached=int(_figure(line, "tokens_cached")),
            cost=_figure(line, "cost"),
            estimated=bool(line.get("estimated")),
            seconds=None if seconds is None else _figure(line, "seconds"),
        )
    except (TypeError, ValueError, OverflowError):
        return None


def _tool(line: Line) -> ToolCall | None:
    try:
        return ToolCall(
            tool=str(line.get("tool", "")),
            arguments=str(line.get("arguments", "")),
            ok=bool(line.get("ok")),
            note=str(line.get("note", "")),
            seconds=_figure(line, "seconds"),
        )
    except (TypeError, ValueError, OverflowError):
        return None


_READ: Final[Mapping[str, Callable[[Line], object]]] = {"model_answer": call_of, "tool_finished": _tool}


def _figure(line: Line, name: str) -> float:
    """0 if it is not reported; TypeError, ValueError or OverflowError for what is not a figure."""
    found = float(line.get(name, 0.0))
    if not math.isfinite(found):
        raise ValueError(name)
    return found


def _texts(found: Any) -> tuple[str, ...]:
    return tuple(str(one) for one in found) if isinstance(found, list) else ()
