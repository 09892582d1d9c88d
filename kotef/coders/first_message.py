"""The first message of a model coder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kotef.context.prompts import Prompts
from kotef.context.seen_files import Files
from kotef.context.skills import SHOWN
from kotef.failures.history import FailureEntry
from kotef.failures.memory import tell
from kotef.failures.visit_history import Visit, recount
from kotef.sdd.agents import Role, in_role
from kotef.state import Plan, Task
from kotef.tools.toolset import Kit


def system_prompt(prompts: Prompts, role: Role) -> str:
    """The system prompt of this role; the same in each request, so that endpoints can cache it."""
    return in_role(prompts.render("coder"), role)


@dataclass(frozen=True, slots=True)
class Past:
    """The history of the run before a visit; see `coders.base.Brief`."""

    failures: Sequence[FailureEntry] = ()
    visits: Mapping[int, Visit] = field(default_factory=dict)
    changed: Sequence[str] = ()
    files: Files = field(default_factory=Files)
    hints: Sequence[str] = ()


def first_message(prompts: Prompts, kit: Kit, task: Task, plan: Plan, past: Past) -> str:
    """The task, the plan and what is known: what a visit starts from."""
    return prompts.render(
        "brief",
        goal=task.goal,
        ticket=task.ticket,
        spec=task.spec,
        instructions=task.instructions,
        given=task.skills,
        checks=task.checks,
        plan=plan,
        failures=past.failures,
        memory=tell(task.memory, {entry.fingerprint for entry in past.failures}),
        notes=kit.memory.core_text() if kit.memory else "",
        skills=kit.skills.found[:SHOWN],
        skills_known=len(kit.skills.found),
        attempts=recount(past.visits),
        changed=past.changed,
        files_read=past.files.read,
        hints=past.hints,
        visit=plan.visit,
        max_attempts=task.limits.max_attempts,
    )
