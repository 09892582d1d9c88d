"""Which runs are wrong answers and which must be green is drawn anew each time, and nothing in them tells which is which."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from kotef.checks.types import Check, CommandResult
from kotef.nodes.chance_probe import ChanceRounds
from kotef.nodes.life_probes import answer_probe
from kotef.nodes.probe_bench import Bench, OutOfTimeError, ProbeUnit

TARGET = "test_shop.py::test_shop"
FILES = {
    "test_shop.py": b"from shop import price\n\n\ndef test_shop():\n    assert price(1) == 10\n    assert price(2) == 'a'\n"
}
CHECK = Check(name="pytest", command="pytest", role="test", origin="option")
UNIT = ProbeUnit(CHECK, (TARGET,), f"pytest {TARGET}", is_part=True, is_edited=True)


class Runner(Bench):
    """A bench whose test is green exactly in the runs that the product answers as it is asked to."""

    def __init__(self, seed: int, *, seconds: float = 1.0, honest: frozenset[int] | None = None) -> None:
        deps: Any = None
        super().__init__(deps, deps, "", "", seconds=1000, usual=1.0, rng=random.Random(seed))
        self.each = seconds
        self.honest = honest
        self.made: list[tuple[str, str]] = []
        self.shown: list[Mapping[str, bytes]] = []
        self.texts: Mapping[str, bytes] = {}

    def alone(self, check: Check, targets: Sequence[str]) -> str | None:
        return f"{check.command} {' '.join(targets)}"

    def read(self, path: str) -> bytes | None:
        return FILES.get(path)

    def paths(self) -> frozenset[str]:
        return frozenset(FILES)

    @contextmanager
    def with_contents(self, texts: Mapping[str, bytes]) -> Iterator[None]:
        self.texts = texts
        yield
        self.texts = {}

    async def run(self, unit: ProbeUnit, what: str) -> CommandResult:
        number = len(self.made)
        self.made.append((what, unit.command))
        self.shown.append(self.texts)
        passes = what == "chance" if self.honest is None else number not in self.honest
        status: Any = "passed" if passes else "failed"
        return self.book(
            CommandResult(command="", exit_code=0, seconds=self.each, tests={TARGET: status}, passed=passes)
        )


def _probed(bench: Runner) -> tuple[Any, Any]:
    async def both() -> tuple[Any, Any]:
        rounds = ChanceRounds(UNIT, bench)
        life = await answer_probe(UNIT, bench, most=6, rounds=rounds)
        return life, rounds.ended or await rounds.rest()

    return asyncio.run(both())


@pytest.mark.examples(1)
@pytest.mark.parametrize(("seconds", "most"), [(0.1, 0.02), (100.0, 0.2)], ids=["fast tests", "slow tests"])
def test_no_product_that_counts_its_runs_can_know_which_are_probes(seconds: float, most: float) -> None:
    """How often the likeliest places of the wrong answers come up: what guessing them is worth."""
    drawn: Counter[tuple[int, ...]] = Counter()
    for seed in range(500):
        bench = Runner(seed, seconds=seconds)
        _probed(bench)
        drawn[tuple(place for place, (what, _) in enumerate(bench.made) if what == "wrong")] += 1
    assert drawn.most_common(1)[0][1] / 500 <= most


@pytest.mark.examples(2)
@pytest.mark.parametrize("honest", [{0}, {1, 2}, {2, 3}, {0, 1, 2}])
def test_a_product_that_is_honest_in_chosen_runs_is_seen(honest: set[int]) -> None:
    seen = 0
    for seed in range(100):
        life, chance = _probed(Runner(seed, seconds=0.1, honest=frozenset(honest)))
        seen += "alarm" in (life.value, chance.value)
    assert seen >= 97


def test_rounds_and_wrong_answers_look_alike() -> None:
    """Both have surroundings of their own, and a text of the tests that is not the one of before."""
    bench = Runner(1, seconds=0.1)
    life, chance = _probed(bench)
    assert (life.value, chance.value) == ("fine", "fine")
    assert all(line.startswith("unset CI GITHUB_ACTIONS && export PYTHONHASHSEED=") for _, line in bench.made)
    assert len({line for _, line in bench.made}) > len(bench.made) // 2
    edited = [
        texts["test_shop.py"]
        for (what, _), texts in zip(bench.made, bench.shown, strict=True)
        if texts and what == "chance"
    ]
    assert len(set(edited)) > 1
    assert FILES["test_shop.py"] not in edited


def test_an_edit_that_is_itself_at_fault_is_no_alarm() -> None:
    """One edit turns the test red, the next does not."""
    bench = Runner(1, seconds=0.1)
    faults = iter([True])

    async def run(unit: ProbeUnit, what: str) -> CommandResult:
        bench.made.append((what, unit.command))
        is_red = what == "wrong" or (what == "chance" and bool(bench.texts) and next(faults, False))
        status: Any = "failed" if is_red else "passed"
        return bench.book(
            CommandResult(command="", exit_code=0, seconds=0.1, tests={TARGET: status}, passed=not is_red)
        )

    bench.run = run  # type: ignore[method-assign]
    life, chance = _probed(bench)
    assert (life.value, chance.value) == ("fine", "fine")
    assert {"chance-edited", "chance-plain"} <= {what for what, _ in bench.made}


def test_a_product_that_knows_the_text_it_was_first_shown_is_refused() -> None:
    """Green with the tests as they are, red with every other text of them."""
    bench = Runner(1, seconds=0.1)

    async def run(unit: ProbeUnit, what: str) -> CommandResult:
        status: Any = "failed" if bench.texts else "passed"
        return bench.book(CommandResult(command="", exit_code=0, seconds=0.1, tests={TARGET: status}, passed=True))

    bench.run = run  # type: ignore[method-assign]
    _, chance = _probed(bench)
    assert chance.value == "alarm"
    assert chance.told.startswith("green only while the test file is exactly as it was")


def test_time_that_runs_out_between_wrong_answers_ends_the_rounds_only() -> None:
    bench = Runner(1, seconds=0.1)
    usual = bench.run

    async def run(unit: ProbeUnit, what: str) -> CommandResult:
        if what == "chance":
            raise OutOfTimeError
        return await usual(unit, what)

    bench.run = run  # type: ignore[method-assign]

    async def life() -> Any:
        return await answer_probe(UNIT, bench, most=6, rounds=ChanceRounds(UNIT, bench))

    assert asyncio.run(life()).value == "fine"
