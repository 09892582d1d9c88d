"""Does a new test really prove something: does it fail on the code as it was before the run?"""

import json
from collections.abc import Sequence

from kotef.checks.model import RED
from kotef.checks.protected import is_protected
from kotef.checks.verdict import Verification
from kotef.deps import Deps
from kotef.state import Task

MARK = "proving.json"
"""Written in the run directory while the old code is in place, so that a killed proof is undone at resume."""


async def prove_new_tests(
    task: Task, verification: Verification, *, before: str, tree: str, changed: Sequence[str], deps: Deps
) -> tuple[str, ...]:
    """The new tests that fail on the baseline's code and pass now (red first); every file is as before afterwards.

    Judging happens in place, because editable installs point to this very directory. A test that is not in the
    report at all with the old code (its module cannot be imported) counts as failing there.
    """
    code = [path for path in changed if not is_protected(path)]
    if not code:
        return ()
    mark = deps.run_dir / MARK
    mark.write_text(json.dumps({"tree": tree, "paths": code}))
    deps.emit("proving", visit=verification.visit, tests=list(verification.new_tests)[:20])
    deps.snapshots.restore(before, last=tree, paths=code)
    try:
        old: dict[str, str] = {}
        for check in task.checks:
            if check.role == "test":
                result = await deps.run_check(check, f"visit-{verification.visit}-{check.name}-red-first")
                old |= result.tests or {}
    finally:
        finish_interrupted_proof(deps)
    passing = {test for test, status in verification.tests.items() if status == "passed"}
    return tuple(test for test in verification.new_tests if test in passing and old.get(test, "error") in RED)


def finish_interrupted_proof(deps: Deps) -> None:
    """Put the run's code back where a proof, finished or killed, had put the old code; otherwise nothing."""
    mark = deps.run_dir / MARK
    if not mark.exists():
        return
    noted = json.loads(mark.read_text())
    deps.snapshots.restore(noted["tree"], last=deps.snapshots.take(), paths=noted["paths"])
    mark.unlink()
