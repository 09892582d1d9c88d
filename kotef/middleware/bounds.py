"""May this visit ask the model once more?"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from kotef.deps import Clock, Emit
from kotef.errors import ModelError
from kotef.models.usage import FIGURES, spent_on
from kotef.settings import Limits, Price
from kotef.state import StoppedBy, Usage, over_budget

STOP = "kotef_stop"
"""Key in `additional_kwargs` of the message that ends a visit, with the reason and one line of detail."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a visit may still use; everything is counted from the messages, so a resume counts on."""

    limits: Limits
    spent: Usage
    """What the run had used when the visit started."""
    price: Price | None
    clock: Clock
    reserve: float
    """Seconds kept back for the verifier: what the checks took at the baseline."""

    def reached(self, messages: Sequence[AnyMessage]) -> tuple[StoppedBy, str] | None:
        """The limit that forbids one more model call, and a line that says so; None while there is none."""
        answers = [message for message in messages if isinstance(message, AIMessage)]
        results = sum(isinstance(message, ToolMessage) for message in messages)
        limits = self.limits
        if len(answers) >= limits.max_steps:
            return "step_cap", f"step limit reached: {limits.max_steps} model calls in one visit (--max-steps)"
        if results >= limits.max_tool_calls:
            return "tool_budget", f"tool budget exhausted: {results} calls in one visit (limit {limits.max_tool_calls})"
        calls = {f"visit/{number}": spent_on(answer, self.price) for number, answer in enumerate(answers)}
        total = Usage(by_call=self.spent.by_call | calls).total
        if self.clock.left() <= self.reserve:
            used, limit = self.clock.elapsed(), self.clock.limit
            return "time", f"{used:.0f} of {limit:.0f} seconds used, the rest is kept for the checks (--max-time)"
        return over_budget(total.model_copy(update={"seconds": 0.0}), limits)


class Bounds(AgentMiddleware[Any, Any, Any]):
    """Ends the visit at a limit, and when the endpoint is of no use; the end is a message, so it is checkpointed."""

    def __init__(self, budget: Budget, emit: Emit, visit: int) -> None:
        """One instance a visit; it holds no count of its own."""
        super().__init__()
        self.budget, self.emit, self.visit = budget, emit, visit

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | AIMessage:
        """Ask the model, or say why not."""
        if stop := self.budget.reached(request.messages):
            return stopped(*stop)
        self.emit("model_call", visit=self.visit, node="coder")
        try:
            async with asyncio.timeout(max(1.0, self.budget.clock.left() - self.budget.reserve)):
                response = await handler(request)
        except TimeoutError:
            return stopped(
                "time",
                f"the model was still answering when {self.budget.clock.limit:.0f} seconds were over (--max-time)",
            )
        except ModelError as error:
            return stopped("model_error", str(error))
        for message in response.result:
            if isinstance(message, AIMessage):
                spent = spent_on(message, self.budget.price)
                self.emit("model_answer", visit=self.visit, node="coder", **spent.model_dump(include=FIGURES))
        return response


def stopped(by: StoppedBy, detail: str) -> AIMessage:
    """The message that ends a visit: no tool call, so the loop is over."""
    return AIMessage(content=detail, additional_kwargs={STOP: [by, detail]}, response_metadata={"tries": 0})
