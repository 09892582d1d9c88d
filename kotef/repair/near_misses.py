"""Edits that fix some of the failing tests, and pairs of them that could fix all."""

import heapq
from collections.abc import Iterator
from itertools import count
from typing import Final

from kotef.repair.candidates import Candidate, pair, pairs

_KEPT: Final = 40
"""Near misses that are paired with other edits."""
_MATCHES: Final = 12
"""Earlier near misses a new one is matched with."""
_FURTHER: Final = 0.4
"""What a test is worth that fails at a later line than before."""
_COMPLETE: Final = 1.0
"""How much likelier a pair is whose halves cure all failing tests between them."""


class NearMisses:
    """Edits by what they cure."""

    def __init__(self, failing: tuple[int, ...]) -> None:
        self._failing = frozenset(failing)
        self._found: list[tuple[float, frozenset[int], Candidate]] = []
        self._complete: list[tuple[float, int, Candidate]] = []
        self._order = count()

    def __contains__(self, candidate: Candidate) -> bool:
        return any(candidate is known for _, _, known in self._found)

    def add(self, candidate: Candidate, cured: frozenset[int], further: int) -> None:
        """One more: the tests it makes pass, and how many others now fail at a later line."""
        gain = len(cured) + _FURTHER * further - 0.05 * candidate.cost
        if candidate.anti or not (cured or further):
            return
        if cured and len(candidate.edits) == 1:
            matching = [other for _, theirs, other in self._found if theirs | cured == self._failing and cured - theirs]
            for other in sorted(matching, key=lambda other: other.cost)[:_MATCHES]:
                both = pair(other, candidate)
                if both is not None and len(other.edits) == 1:
                    heapq.heappush(self._complete, (both.cost - _COMPLETE, next(self._order), both))
        self._found.append((gain, cured, candidate))

    def complete(self, cost: float) -> Iterator[Candidate]:
        """Pairs that cure everything between them, as far as they cost no more than this."""
        while self._complete and self._complete[0][0] <= cost:
            yield heapq.heappop(self._complete)[2]

    def with_others(self, others: list[Candidate]) -> Iterator[Candidate]:
        """The best paired with each other, and then with other edits."""
        best = [candidate for _, _, candidate in sorted(self._found, key=lambda item: -item[0])[:_KEPT]]
        return pairs([candidate for candidate in best if len(candidate.edits) == 1], [*best, *others])

    def best(self, most: int) -> list[tuple[Candidate, int]]:
        """Those that cure most, each with how many tests that is."""
        ranked = sorted(self._found, key=lambda item: -item[0])
        return [(candidate, len(cured)) for _, cured, candidate in ranked if cured][:most]
