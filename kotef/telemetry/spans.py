"""Spans of a trace, made from the events of a run."""

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from kotef.redaction import redactor
from kotef.runs.events import Line
from kotef.state import Task

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, SpanKind, Tracer

_TOLD: Final = frozenset(
    {
        *("nudge", "repeat", "mistake_recovery", "cap_reached", "compacted", "prefix_drift", "retry", "rerun"),
        *("model_retry", "model_fallback", "mended", "empty_answer", "recalled", "withheld", "restored"),
    }
)
"""What guards did: events of the span at work."""


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
        self._ending: Line = {"outcome": "aborted", "reason": "aborted", "exit_code": 1}
        self._visit: Span | None = None
        self._node: Span | None = None
        self._number = -1
        self._name = ""
        self._since = time.time_ns()
        """When the node before this one ended."""
        self._open: dict[tuple[str, ...], list[Span]] = {}
        self._cost = 0.0

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

    def __call__(self, line: Line) -> None:
        """Take in one event. A trace never costs a run: what goes wrong here is dropped."""
        with suppress(Exception):
            self._take(line)

    def close(self) -> None:
        """End what is open, and the run with its outcome."""
        from opentelemetry.trace import Status, StatusCode

        if self._run is None:
            return
        self._leave_visit()
        outcome = self._ending["outcome"]
        self._run.set_attributes({f"kotef.{name}": self._ending[name] for name in ("outcome", "reason", "exit_code")})
        self._run.set_attribute("kotef.cost", self._cost)
        if outcome not in ("verified", "unverified"):
            self._run.set_attribute("error.type", outcome)
            self._run.set_status(Status(StatusCode.ERROR))
        self._run.end()

    def _take(self, line: Line) -> None:
        event = line["event"]
        match event:
            case "run_started" | "run_resumed":
                self._since = time.time_ns()
                said = {**_of_run(self.task), **self._text(goal=self.task.goal)}
                resumed = {"kotef.resumed": event != "run_started"}
                self._run = self.span("invoke_agent kotef", {**said, **resumed}, self.parent)
            case "run_finished":
                self._ending = line
            case "setup_started":
                self._begin((event,), "setup", **self._text(command=line["command"]))
            case "setup_finished":
                self._end(("setup_started",), ok=line["passed"], **{"process.exit.code": line["exit_code"]})
            case "check_started":
                self._enter(line["visit"], "verifier")
                named = {"kotef.check.name": line["check"]}
                self._begin((event, line["check"]), f"check {line['check']}", **named)
            case "check_finished":
                self._end((event.replace("finished", "started"), line["check"]), ok=line["passed"], **_of_check(line))
            case "verified":
                self._leave_node()
            case "model_call":
                node = "coder" if line["node"] in ("coder", "compaction") else "planner"
                self._enter(max(self._number, line["visit"]), node)
            case "model_answer":
                self._cost += line["cost"]
            case "planned":
                self._enter(line["visit"], "planner")
                self._set(kotef={"plan.source": line["source"], "plan.steps": len(line["steps"])})
                self._leave_node()
            case "coder_started":
                self._enter(line["visit"], "coder")
                self._set(kotef={"coder": line["coder"]})
            case "coder_finished":
                self._set(kotef={"stopped_by": line["stopped_by"], "changed": len(line["changed"])})
                self._leave_node()
            case "tool_started":
                self._tool_started(line)
            case "tool_finished":
                self._end(("tool", line["tool"], line["arguments"]), ok=line["ok"])
            case _ if event in _TOLD:
                self._tell(line)

    def _tool_started(self, line: Line) -> None:
        named = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": line["tool"],
            "gen_ai.tool.type": "function",
        }
        said = {"gen_ai.tool.call.arguments": line["arguments"]} if self.content else {}
        key = ("tool", line["tool"], line["arguments"])
        self._begin(key, f"execute_tool {line['tool']}", **self.place, **named, **said)

    def _tell(self, line: Line) -> None:
        """What is a number or a truth, and with `content` the words as well."""
        kept = (bool, int, float, str) if self.content else (bool, int, float)
        facts = {
            key: value for key, value in line.items() if key not in ("n", "t", "event") and isinstance(value, kept)
        }
        if at_work := self._node or self._visit or self._run:
            at_work.add_event(f"kotef.{line['event']}", facts)

    def _enter(self, visit: int, node: str) -> None:
        """What comes now belongs to this node of this visit, which began when the one before it ended."""
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


def _of_check(line: Line) -> dict[str, Any]:
    names = ("passed", "kind", "executed", "failing", "partial")
    return {"process.exit.code": line["exit_code"], **{f"kotef.check.{name}": line[name] for name in names}}


def _aborted(span: "Span") -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", "aborted")
    span.set_status(Status(StatusCode.ERROR))
    span.end()
