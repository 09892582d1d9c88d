"""What may a visit spend, and what does it count?"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from support.contexts import run_context
from support.example_count import example_count

from kotef.deps import Clock
from kotef.errors import ModelError
from kotef.middleware.effect_log import Effects
from kotef.middleware.ephemeral_notes import Tail
from kotef.middleware.limits import FAULT, STOP, SUMMARY, Bounds, VisitBudget
from kotef.middleware.visit_context import VisitContext
from kotef.models.scripted_model import ScriptedChatModel, calls, says
from kotef.models.usage import estimate, spent_on
from kotef.settings import Limits, Price
from kotef.state import Usage

ran: list[str] = []


@tool
def note(text: str) -> str:
    """Note a text."""
    ran.append(text)
    return f"noted {text}"


TOOLS: list[BaseTool] = [note]


def visit(
    tmp_path: Path, replies: Sequence[AIMessage | Exception], **options: Any
) -> tuple[list[AnyMessage], ScriptedChatModel, list[tuple[str, dict[str, Any]]]]:
    """One conversation within these limits: its messages, the model that was asked, and the events."""
    ran.clear()
    price = options.pop("price", None)
    limits = Limits(**options)
    said: list[tuple[str, dict[str, Any]]] = []

    def emit(event: str, /, **facts: Any) -> None:
        said.append((event, facts))

    context = run_context(tmp_path, emit=emit)
    setting = VisitContext(context, 1, limits, Effects(tmp_path / "effects.jsonl"), ("note",))
    bounds = Bounds(VisitBudget(limits, Usage(), price, Clock(60.0), 0.0), setting)
    model = ScriptedChatModel(replies=list(replies))
    agent = create_agent(model, TOOLS, system_prompt="You note.", middleware=[bounds, Tail(bounds.note)])
    state = asyncio.run(agent.ainvoke({"messages": [HumanMessage("note a")]}))
    return state["messages"], model, said


def test_without_steps_there_is_one_answer_in_words_and_a_warning(tmp_path: Path) -> None:
    messages, model, said = visit(
        tmp_path, [AIMessage("Here.", tool_calls=calls("note", text="a").tool_calls)], max_steps=0
    )
    assert [message.text for message in messages] == ["note a", "Here."]
    assert ran == []
    assert model.tools[0], "the schemas are offered all the same"
    assert ("notice", {"text": "the model had to answer without tool calls; ignored 1 tool call"}) in said
    assert STOP not in messages[-1].additional_kwargs, "it has done what it was asked"


def test_a_closing_summary_that_cannot_be_had_leaves_the_cap_as_the_reason(tmp_path: Path) -> None:
    gone = ModelError("unreachable", "gone")
    gone.tries = 4
    messages, _, _ = visit(tmp_path, [calls("note", text="a"), gone], max_steps=1)
    assert messages[-1].additional_kwargs[STOP][0] == "step_cap"
    assert SUMMARY not in messages[-1].additional_kwargs
    assert spent_on(messages[-1]).calls == 4, "its requests are counted"


def test_a_failed_call_is_counted_with_what_it_sent(tmp_path: Path) -> None:
    lost = ModelError("truncated", "cut")
    lost.tries, lost.lost = 4, 3
    messages, _, _ = visit(tmp_path, [calls("note", text="a" * 4000), lost])
    spent = spent_on(messages[-1])
    assert messages[-1].additional_kwargs[STOP][0] == "model_error"
    assert messages[-1].additional_kwargs[FAULT] == "truncated"
    assert (spent.calls, spent.estimated) == (4, True)
    assert spent.tokens_in > 3 * 1000


def test_a_request_that_would_cost_too_much_is_not_made(tmp_path: Path) -> None:
    price = Price(input=1_000_000, output=0)  # one for each token
    messages, model, _ = visit(tmp_path, [calls("note", text="a" * 4000), says("done")], price=price, max_cost=900)
    assert messages[-1].additional_kwargs[STOP][0] == "money"
    assert len(model.requests) == 1


def test_a_summary_with_nothing_in_it_says_at_least_why_it_was_asked(tmp_path: Path) -> None:
    script = [calls("note", text="a"), calls("note", text="b"), says("done")]
    messages, model, said = visit(tmp_path, script, max_tool_calls=1, continues=1)
    assert ran == ["a"]
    assert ("notice", {"text": "the model had to answer without tool calls; ignored 1 tool call"}) in said
    assert messages[3].text.startswith("tool budget exhausted: 1 tool call")
    assert isinstance(messages[4], HumanMessage)
    assert messages[-1].text == "done"
    assert "switched off" in model.requests[1][-1].text
    assert "switched off" not in "".join(message.text for message in messages), "the notice is stored nowhere"


CONVERSATIONS = st.lists(st.integers(0, 4), max_size=30)
"""How many tools each answer calls."""


@given(CONVERSATIONS, st.integers(1, 10), st.integers(0, 2))
@example_count(150)
def test_the_tool_budget_is_never_overdrawn(asked, most, continues) -> None:
    """Whatever the model asks for: at most (1 + continues) budgets are spent, and each cap is met once."""
    budget = VisitBudget(Limits(max_tool_calls=most, continues=continues), Usage(), None, Clock(60.0), 0.0)
    messages: list[AnyMessage] = [HumanMessage("go")]
    caps = []
    for wanted in asked:
        if cap := budget.cap(messages):
            caps.append(cap.goes_on)
            if not cap.goes_on:
                break
            messages += [AIMessage("so far", additional_kwargs={SUMMARY: True}), HumanMessage("go on")]
        allowed = min(wanted, budget.calls_left(messages))
        messages += [AIMessage(""), *(ToolMessage("x", tool_call_id="1") for _ in range(allowed))]
    made = sum(isinstance(message, ToolMessage) for message in messages)
    assert made <= most * (1 + continues)
    assert caps in [[True] * number for number in range(continues + 1)] + [[True] * continues + [False]]


@given(st.lists(st.text(max_size=200), max_size=10), st.integers(0, 100_000))
@example_count(100)
def test_an_estimate_counts_on_from_what_the_endpoint_said(texts, counted) -> None:
    since: list[AnyMessage] = [HumanMessage(text) for text in texts]
    known = AIMessage("x", usage_metadata={"input_tokens": counted, "output_tokens": 0, "total_tokens": counted})
    assert estimate([HumanMessage("y" * 999), known, *since]) == counted + sum(map(len, texts)) // 4
    assert estimate(since) == sum(map(len, texts)) // 4
