"""What do the checks say about the tree as it stands?"""

from collections.abc import Sequence

from kotef.checks.model import Check, CommandResult
from kotef.checks.verdict import Results
from kotef.deps import Deps


async def run_checks(checks: Sequence[Check], visit: int, deps: Deps) -> Results:
    """Every check, in order, one at a time: checks of one project share its files and ports."""
    results: list[tuple[Check, CommandResult]] = []
    for check in checks:
        deps.emit("check_started", visit=visit, check=check.name, command=check.command)
        result = await deps.run_check(check, f"visit-{visit}-{check.name}")
        deps.emit(
            "check_finished",
            visit=visit,
            check=check.name,
            exit_code=result.exit_code,
            passed=result.passed,
            kind=result.kind,
            summary=result.summary,
            executed=result.tests_executed,
            failing=len(result.failing),
            seconds=round(result.seconds, 3),
        )
        results.append((check, result))
    return results
