"""The one-time `[setup]` commands, which have network access, before the checks."""

import json
from collections.abc import Awaitable, Callable, Sequence

from kotef.checks.types import CommandResult
from kotef.deps import Emit
from kotef.errors import SetupError
from kotef.files import write_atomic
from kotef.runs.store import RunDir
from kotef.workspace.snapshots import Snapshots


async def set_up(
    commands: Sequence[str],
    run: RunDir,
    execute: Callable[[str, str], Awaitable[CommandResult]],
    snapshots: Snapshots,
    emit: Emit,
) -> None:
    """Run what of `commands` this run has not finished yet, in order; what they change belongs to the state before it.

    `execute` takes a command line and the name of its log. Raises `SetupError` for the first that fails.
    """
    done = _done(run)
    for number, command in enumerate(commands, 1):
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
            said = result.summary.partition("\n")[0]
            hint = f"see {result.log}; fix it or [setup] in .sdd/kotef.toml, then `kotef resume --last`"
            raise SetupError(command, f"{status}: {said}" if said else status, hint=hint)
        done.append(command)
        write_atomic(run.path / "setup.json", json.dumps(done).encode())


def _done(run: RunDir) -> list[str]:
    """The commands that have been finished by this run, by an earlier process of it."""
    file = run.path / "setup.json"
    return [str(command) for command in json.loads(file.read_bytes())] if file.exists() else []
