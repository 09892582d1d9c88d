"""Spans of a trace, made from the events of a run."""

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from kotef.events import (
    CapReachedEvent,
    CheckFinishedEvent,
    CheckStartedEvent,
    CoderFinishedEvent,
    CoderStartedEvent,
    CompactedEvent,
    DefectEvent,
    EmptyAnswerEvent,
    MendedEvent,
    MistakeRecoveryEvent,
    ModelAdaptedEvent,
    ModelCallEvent,
    ModelFallbackEvent,
    ModelRetryEvent,
    NoProgressEvent,
    NudgeEvent,
    PlannedEvent,
    PrefixDriftEvent,
    RecalledEvent,
    RecordedEvent,
    RepeatEvent,
    RerunEvent,
    RestoredEvent,
    RetryEvent,
    RunEvent,
    RunFinishedEvent,
    RunResumedEvent,
    RunStartedEvent,
    SetupFinishedEvent,
    SetupStartedEvent,
    ToolFinishedEvent,
    ToolStartedEvent,
    VerifiedEvent,
    WithheldEvent,
)
from kotef.redaction import redactor
from kotef.state import Task

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, SpanKind, Tracer

_TOLD: Final = (
    *(NudgeEvent, RepeatEvent, MistakeRecoveryEvent, CapReachedEvent, CompactedEvent, PrefixDriftEvent, RetryEvent),
    *(RerunEvent, ModelRetryEvent, ModelFallbackEvent, ModelAdaptedEvent, MendedEvent, EmptyAnswerEvent),
    *(RecalledEvent, WithheldEvent, DefectEvent, NoProgressEvent),
    RestoredEvent,
)
"""Events of guards, which become events of the current span."""


class Spans:
    """A watcher of one run: run → visit → node → model call, tool call, check.

    A visit is the plan for it, its coder and its verification; visit 0 is the state before the run. Texts of people,
    models and commands (goal, plan, arguments, summaries) are left out unless `content`.
    """

    def __init__(self, tracer: "Tracer", task: Task, *, content: bool, parent: "Context | None" = None) -> None:
        """`parent` is the trace this run is a part of; None: it begins one of its own.

        No span is made before the run has begun: one that is refused leaves no trace.
        """
        self.tracer, self.task, self.content, self.parent = tracer, task, content, parent
        self._run: Span | None = None
        self._ending = RunFinishedEvent(outcome="aborted", reason="aborted", exit_code=1, seconds=0.0)
        self._visit: Span | None = None
        self._node: Span | None = None
        self._number = -1
        self._name = ""
        self._since = time.time_ns()
        """When the node before this one ended."""
        self._open: dict[tuple[str, ...], list[Span]] = {}

    def span(
        self,
        name: str,
        attributes: dict[str, Any],
        under: "Context | None" = None,
        *,
        kind: "SpanKind | None" = None,
        start: int | None = None,
    ) -> "Span":
        """A span begun now or at `start`, without secrets; attributes that are None are left out."""
        from opentelemetry.trace import SpanKind

        given = redactor().whole({key: value for key, value in attributes.items() if value is not None})
        return self.tracer.start_span(
            redactor().text(name), context=under, kind=kind or SpanKind.INTERNAL, attributes=given, start_time=start
        )

    def under(self) -> "Context":
        """The context of what is at work: the node, or the run where none is."""
        from opentelemetry.context import Context
        from opentelemetry.trace import set_span_in_context

        found = self._node or self._visit or self._run
        return set_span_in_context(found) if found else Context()

    @property
    def place(self) -> dict[str, Any]:
        """Attributes that say where in the run something happens."""
        named = {"kotef.node": self._name} if self._name else {}
        return {"gen_ai.conversation.id": self.task.run_id, "kotef.visit": max(0, self._number), **named}

    def __call__(self, recorded: RecordedEvent) -> None:
        """Take in one event. A trace never costs a run: what goes wrong here is dropped."""
        with suppress(Exception):
            self._take(recorded.event)

    def close(self) -> None:
        """End what is open, and the run with its outcome."""
        from opentelemetry.trace import Status, StatusCode

        if self._run is None:
            return
        self._leave_visit()
        ending, outcome = self._ending, self._ending.outcome
        self._run.set_attributes(
            {f"kotef.{name}": getattr(ending, name) for name in ("outcome", "reason", "exit_code")}
        )
        if ending.cost is not None:
            self._run.set_attribute("kotef.cost", ending.cost)
        if outcome not in ("verified", "unverified"):
            self._run.set_attribute("error.type", outcome)
            self._run.set_status(Status(StatusCode.ERROR))
        self._run.end()

    def _take(self, event: RunEvent) -> None:
        match event:
            case RunStartedEvent() | RunResumedEvent():
                self._since = time.time_ns()
                attributes = {**_of_run(self.task), **self._text(goal=self.task.goal)}
                resumed = {"kotef.resumed": isinstance(event, RunResumedEvent)}
                self._run = self.span("invoke_agent kotef", {**attributes, **resumed}, self.parent)
            case RunFinishedEvent():
                self._ending = event
            case SetupStartedEvent():
                self._begin(("setup",), "setup", **self._text(command=event.command))
            case SetupFinishedEvent():
                self._end(("setup",), ok=event.passed, **{"process.exit.code": event.exit_code})
            case CheckStartedEvent():
                self._enter(event.visit, "verifier")
                named = {"kotef.check.name": event.check}
                self._begin(("check", event.check), f"check {event.check}", **named)
            case CheckFinishedEvent():
                self._end(("check", event.check), ok=event.passed, **_of_check(event))
            case VerifiedEvent():
                self._leave_node()
            case ModelCallEvent():
                node = "coder" if event.node in ("coder", "compaction") else "planner"
                self._enter(max(self._number, event.visit), node)
            case PlannedEvent():
                self._enter(event.visit, "planner")
                self._set(kotef={"plan.source": event.source, "plan.steps": len(event.steps)})
                self._leave_node()
            case CoderStartedEvent():
                self._enter(event.visit, "coder")
                self._set(kotef={"coder": event.coder})
            case CoderFinishedEvent():
                self._set(kotef={"stopped_by": event.stopped_by, "changed": len(event.changed)})
                self._leave_node()
            case ToolStartedEvent():
                self._tool_started(event)
            case ToolFinishedEvent():
                self._end(_key_of(event), ok=event.ok)
            case _ if isinstance(event, _TOLD):
                self._tell(event)

    def _tool_started(self, event: ToolStartedEvent) -> None:
        named = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event.tool,
            "gen_ai.tool.call.id": event.call_id or None,
            "gen_ai.tool.type": "function",
        }
        attributes = {"gen_ai.tool.call.arguments": event.arguments} if self.content else {}
        self._begin(_key_of(event), f"execute_tool {event.tool}", **self.place, **named, **attributes)

    def _tell(self, event: RunEvent) -> None:
        """Attributes that are numbers or booleans, and with `content` also texts."""
        kept = (bool, int, float, str) if self.content else (bool, int, float)
        facts = {key: value for key, value in vars(event).items() if isinstance(value, kept)}
        if at_work := self._node or self._visit or self._run:
            at_work.add_event(f"kotef.{event.event_name}", facts)

    def _enter(self, visit: int, node: str) -> None:
        """Begin the span of this node of this visit, which starts when the previous one ended."""
        if visit > self._number:
            self._leave_visit()
            self._number = visit
            self._visit = self.span(f"visit {visit}", {"kotef.visit": visit}, self.under(), start=self._since)
        if self._node is None or self._name != node:
            self._leave_node()
            self._name = node
            of_node = {"kotef.node": node, "kotef.visit": visit}
            self._node = self.span(node, of_node, self.under(), start=self._since)

    def _leave_node(self) -> None:
        self._since = time.time_ns()
        for spans in self._open.values():
            for span in spans:
                _aborted(span)
        self._open.clear()
        if self._node is not None:
            self._node.end()
        self._node, self._name = None, ""

    def _leave_visit(self) -> None:
        self._leave_node()
        if self._visit is not None:
            self._visit.end()
        self._visit = None

    def _begin(self, key: tuple[str, ...], name: str, **attributes: Any) -> None:
        self._open.setdefault(key, []).append(self.span(name, attributes, self.under()))

    def _end(self, key: tuple[str, ...], *, ok: bool, **attributes: Any) -> None:
        """End the oldest span of this key; what failed is an error, without words."""
        from opentelemetry.trace import Status, StatusCode

        if not self._open.get(key):
            return
        span = self._open[key].pop(0)
        span.set_attributes({name: value for name, value in attributes.items() if value is not None})
        if not ok:
            span.set_attribute("error.type", "failed")
            span.set_status(Status(StatusCode.ERROR))
        span.end()

    def _set(self, kotef: dict[str, Any]) -> None:
        if self._node is not None:
            self._node.set_attributes({f"kotef.{key}": value for key, value in kotef.items()})

    def _text(self, **texts: str) -> dict[str, str]:
        return {f"kotef.{name}": text for name, text in texts.items()} if self.content else {}


def _key_of(event: ToolStartedEvent | ToolFinishedEvent) -> tuple[str, ...]:
    """What the start and the end of one call have in common; calls of an answer may share the id, or have none."""
    return ("tool", event.call_id, event.tool, event.arguments)


def _of_run(task: Task) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "kotef",
        "gen_ai.conversation.id": task.run_id,
        "gen_ai.request.model": task.model or None,
        "kotef.coder": task.coder,
        "kotef.max_attempts": task.limits.max_attempts,
        "kotef.ticket": task.ticket.id if task.ticket else None,
    }


def _of_check(event: CheckFinishedEvent) -> dict[str, Any]:
    names = ("passed", "kind", "executed", "failing", "partial")
    return {"process.exit.code": event.exit_code, **{f"kotef.check.{name}": getattr(event, name) for name in names}}


def _aborted(span: "Span") -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", "aborted")
    span.set_status(Status(StatusCode.ERROR))
    span.end()
