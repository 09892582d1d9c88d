"""Search for a small edit that makes the failing tests pass, without a model.

Generate and validate: suspicious lines by spectrum (Ochiai) and traceback, edits from a table of operators, each tried
in a forked child of the project's own interpreter; what passes there is a claim, not a verdict.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from kotef.integrity import is_protected
from kotef.repair.budget import SearchBudget, wall_seconds
from kotef.repair.command import interpreter_of, invocation
from kotef.repair.options import SearchOptions, cpu_seconds
from kotef.repair.preflight import DeclinedError, survey
from kotef.repair.scratch import scratch
from kotef.repair.search_loop import Hunt
from kotef.repair.session import NoPytestError, SessionError, WorkerSession
from kotef.repair.subprocess_search import search_slowly
from kotef.repair.types import Disagreement, Hints, Patch, SearchResult
from kotef.sandbox import OFF, Sandbox

__all__ = ["Disagreement", "Hints", "Patch", "SearchResult", "interpreter_of", "repair"]

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
    wall: float | None = None,
    jobs: int = 2,
    protected: Callable[[str], bool] = is_protected,
    stop_after: int = STOP_AFTER,
    sandbox: Sandbox = OFF,
) -> SearchResult:
    """Search for at most `seconds` of CPU time; writes nothing into the workspace and leaves no process.

    `wall` is the wall time it may take, at least three times as many seconds if none is given.
    `command` is the real check, `failing` are pytest ids (none: whatever fails), `python` is the interpreter to use,
    `env` its whole environment. Files that are `protected` (workspace-relative paths) are not edited.
    All the code of the project runs in `sandbox`.
    """
    started, used = time.monotonic(), cpu_seconds()
    meter = Meter()
    budget = SearchBudget(seconds, wall=wall_seconds(seconds) if wall is None else wall, used=meter.used)
    call = invocation(command)
    whole = {**env, **call.variables}
    where = _resolved(root)
    request = SearchOptions(
        where,
        command,
        call.arguments,
        call.folder_on_path,
        frozenset(failing),
        python,
        whole,
        max(1, jobs),
        protected,
        stop_after,
        sandbox,
    )
    with scratch(sandbox.temporary) as place:
        try:
            found = await _forked(request, place, budget, meter)
        except NoPytestError as error:
            found = replace(await search_slowly(request, place, budget), slow_because=str(error))
    first = None if found.first_cpu_seconds is None else max(0.0, found.first_cpu_seconds - used)
    used = max(0.0, meter.used() - used)
    waited = found.ending == "budget" and budget.waited
    seconds = time.monotonic() - started
    return replace(found, seconds=seconds, cpu_seconds=used, first_cpu_seconds=first, waited=waited)


class Meter:
    """CPU seconds of this process, of the children it has waited for, and of the worker at work."""

    def __init__(self) -> None:
        self.session: WorkerSession | None = None
        self._of_worker = 0.0

    def used(self) -> float:
        """Since the start of this process; exact whenever the worker has answered."""
        return cpu_seconds() + self._of_worker + (self.session.cpu if self.session is not None else 0.0)

    def close(self) -> None:
        """End the worker, and keep its CPU time: a sandbox around it may end without having waited for it."""
        if self.session is None:
            return
        before = cpu_seconds()
        self.session.close()
        self._of_worker += max(0.0, self.session.cpu - (cpu_seconds() - before))
        self.session = None


async def _forked(request: SearchOptions, scratch: Path, budget: SearchBudget, meter: Meter) -> SearchResult:
    """The search in children of one worker; raises NoPytestError."""
    hunt: Hunt | None = None
    try:
        meter.session = session = WorkerSession.start(
            request.root,
            scratch,
            python=request.python,
            env=request.env,
            arguments=request.arguments,
            folder_on_path=request.folder_on_path,
            sandbox=request.sandbox,
        )
        async with asyncio.timeout(budget.wall_left):
            ground = await survey(session, request, budget)
            hunt = Hunt(session, ground, budget, jobs=request.jobs, stop_after=request.stop_after)
            await hunt.run()
    except NoPytestError:
        raise
    except TimeoutError:
        if hunt is None:
            return SearchResult(
                declined="collecting and measuring the tests took all the time allowed", ending="budget"
            )
    except DeclinedError as error:
        return SearchResult(declined=str(error), ending=error.ending)
    except SessionError as error:
        if hunt is None or not hunt.plausible:
            return SearchResult(declined=str(error), ending="cannot run")
    finally:
        meter.close()
    assert hunt is not None, "without one there was a reason to decline"
    return hunt.outcome()


def _resolved(root: Path) -> Path:
    return root.resolve()
