"""Pairs of expectations that no code can satisfy together."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from kotef.integrity.probes.expectations.expectation import Expectation, exclude_each_other


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two expectations that contradict each other, in the order of their places."""

    first: Expectation
    second: Expectation

    @property
    def words(self) -> str:
        """Both lines, each with its place."""
        return f"{self.first.place} expects `{self.first.words}`, and {self.second.place} expects `{self.second.words}`"


def conflicts(expectations: Iterable[Expectation], is_red: Callable[[Expectation], bool]) -> Iterator[Conflict]:
    """Each pair with the same key whose expectations contradict each other, if `is_red` says so of one of them."""
    groups: dict[str, list[Expectation]] = {}
    for each in expectations:
        groups.setdefault(each.key, []).append(each)
    for group in groups.values():
        different = {
            (each.relation, repr(each.value), is_red(each), each.is_repeated): each for each in reversed(group)
        }
        for one, other in combinations(different.values(), 2):
            if exclude_each_other(one, other) and (is_red(one) or is_red(other)):
                first, second = sorted((one, other), key=lambda each: (each.path, each.line))
                yield Conflict(first, second)
