"""What can be tried where candidates cannot live in memory?"""

import ast
import asyncio
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from kotef.coders.repair.candidates import Candidate, Suspects, first_order
from kotef.coders.repair.localise import Traces
from kotef.coders.repair.model import Patch, Repair
from kotef.coders.repair.rank import as_patch, by_file, cost
from kotef.coders.repair.request import Request
from kotef.coders.repair.scope import Scope, Surroundings
from kotef.coders.repair.source import Source, Unit
from kotef.workspace.process import Completed, run_process

_LEFT_OUT: Final = (".git", ".hg", ".venv", "venv", ".tox", ".nox", "node_modules", "__pycache__", ".sdd", ".*_cache")
_MOST_BYTES: Final = 50 << 20
_FILES: Final = 40
_FRAME: Final = re.compile(r'File "(?P<file>[^"\n]{1,300})", line (?P<line>\d+)')
_PLAUSIBLE: Final = 4
"""Passing edits after which the search ends: each candidate is dear here."""


async def search_slowly(request: Request, scratch: Path, *, until: float) -> Repair:
    """Run the whole check command on copies of the workspace, one per job, with one candidate written into each.

    For a project whose interpreter has no pytest. Knows failing from passing by the exit status alone, and suspects
    by the traceback and by what the tests call.
    """
    copies = [scratch / f"copy-{number}" for number in range(max(1, request.jobs))]
    if not _copied(request.root, copies):
        return _declined(f"the interpreter has no pytest, and the workspace is over {_MOST_BYTES >> 20} MB to copy")
    left = until - time.monotonic()
    first = await _run(request, copies[0], left / 4)
    if first.timed_out:
        return _declined(f"the check takes longer than the {left / 4:.0f} s allowed for one run")
    if first.exit_code == 0:
        return _declined("no failing test: nothing to search for")
    sources = _sources(request)
    suspects = tuple(_suspects(request.root, copies[0], sources, first.stdout + first.stderr))
    if not suspects:
        return _declined("the interpreter has no pytest, and no function is to be suspected")
    search = _Search(request, sources, first_order(suspects), each=1.0 + 3 * first.seconds, until=until)
    await asyncio.gather(*(search.work(copy) for copy in copies))
    return search.outcome()


class _Search:
    """Candidates shared out to the copies."""

    def __init__(
        self,
        request: Request,
        sources: Mapping[str, Source],
        candidates: Iterator[Candidate],
        *,
        each: float,
        until: float,
    ) -> None:
        self._request = request
        self._sources = sources
        self._candidates = candidates
        self._each = each
        self._until = until
        self._age = 1_000_000_000
        self._passing: list[Candidate] = []
        self._tried = 0

    async def work(self, copy: Path) -> None:
        """Try candidates in one copy until time is up or enough pass."""
        while len(self._passing) < min(_PLAUSIBLE, self._request.stop_after):
            left = self._until - time.monotonic()
            candidate = next(self._candidates, None) if left > 0 else None
            if candidate is None:
                return
            changed = list(by_file(candidate, self._sources))
            self._tried += 1
            for source, edits in changed:
                self._write(copy / source.path, source.edited(edits))
            done = await _run(self._request, copy, min(self._each, left))
            for source, _ in changed:
                self._write(copy / source.path, source.content)
            if done.exit_code == 0:
                self._passing.append(candidate)

    def _write(self, path: Path, content: bytes) -> None:
        """With a time of its own: bytecode of an earlier candidate of the same size would pass for this one's."""
        path.write_bytes(content)
        self._age += 1
        os.utime(path, (self._age, self._age))

    def outcome(self) -> Repair:
        """What passed, best first."""
        ranked = sorted(self._passing, key=lambda candidate: cost(candidate, self._sources))
        patches: list[Patch] = [as_patch(candidate, self._sources, Traces({})) for candidate in ranked]
        return Repair(patches=tuple(patches), plausible=len(patches), tried=self._tried, mode="subprocess")


def _declined(why: str) -> Repair:
    return Repair(declined=why, mode="subprocess")


async def _run(request: Request, copy: Path, seconds: float) -> Completed:
    return await run_process(request.command, cwd=copy, env=request.env, timeout=max(0.1, seconds), idle_timeout=None)


def _copied(root: Path, copies: list[Path]) -> bool:
    ignored = shutil.ignore_patterns(*_LEFT_OUT)
    total = 0

    def within_bounds(folder: str, names: list[str]) -> set[str]:
        nonlocal total
        left_out = set(ignored(folder, names))
        for name in set(names) - left_out:
            path = Path(folder, name)
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                left_out.add(name)
            elif path.is_file():
                total += path.stat().st_size
        return left_out if total <= _MOST_BYTES else set(names)

    shutil.copytree(root, copies[0], ignore=within_bounds)
    if total > _MOST_BYTES:
        return False
    for copy in copies[1:]:
        shutil.copytree(copies[0], copy)
    return True


def _sources(request: Request) -> dict[str, Source]:
    """The project's own modules, those near the top first."""
    found: dict[str, Source] = {}
    ignored = shutil.ignore_patterns(*_LEFT_OUT)
    paths = sorted(request.root.rglob("*.py"), key=lambda path: (len(path.parts), path))
    for path in paths:
        name = path.relative_to(request.root)
        if request.protected(name.as_posix()) or any(ignored("", [part]) for part in name.parts):
            continue
        try:
            found[name.as_posix()] = Source(name.as_posix(), path.read_bytes())
        except (OSError, SyntaxError, ValueError):  # not to be edited: it cannot be read, or is newer than we are
            continue
        if len(found) >= _FILES:
            break
    return found


def _suspects(root: Path, copy: Path, sources: Mapping[str, Source], output: str) -> Iterator[Suspects]:
    frames = {(_inside(match["file"], root, copy), int(match["line"])) for match in list(_FRAME.finditer(output))[:200]}
    tests = [path for path in root.rglob("*test*.py") if path.relative_to(root).as_posix() not in sources]
    called = {name for path in tests[:_FILES] for name in _names(path)}
    for path, source in sources.items():
        around = Surroundings(source)
        for unit in source.units:
            weight = 0.8 if called & {unit.node.name, *unit.trail} else 0.5
            lines = {line: 1.0 if (path, line) in frames else weight for line in unit.lines}
            if any((path, line) in frames for line in unit.lines):
                lines = {line: max(0.9, value) for line, value in lines.items()}
            yield Suspects(Scope(around, unit), _executable(unit, lines))


def _executable(unit: Unit, lines: Mapping[int, float]) -> dict[int, float]:
    begun = {node.lineno for node in ast.walk(unit.node) if isinstance(node, ast.stmt | ast.expr)}
    return {line: value for line, value in lines.items() if line in begun}


def _inside(file: str, root: Path, copy: Path) -> str:
    for base in (copy, root):
        if file.startswith(f"{base}/"):
            return file[len(str(base)) + 1 :]
    return file.removeprefix("./")


def _names(path: Path) -> set[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):  # only a hint is lost
        return set()
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    }
