"""The planner node: ends the run, or plans the next visit."""

import asyncio
import re
import time
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, Field

from kotef.context.prompts import Prompts
from kotef.deps import Deps, RunContext
from kotef.errors import ModelError
from kotef.failures.history import FailureEntry
from kotef.failures.memory import recall, tell
from kotef.failures.visit_history import merge_visits, recount
from kotef.models.structured_output import StructuredAnswer, ask
from kotef.nodes.decide import Ending, decide, no_progress
from kotef.nodes.expectation_conflicts import contradicting_assertions
from kotef.nodes.plan_material import excerpts_for, unknown_files
from kotef.nodes.prefix import watch_prefix
from kotef.nodes.review import account, review
from kotef.nodes.visit_record import judged_visit
from kotef.sdd.agents import in_role
from kotef.state import AgentState, Plan, PlanStep, Spent, StateUpdate, Usage, merge_usage, over_budget
from kotef.stop_gate import next_step

SHOWN_ENTRIES = 8
SHOWN_TESTS: Final = 3
"""Number of failing tests that a step made by code names."""

EMPTY: Final = "the plan has no step, and no reason in `blocked`"

NO_HYPOTHESIS: Final = "The planner named no new cause: find one before you edit."
"""The note to a coder if a nudged planner named no hypothesis."""


def _require_all(schema: dict[str, Any]) -> None:
    """A grammar made of the schema leaves nothing out; an answer that does is read all the same."""
    schema["required"] = list(schema.get("properties", ()))


class StepAnswer(BaseModel):
    """One step of the plan."""

    model_config = ConfigDict(json_schema_extra=_require_all)

    description: str = Field(description="what to change, concretely")
    files: list[str] = Field(default_factory=list, description="workspace-relative paths this step touches")
    addresses: str = Field(default="", description="fingerprint of the failure this step answers, or empty")


class PlanAnswer(BaseModel):
    """The plan for the next visit of the coder."""

    model_config = ConfigDict(json_schema_extra=_require_all)

    hypothesis: str = Field(default="", description="why the last attempt failed and what is different now")
    steps: list[StepAnswer] = Field(default_factory=list)
    blocked: str = Field(default="", description="only if no honest plan exists: the one-sentence reason")

    @property
    def is_empty(self) -> bool:
        """Whether it has neither a step nor a reason to stop."""
        return not self.steps and not self.blocked.strip()


async def planner(state: AgentState, runtime: Runtime[Deps]) -> StateUpdate:
    """Decide by code; only if the run continues is a plan made, by the model where there is one."""
    deps = runtime.context
    started = time.monotonic()
    visit = _next_visit(state)
    lost = _unaccounted(state, visit, deps.run)
    update: StateUpdate = {}
    try:
        async with asyncio.timeout(max(1.0, deps.run.clock.left())):
            ending = await _next({**state, "usage": merge_usage(state["usage"], lost)}, visit, update, deps)
    except TimeoutError:
        figure = f"{deps.run.clock.elapsed():.0f} of {deps.run.clock.limit:g} seconds used"
        ending = Ending("budget_exceeded", "max_time", f"{figure} while a model was answering (--max-time)")
    except ModelError as error:
        ending = Ending("model_unavailable", error.fault, str(error))
        paid = StructuredAnswer[PlanAnswer](None, None, error.paid, ())
        booked = account(paid, visit, "unfinished", deps.models.planner_price, deps.run)
        update["usage"] = Usage(by_call=update.get("usage", Usage()).by_call | booked.by_call)
        if error.fault == "call_time":
            ending = Ending("budget_exceeded", "max_call_time", f"{error} (--max-call-time)")
    if ending is not None:
        deps.run.emit("ended", outcome=ending.outcome, reason=ending.reason, sentence=ending.sentence)
        update |= {
            "outcome": ending.outcome,
            "reason": ending.reason,
            "sentence": ending.sentence,
            "done": ending.outcome == "verified",
        }
    seconds = Usage(by_call={f"{visit}/planner/seconds": Spent(seconds=time.monotonic() - started)})
    update["usage"] = Usage(by_call=update.get("usage", Usage()).by_call | lost.by_call | seconds.by_call)
    return update


async def _next(state: AgentState, visit: int, update: StateUpdate, deps: Deps) -> Ending | None:
    """The ending for this state, or None with the plan in `update`; `update` always has the review."""
    reviewed, refusal = await review(state, deps)
    update.update(refusal)
    update["visits"] = judged_visit(reviewed)
    settled: AgentState = {**reviewed, "visits": merge_visits(reviewed["visits"], update["visits"])}
    ending = decide(settled)
    if ending is None:
        ending = contradicting_assertions(settled, deps.run)
    if ending is not None:
        return ending
    plan, ending, usage = await _plan(settled, visit, deps)
    update["usage"] = Usage(by_call=update.get("usage", Usage()).by_call | usage.by_call)
    if plan is not None:
        update["plan"] = plan
        deps.run.emit("planned", visit=visit, source=plan.source, hypothesis=plan.hypothesis, steps=_shown(plan))
    return ending


def _unaccounted(state: AgentState, visit: int, context: RunContext) -> Usage:
    """Wall time that no node recorded: of a node that was killed, and between nodes."""
    seconds = context.clock.elapsed() - state["usage"].total.seconds
    return Usage(by_call={f"{visit}/planner/unaccounted": Spent(seconds=max(0.0, seconds))})


def _next_visit(state: AgentState) -> int:
    """The number of the next visit, from 1; a visit that left nothing to judge is repeated under its number."""
    edits, judged = state.get("edits"), state.get("test_results")
    if edits is None:
        return 1
    return edits.visit + 1 if judged is not None and judged.visit == edits.visit else edits.visit


def _shown(plan: Plan) -> list[str]:
    return [step.description for step in plan.steps]


async def _plan(state: AgentState, visit: int, deps: Deps) -> tuple[Plan | None, Ending | None, Usage]:
    """A plan, or the ending `blocked`; exactly one of the two."""
    task = state["task"]
    prints = {entry.fingerprint for entry in state["failure_history"].entries}
    if visit == 1 and (known := recall(task.memory, prints)):
        deps.run.emit("recalled", visit=visit, runs=[memory.run_id for memory in known])
    if deps.models.planner is None or not deps.coder.model_plans(state["tried"]):
        return plan_by_code(state, visit), None, Usage()
    nudge = no_progress(state)
    if nudge:
        deps.run.emit("nudge", visit=visit, what=nudge)
    text = planner_text(state, nudge, deps.run.prompts, excerpts=await excerpts_for(state, deps.run))
    answer, usage = await _ask_model(text, nudge, state, visit, deps)
    if answer is not None and not over_budget(merge_usage(state["usage"], usage).total, task.limits):
        answer, more = await _with_known_files(answer, text, state, deps)
        usage = merge_usage(usage, more)
    if answer is not None and answer.blocked.strip():
        return None, Ending("blocked", "plan_blocked", answer.blocked.strip()[:400]), usage
    if answer is None:
        return plan_by_code(state, visit), None, usage
    return _checked(answer, state, visit), None, usage


def planner_text(state: AgentState, nudge: str, prompts: Prompts, *, excerpts: str = "") -> str:
    """The text for the planner; `nudge` says in one line that nothing moves, `excerpts` show the repository."""
    task, baseline = state["task"], state.get("baseline")
    text = prompts.render(
        "planner",
        goal=task.goal,
        ticket=task.ticket,
        spec=task.spec,
        instructions=task.instructions,
        checks=task.checks,
        allow_edits=task.allow_edits,
        baseline=baseline.summary if baseline else "",
        failures=state["failure_history"].entries[-SHOWN_ENTRIES:],
        excerpts=excerpts,
        memory=tell(task.memory, {entry.fingerprint for entry in state["failure_history"].entries}),
        tried=recount(state["visits"]),
        last_edits=state.get("edits"),
        nudge=prompts.render("nudge", what=nudge, refused=None) if nudge else "",
        attempts=state["failure_history"].attempts,
        max_attempts=task.limits.max_attempts,
    )
    return in_role(text, task.roles.planner)


async def _ask_model(
    text: str, nudge: str, state: AgentState, visit: int, deps: Deps
) -> tuple[PlanAnswer | None, Usage]:
    """The model's plan. After a nudge, one that names no changed hypothesis is asked for again.

    If the second names none either, or there is no budget for it, code's note stands where the hypothesis should.
    """
    assert deps.models.planner is not None  # noqa: S101  the caller has looked
    watch_prefix("planner", PlanAnswer, deps.models.planner, visit, deps.run)
    await next_step()
    deps.run.emit("model_call", visit=visit, node="planner")
    answer = await ask(deps.models.planner, [HumanMessage(text)], PlanAnswer, memory=deps.rungs)
    usage = account(answer, visit, "planner", deps.models.planner_price, deps.run)
    plan = answer.value
    if plan is None or plan.is_empty:
        empty = [EMPTY] if plan is not None else []
        deps.run.emit("plan_fallback", visit=visit, problems=[*answer.problems[-4:], *empty])
        return None, usage
    if not nudge or _is_changed(plan, state):
        return plan, usage
    if not over_budget(merge_usage(state["usage"], usage).total, state["task"].limits):
        deps.run.emit("nudge", visit=visit, what="the plan names no new hypothesis; asking the planner again")
        await next_step()
        deps.run.emit("model_call", visit=visit, node="planner")
        refusal = deps.run.prompts.render("nudge", what=nudge, refused=plan.hypothesis)
        second = await _ask_again(f"{text}\n{refusal}", deps)
        usage = merge_usage(usage, account(second, visit, "replan", deps.models.planner_price, deps.run))
        plan = plan if second.value is None or second.value.is_empty else second.value
    if _is_changed(plan, state):
        return plan, usage
    return plan.model_copy(update={"hypothesis": f"{nudge} {NO_HYPOTHESIS}"}), usage


async def _with_known_files(answer: PlanAnswer, text: str, state: AgentState, deps: Deps) -> tuple[PlanAnswer, Usage]:
    """The plan; one that names files that do not exist is asked for again, once, and then taken as it is."""
    trees, visit = state["snapshots"], _next_visit(state)
    steps = [(step.description, step.files) for step in answer.steps]
    known = deps.run.snapshots.paths(trees[max(trees)]) if trees else ()
    missing = list(dict.fromkeys(unknown_files(steps, known))) if known else []
    if not missing:
        return answer, Usage()
    names = ", ".join(each.name for each in missing[:SHOWN_TESTS])
    what = f"the plan names files that do not exist ({names}); the planner is asked to correct it"
    deps.run.emit("nudge", visit=visit, what=what)
    correction = deps.run.prompts.render("unknown_files", missing=missing[:SHOWN_ENTRIES])
    await next_step()
    deps.run.emit("model_call", visit=visit, node="planner")
    second = await _ask_again(f"{text}\n{correction}", deps)
    usage = account(second, visit, "replan-files", deps.models.planner_price, deps.run)
    return answer if second.value is None or second.value.is_empty else second.value, usage


async def _ask_again(text: str, deps: Deps) -> StructuredAnswer[PlanAnswer]:
    """A second plan; none from an endpoint that fails now, because the first plan is better than none."""
    assert deps.models.planner is not None  # noqa: S101  it gave the first plan
    try:
        return await ask(deps.models.planner, [HumanMessage(text)], PlanAnswer, memory=deps.rungs)
    except ModelError as error:
        return StructuredAnswer[PlanAnswer](None, None, error.paid, ())


def _is_changed(answer: PlanAnswer, state: AgentState) -> bool:
    """Whether a plan names another hypothesis than the last one, case and punctuation aside; `blocked` needs none."""
    last = state.get("plan")
    words, old = _words(answer.hypothesis), _words(last.hypothesis if last else "")
    return bool(answer.blocked.strip()) or (bool(words) and words != old)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _checked(answer: PlanAnswer, state: AgentState, visit: int) -> Plan:
    """The model's plan with the failures it answers filled in; an answer that names none gets the newest."""
    newest = state["failure_history"].last
    known = {entry.fingerprint: entry for entry in state["failure_history"].entries}
    steps = [
        PlanStep(
            description=step.description,
            files=tuple(step.files),
            addresses=step.addresses if step.addresses in known else "",
            failure=known[step.addresses].summary if step.addresses in known else "",
        )
        for step in answer.steps
    ]
    if newest and not any(step.addresses for step in steps):
        steps[0] = steps[0].model_copy(update={"addresses": newest[0].fingerprint, "failure": newest[0].summary})
    return Plan(visit=visit, steps=tuple(steps), hypothesis=answer.hypothesis, source="model")


def plan_by_code(state: AgentState, visit: int) -> Plan:
    """The plan without a model: a step for each newest failure, else one for the goal."""
    task, failures = state["task"], state["failure_history"].last
    steps = [_step(entry) for entry in failures]
    if not steps:
        files = task.ticket.affected if task.ticket else ()
        steps = [PlanStep(description=task.goal or "make every check pass", files=tuple(files))]
    return Plan(visit=visit, steps=tuple(steps), hypothesis=no_progress(state), source="code")


def _step(entry: FailureEntry) -> PlanStep:
    return PlanStep(description=_what(entry), addresses=entry.fingerprint, failure=entry.summary)


def _what(entry: FailureEntry) -> str:
    """What to do about a failure; one without a command is described by the verdict."""
    tests = _named(entry.tests)
    line = entry.summary.partition("\n")[0]
    match entry.command or entry.check:
        case "verdict":
            return f"make {tests} run and pass again" if tests else f"meet the verdict: {line}"
        case "put_back":
            return f"solve it without what was {line}"
        case "review":
            return f"answer the review: {line}"
        case command:
            return f"make {tests} pass" if tests else f"make `{command}` succeed"


def _named(tests: Sequence[str]) -> str:
    """The first three tests, and how many more there are."""
    rest = len(tests) - SHOWN_TESTS
    if rest > 0:
        return f"{', '.join(tests[:SHOWN_TESTS])} and {rest} more"
    return " and ".join(part for part in (", ".join(tests[:-1]), *tests[-1:]) if part)
