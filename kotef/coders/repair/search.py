"""Which small edit makes the failing tests pass, without a model?

Generate and validate: suspicious lines by spectrum (Ochiai) and traceback, edits from a table of operators, each tried
in a forked child of the project's own interpreter; what passes there is a claim, not a verdict.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from kotef.checks.protected import is_protected
from kotef.coders.repair.command import interpreter_of, invocation
from kotef.coders.repair.hunt import Hunt
from kotef.coders.repair.model import Disagreement, Hints, Patch, Repair
from kotef.coders.repair.request import Request, cpu_seconds
from kotef.coders.repair.scratch import scratch
from kotef.coders.repair.session import NoPytestError, Session, SessionError
from kotef.coders.repair.slow import search_slowly
from kotef.coders.repair.survey import DeclinedError, survey
from kotef.workspace.sandbox.sandbox import OFF, Sandbox

__all__ = ["Disagreement", "Hints", "Patch", "Repair", "interpreter_of", "repair"]

STOP_AFTER: Final = 24
"""Plausible edits after which more would tell nothing new."""


async def repair(
    root: Path,
    *,
    command: str,
    failing: Sequence[str],
    python: str,
    env: Mapping[str, str],
    seconds: float,
    jobs: int = 2,
    protected: Callable[[str], bool] = is_protected,
    stop_after: int = STOP_AFTER,
    sandbox: Sandbox = OFF,
) -> Repair:
    """Search for at most `seconds` of wall time; writes nothing into the workspace and leaves no process.

    `command` is the real check, `failing` are pytest ids (none: whatever fails), `python` is the interpreter to use,
    `env` its whole environment. Files that are `protected` (workspace-relative paths) are not edited.
    All the code of the project runs in `sandbox`.
    """
    started, used = time.monotonic(), cpu_seconds()
    said = invocation(command)
    whole = {**env, **said.variables}
    where = _resolved(root)
    request = Request(
        where, command, said.arguments, frozenset(failing), python, whole, max(1, jobs), protected, stop_after, sandbox
    )
    until = started + seconds
    with scratch(sandbox.temporary) as place:
        try:
            found = await _forked(request, place, until=until)
        except NoPytestError as error:
            found = replace(await search_slowly(request, place, until=until), slow_because=str(error))
    first = None if found.first_cpu_seconds is None else max(0.0, found.first_cpu_seconds - used)
    used = max(0.0, cpu_seconds() - used)
    return replace(found, seconds=time.monotonic() - started, cpu_seconds=used, first_cpu_seconds=first)


async def _forked(request: Request, scratch: Path, *, until: float) -> Repair:
    """The search in children of one worker; raises NoPytestError."""
    hunt: Hunt | None = None
    session: Session | None = None
    try:
        session = Session.start(
            request.root,
            scratch,
            python=request.python,
            env=request.env,
            arguments=request.arguments,
            sandbox=request.sandbox,
        )
        async with asyncio.timeout(max(0.0, until - time.monotonic())):
            ground = await survey(session, request, until=until)
            hunt = Hunt(session, ground, until=until, jobs=request.jobs, stop_after=request.stop_after)
            await hunt.run()
    except NoPytestError:
        raise
    except TimeoutError:
        if hunt is None:
            return Repair(declined="collecting and measuring the tests took all the time allowed", late=True)
    except DeclinedError as error:
        return Repair(declined=str(error), late=error.late)
    except SessionError as error:
        if hunt is None or not hunt.plausible:
            return Repair(declined=str(error))
    finally:
        if session is not None:
            session.close()
    assert hunt is not None, "without one there was a reason to decline"
    return hunt.outcome()


def _resolved(root: Path) -> Path:
    return root.resolve()
