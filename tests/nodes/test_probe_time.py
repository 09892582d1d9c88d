"""How many runs probes make depends on what the tests took: one of each kind always, more while it is cheap."""

import asyncio
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from kotef.checks.types import Check, CommandResult
from kotef.nodes.life_probes import answer_probe
from kotef.nodes.probe_bench import PART, SHORT, Bench, ProbeUnit

TEST = """\
from shop import price, name


def test_shop():
    assert price(1) == 10
    assert price(2) == 20
    assert price(3) == 30
    assert name(1) == "pear"
    assert name(2) == "plum"
"""
KINDS = 2
LITERALS = 6


class Memory:
    """A workbench whose one test fails whatever is made wrong in it."""

    def __init__(self, *, affords: bool) -> None:
        self.rng = random.Random(3)
        self.runs: list[str] = []
        self._affords = affords
        self._files = {"test_shop.py": TEST.encode()}

    def affords(self) -> bool:
        return self._affords

    def alone(self, check: Check, targets: Sequence[str]) -> str | None:
        return f"{check.command} {' '.join(targets)}"

    async def run(self, unit: ProbeUnit, what: str) -> CommandResult:
        self.runs.append(what)
        return CommandResult(
            command=unit.command, exit_code=1, seconds=0.5, tests=dict.fromkeys(unit.targets, "failed"), passed=False
        )

    @contextmanager
    def with_contents(self, texts: Mapping[str, bytes]) -> Iterator[None]:
        yield

    def read(self, path: str) -> bytes | None:
        return self._files.get(path)

    def paths(self) -> frozenset[str]:
        return frozenset(self._files)


@pytest.mark.parametrize(("affords", "runs"), [(True, LITERALS), (False, KINDS)])
def test_a_second_wrong_answer_of_a_kind_is_tried_only_while_it_is_cheap(affords: bool, runs: int) -> None:
    bench = Memory(affords=affords)
    check = Check(name="pytest", command="pytest", role="test", origin="option")
    unit = ProbeUnit(check, ("test_shop.py::test_shop",), "pytest test_shop.py::test_shop", is_part=True)
    probe = asyncio.run(answer_probe(unit, bench, most=6))
    assert (probe.value, len(bench.runs)) == ("fine", runs)
    assert probe.told == f"{runs} of {runs} wrong answers refused"


@pytest.mark.parametrize(
    ("usual", "each", "runs"),
    [(0.1, 0.5, SHORT / 0.5), (100.0, 2.0, PART * 100 / 2.0), (10.0, 9.0, 1)],
    ids=["short tests", "long tests", "one run takes most of it"],
)
def test_runs_that_only_add_end_with_the_time_that_the_tests_took(usual: float, each: float, runs: float) -> None:
    deps: Any = None
    bench = Bench(deps, deps, "", "", seconds=1000, usual=usual, rng=random.Random(1))
    made = 0
    while bench.affords():
        bench.book(CommandResult(command="pytest", exit_code=0, seconds=each, passed=True))
        made += 1
    assert made == runs
