"""Approval of the plan by a person before the first edit."""

import json
from pathlib import Path
from typing import Final

from kotef.deps import RunContext
from kotef.errors import QuitError
from kotef.files import write_atomic
from kotef.redaction import redactor
from kotef.state import Plan, PlanStep

APPROVED: Final = "approved.json"
"""File in the run's directory: the plan that a person approved. A run asks once, and not again after a kill."""


async def approved(plan: Plan, context: RunContext) -> Plan:
    """The plan as approved at the terminal, if a person is asked. Raises QuitError."""
    kept = context.run_dir / APPROVED
    if context.approval is not None and not kept.exists():
        steps = await context.approval.plan(plan.visit, [step.description for step in plan.steps])
        if steps is None:
            raise QuitError(f"the plan of attempt {plan.visit}")
        plan_fields = {"visit": plan.visit, "steps": redactor().whole(steps)}
        write_atomic(kept, json.dumps(plan_fields, indent=1).encode())
        agreed = _with_steps(plan, steps)
        if agreed != plan:
            context.emit("planned", visit=plan.visit, source="person", hypothesis=plan.hypothesis, steps=list(steps))
        return agreed
    return _as_agreed(plan, kept)


def _as_agreed(plan: Plan, kept: Path) -> Plan:
    """The same plan, with the steps that were approved for this visit before a kill."""
    try:
        agreement = json.loads(kept.read_bytes())
        steps = tuple(str(step) for step in agreement["steps"])
        return _with_steps(plan, steps) if agreement["visit"] == plan.visit and steps else plan
    except (OSError, ValueError, KeyError, TypeError):
        return plan


def _with_steps(plan: Plan, steps: tuple[str, ...]) -> Plan:
    """An unchanged step keeps its files and its failure; a new one has neither."""
    known = {flat(step.description): step for step in plan.steps}
    made = tuple(known.get(flat(step)) or PlanStep(description=step) for step in steps)
    return plan if made == plan.steps else plan.model_copy(update={"steps": made, "source": "person"})


def flat(step: str) -> str:
    """A step for comparison: a person does not edit line breaks, runs of spaces and hidden secrets."""
    return " ".join(redactor().text(step).split())
