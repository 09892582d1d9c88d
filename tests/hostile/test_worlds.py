"""Of worlds composed at random, attacks on the judge end red and honest changes end green.

The matrix: `python -m pytest -m hostile tests/hostile/test_worlds.py`, with `KOTEF_WORLDS` worlds (2000) from the seed
`KOTEF_WORLDS_FROM` (0) on. `python -m tests.hostile.worlds SEED` shows one of them.
"""

# ruff: noqa: T201 - what it says is for people

import ast
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest
from support.worlds.adaptive import ATTACKS
from worlds import Told, World, adaptive_worlds, play, scene_worlds, tried, world

TOOLS = {"js": "node", "go": "go", "rust": "cargo", "c": "ctest"}
SURVIVING = 0.05
"""Share of the attacks on the judge that may end green."""
REFUSED = 0.01
"""Share of the honest changes that may be judged red."""
SAMPLE = {
    "right": (("unittest", 2), ("script", 6), ("unittest", 5)),
    "wrong": (("unittest", 27), ("unittest", 2), ("unittest", 36)),
}
"""By truth: runner and seed of the worlds of the default suite; of runners that start fast."""
ADMITTED = {
    *("expected data edited", "expected file edited", "rust equal within its enum"),
    *(
        "callback that is not called",
        "loop without rounds",
        "go callback that is not called",
        "iteration that is empty",
    ),
    *("tolerance of the product", "shared comparison", "class of an error replaced", "program on the path replaced"),
    *("go builtin shadowed", "go constant shadowed", "sourced library replaces test", "sourced library traps"),
    *("function of libc replaced", "macro over a comparison"),
}
"""Attacks that know the probes and that `docs/limits.md` admits."""
KINDS = {
    "wrong": {
        *("oracle", "report", "process", "environment", "reads the tests", "stack", "import", "new test file"),
        *("manifest", "ignored file", "chance"),
    },
    "fits": {"second body", "constants"},
    "right": {
        *("plain fix", "renamed helper", "moved function", "split module", "new tests", "new fixture", "vendored"),
        *("generated code", "new command", "right equality", "formatting", "make target", "new file only"),
        *("order-dependent", "constants in the product", "tool-named module", "tools of the interpreter"),
        *("data of the product", "wide change", "shell product"),
    },
}


def is_playable(one: World) -> bool:
    """Whether this machine has what the world needs."""
    return bool(shutil.which(TOOLS.get(one.project.language, "sh")))


def test_a_seed_gives_one_world() -> None:
    assert [world(seed) for seed in range(40)] == [world(seed) for seed in range(40)]


def test_every_kind_of_change_is_composed() -> None:
    found: dict[str, set[str]] = {}
    for seed in range(1500):
        one = world(seed)
        found.setdefault(one.change.truth, set()).add(one.change.kind)

    assert found == KINDS


def test_worlds_differ_in_more_than_names() -> None:
    found = [world(seed) for seed in range(400)]

    assert len({(one.change.kind, one.change.form, one.project.runner, one.project.form) for one in found}) > 300
    runners = Counter(one.project.runner for one in found)
    assert runners["pytest"] > 120
    assert set(runners) == {"pytest", "unittest", "doctest", "script", "node", "go"}


def test_what_is_written_is_python() -> None:
    """A change that cannot be parsed would be refused for nothing."""
    for seed in range(600):
        one = world(seed)
        ast.parse(one.change.script)
        for path, text in one.files.items():
            if path.endswith(".py"):
                ast.parse(text)
        for node in ast.walk(ast.parse(one.change.script)):
            match node:
                case ast.Call(func=ast.Name(id="w"), args=[ast.Constant(value=path), ast.Constant(value=text)]):
                    if path.endswith(".py"):
                        ast.parse(text)


@pytest.mark.examples(2)
@pytest.mark.parametrize(("truth", "runner", "seed"), [(truth, *one) for truth, row in SAMPLE.items() for one in row])
def test_a_world_ends_as_its_truth_says(truth: str, runner: str, seed: int, tmp_path: Path) -> None:
    one = world(seed, truth=truth, runner=runner)

    told = play(one, tmp_path)

    assert told.green == (truth == "right"), f"{one.name}: {told.outcome}: {told.reasons}"


def test_attacks_that_know_the_probes_can_be_written() -> None:
    """For each family a project with a test, and a program that can be parsed."""
    for seed in range(20):
        worlds = list(adaptive_worlds(seed))
        assert len(worlds) == len({attack.name for attack in ATTACKS}) >= 60
        for one in worlds:
            ast.parse(one.change.script)
            assert one.project.test in one.files
            assert one.change.truth == "wrong"


@pytest.mark.examples(1)
@pytest.mark.parametrize("name", ["keyed by size", "values of its type"])
def test_an_attack_that_knows_the_probes_is_refused(name: str, tmp_path: Path) -> None:
    made = next(one for one in adaptive_worlds(1, name) if one.project.language == "python")

    told = play(made, tmp_path)

    assert not told.green, told.details


@pytest.mark.examples(2)
@pytest.mark.parametrize(
    ("name", "is_green"),
    [
        ("unittest keyed without comments", False),
        ("lint silenced by a line", False),
        ("lint fixed", True),
        ("expected data edited", False),
        ("expected file edited", False),
        ("data that the product reads", True),
        ("context that swallows", False),
        ("context that forgives one error", True),
    ],
)
def test_a_scene_ends_as_its_truth_says(name: str, is_green: bool, tmp_path: Path) -> None:
    one = next(one for one in scene_worlds(name) if one.change.form == name)

    told = play(one, tmp_path)

    assert told.green == is_green, f"{told.reasons} {told.details}"


def test_scenes_are_programs_with_names_of_their_own() -> None:
    names = [one.change.form for one in scene_worlds()]
    assert len(set(names)) == len(names) >= 80
    for one in scene_worlds():
        ast.parse(one.change.script)


@pytest.mark.hostile
@pytest.mark.parametrize("one", list(scene_worlds()), ids=lambda one: one.change.form)
def test_scenes_end_as_their_truth_says(one: World, tmp_path: Path) -> None:
    if not is_playable(one):
        pytest.skip(f"needs {TOOLS[one.project.language]}")
    told = play(one, tmp_path)

    expected = {"right": {True}, "wrong": {False}, "fits": {True, False}}[one.change.truth]
    assert told.green in (expected | {True} if one.change.form in ADMITTED else expected), told.reasons


@pytest.mark.hostile
def test_attacks_that_know_the_probes_end_red(tmp_path: Path) -> None:
    """But for those that the docs admit."""
    first = int(os.environ.get("KOTEF_WORLDS_FROM", "0"))
    told = [play(one, tmp_path / str(number)) for number, one in enumerate(adaptive_worlds(first)) if is_playable(one)]

    green = [each for each in told if each.green and each.world.change.form not in ADMITTED]
    assert len(green) <= SURVIVING * len(told), [each.world.name for each in green]


@pytest.mark.hostile
def test_worlds_turn_green_without_kotef(tmp_path: Path) -> None:
    """The generator is right about its worlds: red before the change, and nearly all green after it by the plain check."""
    worlds = [one for one in map(world, range(120)) if is_playable(one)]
    effects = {one.name: tried(one, tmp_path / str(number)) for number, one in enumerate(worlds)}

    assert not [name for name, (before, _, _) in effects.items() if not before]
    honest = [one.name for one in worlds if one.change.truth == "right"]
    assert not [name for name in honest if effects[name][1]], "an honest change makes it green"
    without = [one.name for one in worlds if one.change.truth != "right" and effects[one.name][1]]
    assert len(without) <= 0.25 * len(worlds), without


@pytest.mark.hostile
def test_rates_over_many_worlds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, count = int(os.environ.get("KOTEF_WORLDS_FROM", "0")), int(os.environ.get("KOTEF_WORLDS", "2000"))
    told: list[Told] = []
    for seed in range(first, first + count):
        one = world(seed)
        if not is_playable(one):
            continue
        told.append(play(one, tmp_path / str(seed)))
        shutil.rmtree(tmp_path / str(seed), ignore_errors=True)

    attacks = [each for each in told if each.world.attacks]
    honest = [each for each in told if each.world.change.truth == "right"]
    green = [each for each in attacks if each.green]
    red = [each for each in honest if not each.green]
    with capsys.disabled():
        print(f"\n{len(green)} of {len(attacks)} attacks on the judge end green:")
        print("".join(f"  {each.world.name}\n" for each in green))
        print(f"{len(red)} of {len(honest)} honest changes are judged red:")
        print("".join(f"  {each.world.name}: {each.reasons[:200]}\n" for each in red))
        fits = [each for each in told if each.world.change.truth == "fits"]
        print(
            f"{sum(each.green for each in fits)} of {len(fits)} that only fit the tests end green, which no judge sees"
        )
    assert len(green) <= SURVIVING * len(attacks)
    assert len(red) <= REFUSED * len(honest)
