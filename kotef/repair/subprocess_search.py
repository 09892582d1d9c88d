"""A slower search for projects whose candidates cannot be swapped in memory."""

import ast
import asyncio
import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from kotef.checks.single_test_command import alone
from kotef.files import list_within, read_within, walk_within
from kotef.repair.budget import SearchBudget
from kotef.repair.candidates import Candidate, Suspects, first_order, left_over
from kotef.repair.fault_localization import Traces
from kotef.repair.near_failure import evaluated, failing_units
from kotef.repair.options import SearchOptions
from kotef.repair.plausibility import Plausibility
from kotef.repair.preflight import read_sources, told
from kotef.repair.rank import as_patch, by_file, ranked
from kotef.repair.scope import FileScope, FunctionScope, assignments
from kotef.repair.source import PythonSource, SwapUnit
from kotef.repair.types import Ending, Hints, Patch, SearchResult
from kotef.sandbox import Completed, run_process

_LEFT_OUT: Final = shutil.ignore_patterns(
    ".git", ".hg", ".venv", "venv", ".tox", ".nox", "node_modules", "__pycache__", ".sdd", ".*_cache"
)
_MOST_BYTES: Final = 50 << 20
_MOST_ENTRIES: Final = 20_000
_LARGEST_MODULE: Final = 5 << 20
_FILES: Final = 40
_FRAME: Final = re.compile(r'File "(?P<file>[^"\n]{1,300})", line (?P<line>\d+)')
_NOT_STARTED: Final = (126, 127)
"""What a shell exits with when it cannot start a command."""
_PLAUSIBLE: Final = 4
"""Passing edits after which the search ends: each candidate is dear here."""
_CALLED: Final = 0.8
"""Suspicion of a function that the tests name, next to 1 for a line of the traceback."""
_OTHERS: Final = 0.5
_REACHED: Final = (0.9, 0.75, 0.6)
"""Suspicion of a function that the failing tests name, of one that those name, and of one that these name."""
_ELSEWHERE: Final = 0.2
"""Of any other function, where the failing tests name one."""
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
    said = first.stdout + first.stderr
    if first.timed_out:
        return _declined(f"the check takes longer than the {allowed:.2g} s allowed for one run", ending="budget")
    if first.exit_code == 0:
        return _declined("no failing test: the check passes on a copy of the workspace")
    if first.exit_code in _NOT_STARTED:
        return _declined(f"the check cannot run on a copy of the workspace: {_last_line(said)}")
    if any(_is_of_workspace(match["file"], request.root, copies[0]) for match in _FRAME.finditer(said)):
        return _declined("without pytest edits are tried on a copy, but the check runs the files of the workspace")
    sources, unread = _sources(request)
    frames = _frames(request.root, copies[0], said)
    suspects = tuple(_suspects(request.root, sources, frames, request.failing))
    if not suspects:
        others = f"; {told(unread)} cannot be parsed" if unread else ""
        return _declined(f"no function of the workspace is suspicious{others}", ending="exhausted")
    tests = read_sources(request.root, sorted({path for path, _ in frames if path and path not in sources}))[0]
    plausibility = Plausibility(sources, evaluated(frames, {**sources, **tests}), failing_units(frames, sources))
    quick = await _quick(request, copies[0], first, frozenset(sources))
    search = _Search(
        request, plausibility, sources, suspects, runs=(*quick, _Check(request.command, first.seconds)), budget=budget
    )
    await asyncio.gather(*(search.work(copy) for copy in copies))
    return replace(search.outcome(), unread=unread)


_SCOPES: Final = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_Part = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


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
        self._suspects = suspects
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
                self._write(copy / source.path, source.edited(edits))
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
            (suspect.scope.source, line, score) for suspect in self._suspects for line, score in suspect.lines.items()
        ]
        places.sort(key=lambda place: -place[2])
        return Hints(
            tuple((source.path, line, score, source.line_text(line), "") for source, line, score in places[:_SHOWN])
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
            return f"it holds over {_MOST_BYTES >> 20} MB"
        for name in _environments(root):  # the command may name an interpreter in it
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
    environments = _environments(request.root)
    paths = sorted(map(PurePosixPath, _modules(request.root, "*.py")), key=lambda path: (len(path.parts), path))
    for name in paths:
        if request.protected(name.as_posix()) or any(_LEFT_OUT("", [part]) for part in name.parts):
            continue
        if name.parts[0] in environments:
            continue
        sources, problems = read_sources(request.root, [name.as_posix()])
        found |= sources
        unread += [f"{path} ({why})" for path, why in problems.items()]
        if len(found) >= _FILES:
            break
    return found, tuple(unread)


def _frames(root: Path, copy: Path, output: str) -> set[tuple[str, int]]:
    """Of the tracebacks that the check printed: path and line."""
    matches = islice(_FRAME.finditer(output), 200)
    return {(_inside(match["file"], root, copy), int(match["line"])) for match in matches}


def _suspects(
    root: Path, sources: Mapping[str, PythonSource], frames: set[tuple[str, int]], failing: Collection[str]
) -> Iterator[Suspects]:
    tests = [path for path in _modules(root, "*test*.py") if path not in sources]
    called = {name for path in tests[:_FILES] for name in _names(root, path)}
    reached = _reached(sources, {name for test in failing for name in _names_in(root, test)})
    for path, source in sources.items():
        around = FileScope(source)
        for unit in source.units:
            weight = _weight({unit.node.name, *unit.trail}, reached, called)
            lines = {line: 1.0 if (path, line) in frames else weight for line in unit.lines}
            if any((path, line) in frames for line in unit.lines):
                lines = {line: max(0.9, value) for line, value in lines.items()}
            yield Suspects(FunctionScope(around, unit), _executable(unit, lines))
        read = {node.id for unit in source.units for node in ast.walk(unit.node) if isinstance(node, ast.Name)}
        outside = assignments(source, read | called)
        numbers = [line for node in outside for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)]
        if outside:
            yield Suspects(FunctionScope(around, None, {}, outside), dict.fromkeys(numbers, _OTHERS))


def _reached(sources: Mapping[str, PythonSource], names: set[str]) -> dict[str, float]:
    """The functions that failing tests reach by names, each with its suspicion; empty if they name none."""
    units: dict[str, list[ast.AST]] = {}
    for source in sources.values():
        for unit in source.units:
            for name in {unit.node.name, *unit.trail}:
                units.setdefault(name, []).append(unit.node)
    found: dict[str, float] = {}
    for suspicion in _REACHED:
        here = {name for name in names if name in units and name not in found}
        found |= dict.fromkeys(here, suspicion)
        names = _names_below([node for name in here for node in units[name]])
    return found


def _weight(names: set[str], reached: Mapping[str, float], called: set[str]) -> float:
    """How suspicious a function is by its names: reached by a failing test, named by any test, or by none."""
    if reached:
        return max((reached[name] for name in names if name in reached), default=_ELSEWHERE)
    return _CALLED if names & called else _OTHERS


def _executable(unit: SwapUnit, lines: Mapping[int, float]) -> dict[int, float]:
    begun = {node.lineno for node in ast.walk(unit.node) if isinstance(node, ast.stmt | ast.expr)}
    return {line: value for line, value in lines.items() if line in begun}


def _inside(file: str, root: Path, copy: Path) -> str:
    for base in (copy, root):
        if file.startswith(f"{base}/"):
            return file[len(str(base)) + 1 :]
    return file.removeprefix("./")


def _is_of_workspace(file: str, root: Path, copy: Path) -> bool:
    """Whether a file of the workspace itself was run; an environment in it is shared with the copies."""
    path = Path(file)
    return path.is_relative_to(root) and not path.is_relative_to(copy) and "site-packages" not in path.parts


def _environments(root: Path) -> set[str]:
    """Folders of the root that are Python environments."""
    folders = [entry.name for entry in list_within(root, most=_MOST_ENTRIES) if entry.is_directory]
    return {name for name in folders if (root / name / "pyvenv.cfg").exists()}


def _modules(root: Path, pattern: str) -> list[str]:
    """Paths of the files whose names match."""
    walked = islice(walk_within(root, most=_MOST_ENTRIES), _MOST_ENTRIES)
    return [
        f"{folder.path}/{name}" if folder.path else name
        for folder in walked
        for name in folder.others
        if fnmatchcase(name, pattern)
    ]


def _names(root: Path, path: str) -> set[str]:
    tree = _tree(root, path)
    return _names_below([tree]) if tree else set()


def _names_in(root: Path, test: str) -> set[str]:
    """Names that a test uses, its class with its own set-up; of a doctest the name of what it documents."""
    path, *parts = test.split("::")
    tree = _tree(root, path)
    if tree is None or not parts:
        return set()
    if not (inside := _part(tree, parts[:-1])) or not (own := _part(inside, [parts[-1].partition("[")[0]])):
        return set(parts[-1].split(".")[-1:])
    set_up = [node for node in inside.body if getattr(node, "name", "") in {"setUp", "setUpClass", "setup_method"}]
    return _names_below([own, *set_up])


def _part(tree: _Part, names: Sequence[str]) -> _Part | None:
    """The class or function that is reached by these names; None if there is none."""
    found: _Part | None = tree
    for name in names:
        inside = found.body if found else []
        found = next((node for node in inside if isinstance(node, _SCOPES) and node.name == name), None)
    return found


def _tree(root: Path, path: str) -> ast.Module | None:
    try:
        return ast.parse(read_within(root, path, largest=_LARGEST_MODULE))
    except (OSError, SyntaxError, ValueError, RecursionError):  # only a hint is lost
        return None


def _names_below(nodes: Sequence[ast.AST]) -> set[str]:
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for above in nodes
        for node in ast.walk(above)
        if isinstance(node, ast.Name | ast.Attribute)
    }
