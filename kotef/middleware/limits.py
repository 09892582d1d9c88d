"""Guard of the limits: model calls and tool calls left in a visit."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata

from kotef.deps import Clock, Emit
from kotef.errors import ModelError, ModelFault
from kotef.failures.plural import counted
from kotef.middleware.visit_context import VisitContext
from kotef.models.usage import answer_facts, estimate, spent_on
from kotef.settings import Limits, Price
from kotef.state import Spent, StoppedBy, Usage, over_budget
from kotef.stop_gate import next_step

STOP: Final = "kotef_stop"
"""Key in `additional_kwargs` of the message that ends a visit, with the reason and one line of detail."""
FAULT: Final = "kotef_fault"
"""Key beside it where the endpoint failed: its fault."""
SUMMARY: Final = "kotef_summary"
"""The same, of a closing summary: True if the visit continues after it, False if it is the last word."""
COMMAND: Final = "run_command"
"""The tool that runs commands."""
NO_TOOLS: Final = "none"
"""The `tool_choice` of a request whose tools are switched off; their schemas stay, for the sake of caches."""

Ask = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]


class Cap(NamedTuple):
    """A reached limit of one visit."""

    by: StoppedBy
    detail: str
    goes_on: bool
    """Whether the visit may continue after a closing summary."""


@dataclass(slots=True)
class Tally:
    """Usage of a visit; counts are kept, because a visit's messages are only added to."""

    price: Price | None = None
    read: int = 0
    answers: int = 0
    results: int = 0
    """Answered tool calls, including failed and malformed ones."""
    went_on: int = 0
    """Closing summaries after which the visit went on."""
    spent: Spent = field(default_factory=Spent)

    def take(self, messages: Sequence[AnyMessage]) -> "Tally":
        """Count the new messages."""
        for message in messages[self.read :]:
            self.results += isinstance(message, ToolMessage)
            if isinstance(message, ToolMessage) and message.name == COMMAND:
                self.spent = self.spent.plus(Spent(commands=1))
            if isinstance(message, AIMessage):
                self.answers += 1
                self.went_on += bool(message.additional_kwargs.get(SUMMARY))
                self.spent = self.spent.plus(spent_on(message, self.price))
        self.read = len(messages)
        return self


class VisitBudget:
    """The remaining budget of a visit; counted from the messages, so that a resume continues the count."""

    def __init__(
        self,
        limits: Limits,
        spent: Usage,
        price: Price | None,
        clock: Clock,
        reserve: float,
        *,
        written: Callable[[], int] = lambda: 0,
    ) -> None:
        """`spent` is what the run had used when the visit started; `reserve` is in seconds.

        So much time is kept back for the verifier: what the checks took at the baseline. `written` tells the bytes that
        this visit has written so far.
        """
        self._written = written
        self.limits, self.price, self.clock, self.reserve = limits, price, clock, reserve
        self.before = spent.total
        self.tally = Tally(price)

    def cap(self, messages: Sequence[AnyMessage]) -> Cap | None:
        """The cap on steps or on tool calls that is reached; None while there is none."""
        limits, used = self.limits, self.tally.take(messages)
        if used.answers >= limits.max_steps:
            steps = counted(limits.max_steps, "model call")
            return Cap("step_cap", f"step limit reached: {steps} in one visit (--max-steps)", goes_on=False)
        if self.calls_left(messages) > 0:
            return None
        detail = f"tool budget exhausted: {counted(used.results, 'tool call')} in one visit (--max-tool-calls"
        if used.went_on < limits.continues:
            return Cap("tool_budget", f"{detail})", goes_on=True)
        again = f", continued {counted(used.went_on, 'time')} already" if used.went_on else ""
        return Cap("tool_budget", f"{detail}{again}; `kotef resume --continue` grants one more)", goes_on=False)

    def calls_left(self, messages: Sequence[AnyMessage]) -> int:
        """Tool calls up to the next cap."""
        used = self.tally.take(messages)
        return self.limits.max_tool_calls * (1 + used.went_on) - used.results

    def refusal(self, messages: Sequence[AnyMessage], coming: int) -> tuple[StoppedBy, str] | None:
        """The budget of the run that forbids a call of `coming` input tokens, and a line that says so."""
        if self.clock.left() <= self.reserve:
            used, limit = self.clock.elapsed(), self.clock.limit
            return "time", f"{used:.0f} of {limit:g} seconds used, the rest is reserved for the checks (--max-time)"
        total = self.before.plus(self.tally.take(messages).spent)
        total = total.model_copy(update={"seconds": 0.0, "written": self.before.written + self._written()})
        return over_budget(total, self.limits) or self._short_of(total, coming)

    def _short_of(self, total: Spent, coming: int) -> tuple[StoppedBy, str] | None:
        """The budget that is not enough for the next request."""
        limits = self.limits
        if total.tokens + coming > limits.max_tokens:
            used = f"{total.tokens:,} of {limits.max_tokens:,} tokens used"
            return "tokens", f"{used}, and the next request needs about {coming:,} (--max-tokens)"
        cost = self.price.of(coming, 0) if self.price else 0.0
        if limits.max_cost is not None and total.cost + cost > limits.max_cost:
            used = f"{total.cost:.4f} of {limits.max_cost:.4f} spent"
            return "money", f"{used}, and the next request needs about {cost:.4f} (--max-cost)"
        return None


class Bounds(AgentMiddleware[Any, Any, Any]):
    """Ends the visit at a limit, and when the endpoint fails; the end is a message, so it is checkpointed.

    At a cap of the visit the model is asked for one closing summary with its tools switched off; after the tool budget
    the visit continues from it, as often as the limits allow. A budget of the run leaves nothing to ask with.
    """

    def __init__(self, budget: VisitBudget, visit: VisitContext) -> None:
        """One instance a visit; it holds no count of its own."""
        super().__init__()
        self.budget, self.visit = budget, visit
        self.emit: Emit = visit.context.emit

    def note(self, request: ModelRequest[Any]) -> str:
        """The note to the model in a request for its closing summary; empty in every other."""
        if request.tool_choice != NO_TOOLS or not self.budget.limits.max_steps:
            return ""
        cap = self.budget.cap(request.state["messages"])
        return self.visit.context.prompts.render("wrap_up", detail=cap.detail, goes_on=cap.goes_on) if cap else ""

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Ask) -> ModelResponse[Any]:
        """Ask the model, or return the message that ends the visit."""
        if not self.budget.limits.max_steps:
            return ModelResponse(result=[await self._in_words(request, handler)])
        cap = self.budget.cap(request.state["messages"])
        if cap is None:
            return ModelResponse(result=[await self._act(request, handler)])
        return ModelResponse(result=await self._close(cap, request, handler))

    async def _close(self, cap: Cap, request: ModelRequest[Any], handler: Ask) -> list[BaseMessage]:
        """The closing summary and what follows from it; calls in it are dropped."""
        self.emit("cap_reached", visit=self.visit.number, cap=cap.by, detail=cap.detail, can_continue=cap.goes_on)
        answer = await self._ask(request.override(tool_choice=NO_TOOLS), handler)
        if STOP in answer.additional_kwargs:
            return [
                answer.model_copy(update={"content": cap.detail, "additional_kwargs": {STOP: [cap.by, cap.detail]}})
            ]
        answer = self._without_calls(answer, cap.detail)
        marks = {SUMMARY: cap.goes_on} if cap.goes_on else {SUMMARY: False, STOP: [cap.by, cap.detail]}
        answer = answer.model_copy(update={"additional_kwargs": answer.additional_kwargs | marks})
        if not cap.goes_on:
            return [answer]
        notice = HumanMessage(self.visit.context.prompts.render("continue", calls=self.budget.limits.max_tool_calls))
        after: list[AnyMessage] = [answer, notice]
        state: Any = {**request.state, "messages": [*request.state["messages"], *after]}
        goes_on = request.override(messages=[*request.messages, *after], state=state)
        return [*after, await self._act(goes_on, handler)]

    async def _in_words(self, request: ModelRequest[Any], handler: Ask) -> AIMessage:
        """The only answer of an agent without steps; tool calls are ignored."""
        answer = await self._ask(request.override(tool_choice=NO_TOOLS), handler)
        return answer if STOP in answer.additional_kwargs else self._without_calls(answer, "")

    def _without_calls(self, answer: AIMessage, instead: str) -> AIMessage:
        ignored = len(answer.tool_calls) + len(answer.invalid_tool_calls)
        if ignored:
            text = f"the model had to answer without tool calls; ignored {counted(ignored, 'tool call')}"
            self.emit("notice", text=text)
        return answer.model_copy(
            update={"content": answer.text.strip() or instead, "tool_calls": [], "invalid_tool_calls": []}
        )

    async def _act(self, request: ModelRequest[Any], handler: Ask) -> AIMessage:
        """An answer that makes no more tool calls than are left, or the message that ends the visit."""
        answer = await self._ask(request, handler)
        left = self.budget.calls_left(request.state["messages"])
        if (beyond := len(answer.tool_calls) - left) <= 0:
            return answer
        self.emit("notice", text=f"{counted(beyond, 'tool call')} beyond the tool budget were not made")
        return answer.model_copy(update={"tool_calls": answer.tool_calls[:left]})

    async def _ask(self, request: ModelRequest[Any], handler: Ask) -> AIMessage:
        """The model's answer, or the message that ends the visit."""
        messages: Sequence[AnyMessage] = request.state["messages"]
        coming = estimate([*([request.system_message] if request.system_message else []), *request.messages])
        if stop := self.budget.refusal(messages, coming):
            return stopped(*stop)
        clock, visit = self.budget.clock, self.visit.number
        await next_step()
        self.emit("model_call", visit=visit, node="coder")
        try:
            async with asyncio.timeout(max(1.0, clock.left() - self.budget.reserve)):
                response = await handler(request)
        except TimeoutError:
            detail = f"the model was still answering when {clock.limit:.0f} seconds were over (--max-time)"
            return stopped("time", detail, tries=1, lost=coming)
        except ModelError as error:
            if error.fault == "call_time":
                return stopped("call_time", f"{error} (--max-call-time)", tries=error.tries, lost=error.lost * coming)
            return stopped("model_error", str(error), tries=error.tries, lost=error.lost * coming, fault=error.fault)
        answer = next(message for message in response.result if isinstance(message, AIMessage))
        spent = spent_on(answer, self.budget.price, alone=True)
        self.emit("model_answer", visit=visit, node="coder", **answer_facts(answer, spent))
        return answer


def stopped(by: StoppedBy, detail: str, *, tries: int = 0, lost: int = 0, fault: ModelFault | None = None) -> AIMessage:
    """The message that ends a visit: no tool call, so the loop is over.

    `tries` is how many requests failed with it, `lost` the input tokens of those an endpoint worked on; `fault` is the
    endpoint's.
    """
    usage = UsageMetadata(input_tokens=lost, output_tokens=0, total_tokens=lost) if lost else None
    return AIMessage(
        content=detail,
        additional_kwargs={STOP: [by, detail]} | ({FAULT: fault} if fault else {}),
        response_metadata={"tries": tries, "usage_estimated": bool(lost)},
        usage_metadata=usage,
    )
