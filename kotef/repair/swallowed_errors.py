"""Edits that pass only because the error they raise is caught."""

import ast
import asyncio
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from kotef.repair.budget import wall_seconds
from kotef.repair.candidates import Candidate
from kotef.repair.preflight import SearchGround
from kotef.repair.session import WorkerSession
from kotef.repair.source import FunctionNode, PythonSource
from kotef.repair.wire_format import units_of

_TESTS: Final = 12
"""Failing tests, and passing ones that run the statement."""


class _TryStatement(NamedTuple):
    """A statement in the body of a `try`, by its lines."""

    first: int
    last: int


async def raising(
    session: WorkerSession, ground: SearchGround, candidates: Sequence[Candidate], *, seconds: float
) -> list[Candidate]:
    """Those whose statement raises whenever it runs, in a `try` that catches it, and did not do so before the edit."""
    found: list[Candidate] = []
    for candidate in candidates:
        source = ground.sources[candidate.edits[0].path]
        before = _caught(source, candidate)
        after = _caught(_edited(source, candidate), candidate) if before is not None else None
        if before is None or after is None:
            continue
        each = max(0.1, seconds / len(candidates))
        counts = await asyncio.gather(
            _raised(session, ground, candidate, after, edited=True, seconds=each),
            _raised(session, ground, candidate, before, edited=False, seconds=each),
        )
        if counts[0] and not counts[1]:
            found.append(candidate)
    return found


async def _raised(
    session: WorkerSession,
    ground: SearchGround,
    candidate: Candidate,
    place: _TryStatement,
    *,
    edited: bool,
    seconds: float,
) -> bool:
    """Whether the statement was run, and raised each time."""
    path = candidate.edits[0].path
    covering = [
        test
        for test in ground.others
        if any(place.first <= line <= place.last for line in ground.traces.lines.get(test, {}).get(path, ()))
    ]
    quick = sorted(covering, key=lambda test: ground.ran[test].cpu)[:_TESTS]
    request: dict[str, Any] = {"do": "raised", "units": units_of(candidate, ground.sources) if edited else []}
    request |= {"tests": [*ground.failing[:_TESTS], *quick], "path": path, "first": place.first, "last": place.last}
    wall = wall_seconds(seconds)
    answer = await session.ask({**request, "cpu": seconds, "wall": wall, "total": wall})
    counts = [word[1:] for word in answer.words if word[0] == "raised"]
    ran, raised = (sum(each) for each in zip(*counts, strict=True)) if counts else (0, 0)
    return 0 < ran <= raised


def _edited(source: PythonSource, candidate: Candidate) -> PythonSource | None:
    try:
        return PythonSource(source.path, source.content_with(candidate.edits))
    except (SyntaxError, ValueError, RecursionError):  # it passed in an interpreter with newer syntax than ours
        return None


def _caught(source: PythonSource | None, candidate: Candidate) -> _TryStatement | None:
    """The statement of a single edit, if an error of it would be caught in its function, and not raised on."""
    if source is None or len(candidate.edits) != 1:
        return None
    line = source.line_at(candidate.edits[0].start)
    statements = [node for node in ast.walk(source.tree) if isinstance(node, ast.stmt) and _stands_on(node, line)]
    edited = min(statements, key=lambda node: (node.end_lineno or 0) - node.lineno, default=None)
    if edited is None or isinstance(edited, ast.Raise):
        return None

    node: ast.AST | None = edited
    while node is not None and not isinstance(node, FunctionNode):
        parent = source.parents.get(node)
        if isinstance(parent, ast.Try) and node in parent.body and _swallows(parent):
            return _TryStatement(edited.lineno, _header_end(edited))
        node = parent
    return None


def _stands_on(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= _header_end(node)


def _header_end(node: ast.stmt) -> int:
    body: list[ast.stmt] = getattr(node, "body", [])
    last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
    return max(node.lineno, last)


def _swallows(node: ast.Try) -> bool:
    return any(not any(isinstance(part, ast.Raise) for part in ast.walk(handler)) for handler in node.handlers)
