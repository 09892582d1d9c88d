"""The review of a change for requirements that no check proves."""

from typing import TypeVar

from langchain_core.messages import HumanMessage
from pydantic import BaseModel, Field

from kotef.checks.verdict import Verification
from kotef.coders.chain import WITHOUT_MODEL
from kotef.deps import Deps, RunContext
from kotef.errors import ModelError
from kotef.failures.history import MAX_SUMMARY, FailureEntry, merge_failures
from kotef.models.response_parser import MENDED
from kotef.models.structured_output import StructuredAnswer, ask
from kotef.models.usage import UNANSWERED, answer_facts, spent_on
from kotef.nodes.decide import NEEDS_REVIEW
from kotef.nodes.prefix import watch_prefix
from kotef.sdd.agents import in_role
from kotef.sdd.done_evidence import unproved
from kotef.settings import Price
from kotef.state import AgentState, StateUpdate, Usage
from kotef.stop_gate import next_step

MAX_PATCH = 24_000
"""Characters of the diff a reviewer reads."""

UNREADABLE = "the answer of the review could not be read"
NO_ANSWER = "the reviewing model did not answer"

AnswerT = TypeVar("AnswerT", bound=BaseModel)


class ReviewAnswer(BaseModel):
    """The review of one change."""

    accept: bool = Field(description="false only if the change plainly fails what is asked, or fakes it")
    reason: str = Field(default="", description="one sentence; required when refusing")


async def review(state: AgentState, deps: Deps) -> tuple[AgentState, StateUpdate]:
    """The state with a review's word applied, and the update that records it; unchanged when none is due.

    A reviewer can only refuse. Where checks and tests prove the goal, an unreadable answer or a dead endpoint does
    not stand in the way, and the unproved lines are reported; where only a review can prove it, they do.
    """
    judged = state.get("test_results")
    if judged is None or not judged.passed or judged.visit == 0:
        return state, {}
    needed = judged.detail == NEEDS_REVIEW
    open_lines = _unproved(state, judged)
    by_search = _is_by_search(state, deps)
    if deps.reviewer is None or not (needed or open_lines or by_search):
        return state, {}
    try:
        answer = await _ask(state, judged, open_lines, deps)
    except ModelError as error:
        if needed:
            raise
        deps.run.emit("notice", text=f"{NO_ANSWER}; the checks decide")
        paid = StructuredAnswer[ReviewAnswer](None, None, error.paid, ())
        return state, {"usage": account(paid, judged.visit, "review", deps.reviewer_price, deps.run)}
    usage = account(answer, judged.visit, "review", deps.reviewer_price, deps.run)
    accepted = answer.value.accept if answer.value else not needed
    reason = (answer.value.reason if answer.value else UNREADABLE).strip()
    if accepted and answer.value is None:
        deps.run.emit("notice", text=f"{UNREADABLE}; the checks decide")
    else:
        deps.run.emit("reviewed", visit=judged.visit, accepted=accepted, reason=reason)
    if accepted:
        settled = judged.model_copy(update={"detail": ""})
        return {**state, "test_results": settled}, {"test_results": settled, "usage": usage}
    return _refused(state, judged, reason, usage)


def _is_by_search(state: AgentState, deps: Deps) -> bool:
    """Whether the edits are those of a coder without a model, in a chain that has one: a model reads them first."""
    edits, judged = state.get("edits"), state.get("test_results")
    if edits is None or judged is None or edits.visit != judged.visit or not deps.coder.has_model:
        return False
    return bool(edits.asked) and edits.asked[-1] in WITHOUT_MODEL.split(",")


def _unproved(state: AgentState, judged: Verification) -> tuple[str, ...]:
    ticket = state["task"].ticket
    return unproved(ticket.done, judged) if ticket else ()


async def _ask(
    state: AgentState, judged: Verification, lines: tuple[str, ...], deps: Deps
) -> StructuredAnswer[ReviewAnswer]:
    assert deps.reviewer is not None  # noqa: S101  the caller has looked
    patch = deps.run.snapshots.patch(state["snapshots"][0], judged.tree)
    shown = patch if len(patch) <= MAX_PATCH else patch[:MAX_PATCH] + "\n[the rest of the diff is cut]"
    task = state["task"]
    objective = task.ticket.objective if task.ticket and task.ticket.kind != "ticket" else ""
    edits = state.get("edits")
    found = edits.rationale if edits is not None and _is_by_search(state, deps) else ""
    text = deps.run.prompts.render("review", goal=task.goal, asked=objective, unproved=lines, patch=shown, found=found)
    watch_prefix("reviewer", ReviewAnswer, deps.reviewer, judged.visit, deps.run)
    await next_step()
    deps.run.emit("model_call", visit=judged.visit, node="review")
    text = in_role(text, task.roles.reviewer)
    return await ask(deps.reviewer, [HumanMessage(text)], ReviewAnswer, memory=deps.rungs)


def _refused(state: AgentState, judged: Verification, reason: str, usage: Usage) -> tuple[AgentState, StateUpdate]:
    entry = FailureEntry(
        visit=judged.visit,
        check="review",
        command="",
        exit_code=0,
        kind="unknown",
        detail="review_refused",
        summary=(reason or "the review refused without a reason")[:MAX_SUMMARY],
        fingerprint="review",
    )
    settled = judged.model_copy(update={"passed": False, "detail": "review_refused", "summary": entry.summary})
    new: AgentState = {
        **state,
        "test_results": settled,
        "failure_history": merge_failures(state["failure_history"], [entry]),
    }
    return new, {"test_results": settled, "failure_history": [entry], "usage": usage}


def account(
    answer: StructuredAnswer[AnswerT], visit: int, node: str, price: Price | None, context: RunContext
) -> Usage:
    """What the calls behind one structured answer cost, keyed by call number; reported to anyone watching."""
    by_call = {}
    for number, message in enumerate(answer.messages):
        spent = spent_on(message, price)
        by_call[f"{visit}/{node}/{number}"] = spent
        if UNANSWERED in message.response_metadata:
            continue
        context.emit("model_answer", visit=visit, node=node, **answer_facts(message, spent))
        for tool, what in message.response_metadata.get(MENDED, ()):
            context.emit("mended", tool=tool, what=what)
    return Usage(by_call=by_call)
