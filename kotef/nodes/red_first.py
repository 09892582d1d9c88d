"""Proof that a new test fails on the code from before the run."""

from collections.abc import Sequence

from kotef.checks.types import RED
from kotef.checks.verdict import Verification
from kotef.deps import RunContext
from kotef.integrity import is_protected
from kotef.nodes.file_swap import standing_in
from kotef.state import Task


async def prove_new_tests(
    task: Task, verification: Verification, *, before: str, tree: str, changed: Sequence[str], context: RunContext
) -> tuple[str, ...]:
    """The new tests that fail on the baseline's code and pass now (red first); every file is as before afterwards.

    A test that is not in the report at all with the old code (its module cannot be imported) counts as failing there.
    """
    code = [path for path in changed if not is_protected(path)]
    if not code:
        return ()
    context.emit("proving", visit=verification.visit, tests=list(verification.new_tests)[:20])
    old: dict[str, str] = {}
    with standing_in(context, tree=tree, other=before, paths=code):
        for check in task.checks:
            if check.role == "test":
                result = await context.executor.run_check(check, f"visit-{verification.visit}-{check.name}-red-first")
                old |= result.tests or {}
    passing = {test for test, status in verification.tests.items() if status == "passed"}
    return tuple(test for test in verification.new_tests if test in passing and old.get(test, "error") in RED)
