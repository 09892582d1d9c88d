"""The one-time `[setup]` commands, which have network access, before the checks."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

from kotef.checks.types import CommandResult
from kotef.deps import RunContext
from kotef.errors import SetupError
from kotef.files import write_atomic


async def set_up(context: RunContext, execute: Callable[[str, str], Awaitable[CommandResult]]) -> None:
    """Run the commands of `[setup]` that are not finished, in order; their changes belong to the state before the run.

    `execute` takes a command line and the name of its log. Raises `SetupError` for the first that fails.
    """
    snapshots, emit = context.snapshots, context.emit
    done = _done(context.run_dir)
    for number, command in enumerate(context.task.setup, 1):
        if command in done:
            continue
        before = snapshots.take()
        emit("setup_started", command=command)
        result = await execute(command, f"setup-{number}")
        passed = result.exit_code == 0
        emit(
            "setup_finished",
            command=command,
            exit_code=result.exit_code,
            passed=passed,
            summary="" if passed else result.summary,
            seconds=round(result.seconds, 3),
            changed=list(snapshots.changed(before, snapshots.take()))[:50],
        )
        if not passed:
            status = "timed out" if result.exit_code is None else f"exit status {result.exit_code}"
            problem = result.summary.partition("\n")[0]
            hint = f"see {result.log}; fix it or [setup] in .sdd/kotef.toml, then `kotef resume --last`"
            raise SetupError(command, f"{status}: {problem}" if problem else status, hint=hint)
        done.append(command)
        write_atomic(context.run_dir / "setup.json", json.dumps(done).encode())


def _done(run_dir: Path) -> list[str]:
    """The commands that an earlier process of this run finished."""
    file = run_dir / "setup.json"
    return [str(command) for command in json.loads(file.read_bytes())] if file.exists() else []
