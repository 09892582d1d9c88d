"""The brief for an external agent."""

from typing import Final

from kotef.coders.base import Brief
from kotef.context.prompts import Prompts, clip
from kotef.failures.memory import tell
from kotef.failures.visit_history import recount
from kotef.tools.guard import EditGuard

LONGEST: Final = 60_000
"""Characters of the whole; as one word on a command line the system takes 128 KiB."""
NAME: Final = "visit-{visit}.brief.md"
"""In the directory of the run, which commands may read and, in a sandbox, not write."""


def brief_text(prompts: Prompts, brief: Brief, *, started_before: bool) -> str:
    """The task in Markdown: of the same parts as the first message to a model, with what fails and how it is judged."""
    task, guard = brief.task, brief.guard
    text = prompts.render(
        "program",
        protected=sorted(guard.protected) if isinstance(guard, EditGuard) else [],
        allowed=task.allow_edits,
        red=[check for check in brief.judged.checks if not (check.satisfied or check.advisory)],
        started_before=started_before,
        cut_short=[visit for _, visit in sorted(brief.visits.items()) if visit.stopped][-3:],
        goal=task.goal,
        ticket=task.ticket,
        spec=task.spec,
        instructions=task.instructions,
        given=task.skills,
        checks=task.checks,
        plan=brief.plan,
        failures=brief.failures,
        memory=tell(task.memory, {entry.fingerprint for entry in brief.failures}),
        notes="",
        skills=(),
        skills_known=0,
        attempts=recount(brief.visits),
        changed=brief.changed,
        files_read=(),
        hints=brief.hints,
        visit=brief.plan.visit,
        max_attempts=task.limits.max_attempts,
    )
    return clip(text, LONGEST) + "\n"
