"""A slower search for projects whose candidates cannot be swapped in memory."""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from kotef.checks.single_test_command import alone
from kotef.repair.budget import SearchBudget
from kotef.repair.candidates import Candidate, Suspects, first_order, left_over
from kotef.repair.fault_localization import Traces
from kotef.repair.near_failure import evaluated, failing_units
from kotef.repair.options import SearchOptions
from kotef.repair.plausibility import Plausibility
from kotef.repair.preflight import named_files, read_sources
from kotef.repair.rank import as_patch, by_file, ranked
from kotef.repair.source import PythonSource
from kotef.repair.types import Ending, Hints, Patch, SearchResult
from kotef.repair.untraced_suspects import (
    FRAME,
    MOST_FILES,
    environments_in,
    frames_of,
    is_of_workspace,
    modules_in,
    suspects_without_traces,
)
from kotef.sandbox import Completed, run_process

_LEFT_OUT: Final = shutil.ignore_patterns(
    ".git", ".hg", ".venv", "venv", ".tox", ".nox", "node_modules", "__pycache__", ".sdd", ".*_cache"
)
_MOST_BYTES: Final = 50 << 20
_NOT_STARTED: Final = (126, 127)
"""What a shell exits with when it cannot start a command."""
_PLAUSIBLE: Final = 4
"""Passing edits after which the search ends: each candidate is dear here."""
_WORTH: Final = 0.7
"""Share of the time of the whole check below which the failing tests are run alone first."""
_SHOWN: Final = 10


async def search_slowly(request: SearchOptions, scratch: Path, budget: SearchBudget) -> SearchResult:
    """Run the check command on copies of the workspace, one per job, with one candidate written into each.

    For a project whose interpreter has no pytest, and a system without fork. Where the runner can, failing tests are
    run alone first, and the whole check only for what passes them. Distinguishes failing from passing by the exit
    status alone, and suspects by the traceback and by what the tests call.
    """
    copies = _copies(scratch, request.jobs)
    problem = _copied(request.root, copies)
    if problem:
        return _declined(f"without pytest each edit is tried on a copy of the workspace, and {problem}")
    allowed = budget.wall_left / 4
    first = await _run(request, copies[0], allowed)
    output = first.stdout + first.stderr
    if first.timed_out:
        return _declined(f"the check takes longer than the {allowed:.2g} s allowed for one run", ending="budget")
    if first.exit_code == 0:
        return _declined("no failing test: the check passes on a copy of the workspace")
    if first.exit_code in _NOT_STARTED:
        return _declined(f"the check cannot run on a copy of the workspace: {_last_line(output)}")
    if any(is_of_workspace(match["file"], request.root, copies[0]) for match in FRAME.finditer(output)):
        return _declined("without pytest edits are tried on a copy, but the check runs the files of the workspace")
    sources, unread = _sources(request)
    frames = frames_of(request.root, copies[0], output)
    suspects = tuple(suspects_without_traces(request.root, sources, frames, request.failing))
    if not suspects:
        others = f"; {named_files(unread)} cannot be parsed" if unread else ""
        return _declined(f"no function of the workspace is suspicious{others}", ending="exhausted")
    tests = read_sources(request.root, sorted({path for path, _ in frames if path and path not in sources}))[0]
    plausibility = Plausibility(sources, evaluated(frames, {**sources, **tests}), failing_units(frames, sources))
    quick = await _quick(request, copies[0], first, frozenset(sources))
    search = _Search(
        request, plausibility, sources, suspects, runs=(*quick, _Check(request.command, first.seconds)), budget=budget
    )
    await asyncio.gather(*(search.work(copy) for copy in copies))
    return replace(search.outcome(), unread=unread)


class _Check(NamedTuple):
    """A command that a candidate has to pass."""

    command: str
    usual: float
    """Seconds that it took without a candidate."""

    @property
    def seconds(self) -> float:
        """Seconds that it may take."""
        return 1.0 + 3 * self.usual


async def _quick(request: SearchOptions, copy: Path, whole: Completed, product: frozenset[str]) -> tuple[_Check, ...]:
    """The failing tests alone, if they are quicker than all and fail so; empty otherwise.

    An id of the product's own files is a doctest, which not every runner takes by its name.
    """
    ids = sorted(request.failing)
    chosen = [test for test in ids if test.partition("::")[0] not in product]
    for tests in dict.fromkeys((tuple(ids), tuple(chosen))):
        line = alone(request.command, tests, exists=lambda path: (copy / path).exists())
        if line is None:
            continue
        done = await _run(request, copy, whole.seconds, command=line)
        fails = not done.timed_out and done.exit_code not in {0, *_NOT_STARTED}
        if fails and done.seconds < _WORTH * whole.seconds:
            return (_Check(line, done.seconds),)
    return ()


class _Search:
    """Candidates shared out to the copies."""

    def __init__(
        self,
        request: SearchOptions,
        plausibility: Plausibility,
        sources: Mapping[str, PythonSource],
        suspects: Sequence[Suspects],
        *,
        runs: Sequence[_Check],
        budget: SearchBudget,
    ) -> None:
        self._request = request
        self._plausibility = plausibility
        self._sources = sources
        self.suspects_without_traces = suspects
        self._candidates = first_order(suspects)
        self._runs = runs
        self._budget = budget
        self._age = 1_000_000_000
        self._passing: list[Candidate] = []
        self._tried = 0
        self._late = False

    async def work(self, copy: Path) -> None:
        """Try candidates in one copy until time is up or enough pass."""
        while len(self._passing) < min(_PLAUSIBLE, self._request.stop_after):
            if self._budget.over:
                self._late = True
                return
            candidate = next(self._candidates, None)
            if candidate is None:
                return
            changed = list(by_file(candidate, self._sources))
            self._tried += 1
            for source, edits in changed:
                self._write(copy / source.path, source.content_with(edits))
            passed = await self._passes(copy)
            for source, _ in changed:
                self._write(copy / source.path, source.content)
            if passed:
                self._passing.append(candidate)

    async def _passes(self, copy: Path) -> bool:
        """Whether what is written in a copy passes the failing tests, then the whole check."""
        for check in self._runs:
            seconds = min(check.seconds, self._budget.wall_left)
            done = await _run(self._request, copy, seconds, command=check.command)
            if done.exit_code != 0:
                return False
        return True

    def _write(self, path: Path, content: bytes) -> None:
        """With a time of its own: bytecode of an earlier candidate of the same size would pass for this one's."""
        path.write_bytes(content)
        self._age += 1
        os.utime(path, (self._age, self._age))

    def outcome(self) -> SearchResult:
        """What passed, best first."""
        best = sorted(ranked(self._passing, self._sources), key=self._plausibility.cost)
        more, whole = (0, True) if best else left_over(self._candidates)
        patches: list[Patch] = [
            as_patch(candidate, self._sources, Traces({}), doubt=self._plausibility.doubt(candidate))
            for candidate in best
        ]
        return SearchResult(
            patches=tuple(patches),
            plausible=len(patches),
            close=len(self._plausibility.closest(best)),
            singles=self._tried,
            space=self._tried + more,
            counted=whole,
            tried=self._tried,
            ending=self._ending(),
            mode="subprocess",
            hints=self._hints(),
        )

    def _ending(self) -> Ending:
        if self._passing:
            return "found"
        return "budget" if self._late else "exhausted"

    def _hints(self) -> Hints:
        places = [
            (suspect.scope.source, line, score)
            for suspect in self.suspects_without_traces
            for line, score in suspect.lines.items()
        ]
        places.sort(key=lambda place: -place[2])
        return Hints(
            tuple((source.path, line, score, source.line(line), "") for source, line, score in places[:_SHOWN])
        )


def _declined(why: str, *, ending: Ending = "cannot run") -> SearchResult:
    return SearchResult(declined=why, ending=ending, mode="subprocess")


def _last_line(text: str) -> str:
    return next((line.strip()[:160] for line in reversed(text.splitlines()) if line.strip()), "no output")


async def _run(request: SearchOptions, copy: Path, seconds: float, *, command: str = "") -> Completed:
    """The check, or another command, in a copy; an environment that names the workspace for imports names the copy."""
    env = {**request.env, "PYTHONDONTWRITEBYTECODE": "1"}
    if "PYTHONPATH" in env:
        parts = (_moved(part, request.root, copy) for part in env["PYTHONPATH"].split(os.pathsep))
        env["PYTHONPATH"] = os.pathsep.join(parts)
    return await run_process(
        command or request.command,
        cwd=copy,
        env=env,
        timeout=max(0.1, seconds),
        idle_timeout=None,
        sandbox=request.sandbox,
    )


def _moved(part: str, root: Path, copy: Path) -> str:
    return str(copy / Path(part).relative_to(root)) if Path(part).is_relative_to(root) else part


def _copies(scratch: Path, count: int) -> list[Path]:
    return [scratch.resolve() / f"copy-{number}" for number in range(max(1, count))]


def _copied(root: Path, copies: list[Path]) -> str:
    """What is in the way of a copy; empty once all are made."""
    total = 0

    def within_bounds(folder: str, names: list[str]) -> set[str]:
        nonlocal total
        left_out = set(_LEFT_OUT(folder, names))
        for name in set(names) - left_out:
            path = Path(folder, name)
            apart = path == copies[0].parent or (path / "pyvenv.cfg").exists()
            if apart or path.is_symlink() or not (path.is_dir() or path.is_file()):
                left_out.add(name)
            elif path.is_file():
                total += path.stat().st_size
        return left_out if total <= _MOST_BYTES else set(names)

    try:
        shutil.copytree(root, copies[0], ignore=within_bounds)
        if total > _MOST_BYTES:
            return f"it has over {_MOST_BYTES >> 20} MB"
        for name in environments_in(root):  # the command may name an interpreter in it
            (copies[0] / name).symlink_to(root / name, target_is_directory=True)
        for copy in copies[1:]:
            shutil.copytree(copies[0], copy, symlinks=True)
    except OSError as error:
        return f"it cannot be copied: {_last_line(str(error))}"
    return ""


def _sources(request: SearchOptions) -> tuple[dict[str, PythonSource], tuple[str, ...]]:
    """The project's own modules, those near the top first, and what of them cannot be parsed, with the reason."""
    found: dict[str, PythonSource] = {}
    unread: list[str] = []
    environments = environments_in(request.root)
    paths = sorted(map(PurePosixPath, modules_in(request.root, "*.py")), key=lambda path: (len(path.parts), path))
    for name in paths:
        if request.protected(name.as_posix()) or any(_LEFT_OUT("", [part]) for part in name.parts):
            continue
        if name.parts[0] in environments:
            continue
        sources, problems = read_sources(request.root, [name.as_posix()])
        found |= sources
        unread += [f"{path} ({why})" for path, why in problems.items()]
        if len(found) >= MOST_FILES:
            break
    return found, tuple(unread)
