"""The baseline: what the checks say about the tree before the run.

No framework is needed for it: it is taken while they are imported.
"""

import time
from functools import partial
from typing import Final

from kotef.checks.project_config import readable_text
from kotef.checks.verdict import failure_entries
from kotef.checks.verdict_inputs import Judging
from kotef.checks.verification import Verification
from kotef.deps import RunContext
from kotef.failures.history import MAX_SUMMARY
from kotef.integrity import absent_modules, closure_of_tests
from kotef.nodes.edit_guard import all_is_protected
from kotef.nodes.restore_environments import close_off_environments, commands_may_write
from kotef.nodes.run_checks import baseline_results, usage_of
from kotef.nodes.runner_fallback import other_runner
from kotef.nodes.untracked_files import remember_unheld
from kotef.state import StateUpdate, Task
from kotef.workspace import Remainder, forget_last_tree, keep_remainder, note_written_by_checks, remember_environments

NO_CHECKS: Final = (
    "no check is named or found here, so nothing could distinguish success from failure: name one with --check, in the "
    "ticket's ## Tests block or in .sdd/kotef.toml, or pass --allow-unverified"
)


async def take_baseline(context: RunContext) -> tuple[Verification, StateUpdate]:
    """Judge the state before the run, so that it is known before tokens are spent."""
    task, began = context.task, time.monotonic()
    tree = context.snapshots.take()
    kept = keep_remainder(context.snapshots, tree)
    context.emit("snapshot", tree=tree, kept=len(kept.copied), left_out=_left_out(context, kept)[:50])
    forget_last_tree(context.run_dir)
    with context.executor.before_edits():
        unkept = (*kept.copied, *kept.left_out)
        judged = task.model_copy(update={"checks": ()}) if task.broken else task
        results, wrote, opened = await baseline_results(judged, tree, unkept, context)
    note_written_by_checks(context.snapshots, tree)
    environments = remember_environments(
        context.snapshots, context.snapshots.paths(tree), opened=opened, writable=commands_may_write(context)
    )
    judging = Judging(visit=0, tree=tree, results=tuple(results), named_text=_named_text(task))
    judging.keep(context.run_dir)
    verification = judging.verdict(None)
    absent = absent_modules(f"{result.stdout}\n{result.stderr}" for _, result in results)
    verification = verification.model_copy(
        update={
            "wrote": wrote,
            "absent": absent,
            "test_files": _test_files(verification, tree, context),
            "unheld": remember_unheld(task, tree, context, environments=environments),
        }
    )
    close_off_environments(verification, context)
    if task.broken:
        verification = verification.model_copy(
            update={"environment": "missing_runner", "summary": task.broken[:MAX_SUMMARY]}
        )
    without_pytest = [check.command for check in task.checks] if "No module named pytest" in task.broken else []
    if hint := other_runner(verification, context.snapshots, not_started=without_pytest):
        verification = verification.model_copy(update={"summary": f"{verification.summary}; {hint}"[:MAX_SUMMARY]})
    if verification.targets and (closed := all_is_protected(task, tree, context.snapshots, verification.test_files)):
        context.emit("notice", text=closed)
    if not task.checks and not task.allow_unverified:
        verification = verification.model_copy(update={"environment": "no_checks", "summary": NO_CHECKS})
    return verification, {
        "baseline": verification,
        "test_results": verification,
        "snapshots": {0: tree},
        "failure_history": failure_entries(verification),
        "usage": usage_of(verification, seconds=time.monotonic() - began),
    }


def _test_files(verification: Verification, tree: str, context: RunContext) -> tuple[str, ...]:
    """Test files known from the test ids and from the judged code."""
    read = partial(readable_text, context.root)
    return tuple(sorted(closure_of_tests(verification.tests, context.snapshots.paths(tree), read)))


def _left_out(context: RunContext, kept: Remainder) -> list[str]:
    """Paths that are kept nowhere: not in the tree, not as a copy, not as an inner repository."""
    held = {name for each in kept.repositories for name in (each.path, f"{each.path}/")}.union(kept.copied)
    names = dict.fromkeys((*context.snapshots.left_out, *kept.left_out, *kept.unkept))
    return [name for name in names if name not in held]


def _named_text(task: Task) -> str:
    """Text of the goal and the ticket that may name tests and checks: all except risks and non-goals."""
    ticket = task.ticket
    texts = (ticket.title, ticket.objective, *(line.text for line in ticket.done), *ticket.steps) if ticket else ()
    return "\n".join((task.goal, *texts))
