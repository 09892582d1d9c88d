"""Order in which candidate edits are tried."""

import ast
import heapq
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from kotef.repair.operators import inserts, statements
from kotef.repair.operators.site import EditProposal, Site
from kotef.repair.operators.table import OPERATORS, Operator
from kotef.repair.scope import FunctionScope
from kotef.repair.source import SwapUnit
from kotef.source import SourceEdit

_DISTANCE: Final = 1.5
"""Cost of standing on a line nothing speaks against, next to the most suspicious line."""
_NODES: Final = 3000
"""Nodes considered, the most suspicious ones."""
_OF_FUNCTIONS: Final = frozenset({inserts.__name__, statements.__name__})
"""Statements are put in, moved and taken away inside functions only: in a class body a field would be made twice."""
_PAIR: Final = 1.0
"""Cost of being two edits."""
_COUNTING: Final = 0.5
"""CPU seconds for counting the edits that were not tried."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One edit, or two, and how unlikely it is to be the repair before any test has run."""

    edits: tuple[SourceEdit, ...]
    operators: tuple[str, ...]
    cost: float
    """Lower is tried first."""
    line: int
    """The first edited line of the first file."""
    anti: str
    units: tuple[SwapUnit | None, ...]
    """One per edit; None for an edit outside functions."""
    halves: "tuple[Candidate, ...]" = ()
    """The two edits of a pair, each by itself."""


@dataclass(frozen=True)
class Suspects:
    """One function, or what is outside of functions in a file, with what is known against its lines."""

    scope: FunctionScope
    lines: Mapping[int, float]
    """Line → suspicion, 0 to 1; lines that are missing are not suspected."""


def first_order(suspects: Iterable[Suspects]) -> Iterator[Candidate]:
    """Single edits, cheapest first; each resulting text once."""
    seen: set[tuple[str, int]] = set()
    heap: list[tuple[float, int, _Stream]] = []
    coming = _streams(suspects)
    following = next(coming, None)
    while heap or following is not None:
        if following is not None and (not heap or following[:2] < heap[0][:2]):
            _, number, stream = following
            following = next(coming, None)
        else:
            _, number, stream = heapq.heappop(heap)
        proposal = stream.take()
        if proposal is not None:
            source = stream.site.scope.source
            key = (source.path, hash(source.content_with((proposal.edit,))))
            if key not in seen:
                seen.add(key)
                yield stream.candidate(proposal)
        if stream.prepare():
            heapq.heappush(heap, (stream.cost, number, stream))


def left_over(edits: Iterator[Candidate]) -> tuple[int, bool]:
    """How many edits were not taken yet, and whether that is all: counting must not take long either."""
    last, count = time.process_time() + _COUNTING, 0
    for _ in edits:
        count += 1
        if time.process_time() > last:
            return count, False
    return count, True


class _Stream:
    """One operator at one node: its next proposal is looked at before its turn comes."""

    def __init__(self, site: Site, operator: Operator, distance: float, unit: SwapUnit | None) -> None:
        self.site = site
        self.base = operator.cost + distance
        self.cost = self.base
        self._operator = operator
        self._unit = unit
        self._proposals: Iterator[EditProposal] | None = None
        self._next: EditProposal | None = None

    def take(self) -> EditProposal | None:
        proposal, self._next = self._next, None
        return proposal

    def prepare(self) -> bool:
        """Look at the next proposal; False if there is none."""
        if self._proposals is None:
            self._proposals = self._operator.generate(self.site)
        self._next = next(self._proposals, None)
        if self._next is not None:
            self.cost = self.base + self._next.extra
        return self._next is not None

    def candidate(self, proposal: EditProposal) -> Candidate:
        line = self.site.scope.source.line_at(proposal.edit.start)
        return Candidate(
            (proposal.edit,), (self._operator.name,), self.base + proposal.extra, line, proposal.anti, (self._unit,)
        )


def _streams(suspects: Iterable[Suspects]) -> Iterator[tuple[float, int, _Stream]]:
    """Base cost, number and stream of every operator at every node, cheapest first, made when their turn comes."""
    places: list[tuple[float, Suspects, ast.AST]] = []
    for suspect in suspects:
        for node in suspect.scope.nodes:
            suspicion = suspicion_of(node, suspect.lines)
            if suspicion > 0:
                places.append((suspicion, suspect, node))
    places.sort(key=lambda place: -place[0])
    operators = sorted(enumerate(OPERATORS), key=lambda item: item[1].cost)

    def at(distance: float, start: int, site: Site, unit: SwapUnit | None) -> Iterator[tuple[float, int, _Stream]]:
        for number, operator in operators:
            if unit is None and operator.generate.__module__ in _OF_FUNCTIONS:
                continue
            stream = _Stream(site, operator, distance, unit)
            yield stream.base, start + number, stream

    return heapq.merge(
        *(
            at(_DISTANCE * (1 - suspicion), place * len(OPERATORS), Site(suspect.scope, node), suspect.scope.unit)
            for place, (suspicion, suspect, node) in enumerate(places[:_NODES])
        ),
        key=lambda item: item[:2],
    )


def suspicion_of(node: ast.AST, lines: Mapping[int, float]) -> float:
    """The highest of the lines a node is on; of a compound statement, its header only."""
    first = getattr(node, "lineno", None)
    if first is None:
        return 0.0
    body = getattr(node, "body", None) if isinstance(node, ast.stmt) else None
    last = body[0].lineno - 1 if body else getattr(node, "end_lineno", first)
    return max((lines.get(line, 0.0) for line in range(first, max(first, last) + 1)), default=0.0)


def pairs(firsts: Iterable[Candidate], seconds: list[Candidate]) -> Iterator[Candidate]:
    """Each of the first with each of the second, every two once."""
    done: set[frozenset[int]] = set()
    for first in firsts:
        for second in seconds:
            both = frozenset({id(first), id(second)})
            made = pair(first, second) if both not in done else None
            done.add(both)
            if made is not None:
                yield made


def pair(first: Candidate, second: Candidate) -> Candidate | None:
    """Both edits; None if they cannot be made together."""
    if first is second or not all(_apart(one, other) for one in first.edits for other in second.edits):
        return None
    return Candidate(
        (*first.edits, *second.edits),
        (*first.operators, *second.operators),
        first.cost + second.cost + _PAIR,
        first.line,
        first.anti or second.anti,
        (*first.units, *second.units),
        (first, second),
    )


async def needed(candidate: Candidate, passes: Callable[[Candidate], Awaitable[bool]]) -> list[Candidate]:
    """What of a passing candidate is needed: the halves that pass alone, each reduced again, else the whole."""
    alone = [half for half in candidate.halves if await passes(half)]
    reduced = [part for half in alone for part in await needed(half, passes)]
    return reduced or [candidate]


def _apart(first: SourceEdit, second: SourceEdit) -> bool:
    return first.path != second.path or first.end <= second.start or second.end <= first.start
