"""Ranking of files by how much other files use them."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import mul
from typing import Final

from kotef.context.repomap.sketch import Sketch

DAMPING: Final = 0.85
"""Damping factor of Brin and Page, The Anatomy of a Large-Scale Hypertextual Web Search Engine (1998)."""
ROUNDS: Final = 5
"""Files that lean on each other in a chain longer than this are rare; more rounds change who is first hardly ever."""
AMBIGUOUS: Final = 6
"""A name that more files define than this (`main`, `get`) does not show which of them is meant."""
_WHOLE: Final = math.lcm(*range(1, AMBIGUOUS + 1))
"""Weight of one name; an integer that divides evenly, so that sums do not depend on their order."""


def rank(sketches: Mapping[str, Sketch]) -> dict[str, float]:
    """How much of the repository depends on each file; the sum is 1, and the order of files does not matter.

    PageRank over the graph in which a file points to those that define the names it uses.
    """
    paths = sorted(sketches)
    return dict(zip(paths, pagerank(links([sketches[path] for path in paths])), strict=True))


def links(sketches: Sequence[Sketch]) -> list[dict[int, int]]:
    """For each file the files whose names it uses, and how many; a name that several define counts in part for each."""
    definers: defaultdict[str, list[int]] = defaultdict(list)
    for number, each in enumerate(sketches):
        for name in each.defines.split():
            definers[name].append(number)
    known = {name: numbers for name, numbers in definers.items() if len(numbers) <= AMBIGUOUS}
    graph = []
    for number, each in enumerate(sketches):
        leans: dict[int, int] = {}
        for name in known.keys() & each.uses.split():
            numbers = known[name]
            weight = _WHOLE // len(numbers)
            for target in numbers:
                leans[target] = leans.get(target, 0) + weight
        leans.pop(number, None)
        graph.append(leans)
    return graph


def pagerank(graph: Sequence[Mapping[int, int]]) -> list[float]:
    """One number a node, from the weights of the nodes it points to; a node without links gives to all alike."""
    size = len(graph)
    sources: list[list[int]] = [[] for _ in graph]
    shares: list[list[float]] = [[] for _ in graph]
    for number, out in enumerate(graph):
        whole = sum(out.values())
        for target, weight in out.items():
            sources[target].append(number)
            shares[target].append(DAMPING * weight / whole)
    silent = [number for number, out in enumerate(graph) if not out]
    ranks = [1 / size] * size if size else []
    for _ in range(ROUNDS):
        given = (1 - DAMPING + DAMPING * sum(map(ranks.__getitem__, silent))) / max(1, size)
        ranks = [
            given + sum(map(mul, share, map(ranks.__getitem__, source)))
            for source, share in zip(sources, shares, strict=True)
        ]
    return ranks
