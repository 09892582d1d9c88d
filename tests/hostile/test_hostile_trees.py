"""In a hostile tree each command ends in time, prints something, and touches nothing outside."""

import os
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from support.hostile_trees import (
    NOBODY,
    PLANTS,
    RUN,
    Attack,
    World,
    build,
    clear,
    innocent,
    load,
    play,
    swapping,
    trees,
)

Command = tuple[str, ...]
READING: tuple[Command, ...] = (
    ("runs",), ("runs", "--json"), ("runs", "prune", "--dry-run"), ("show",), ("show", "--json"), ("show", RUN),
    ("stats",), ("stats", "--json"), ("issues",), ("issues", "list", "--json"), ("issues", "show", RUN),
    ("diff", "--stat"), ("diff", "--json"), ("report", "--format", "md"), ("report", "--format", "json"),
    ("report", "--format", "html"), ("report", "--format", "junit"), ("spec", "lint"), ("spec", "lint", "--json"),
    ("agents",), ("skills",), ("tools",), ("config", "show"), ("config", "show", "--json"), ("watch", RUN, "--wait", "1"), ("prompt",),
    ("mcp", "doctor"), ("completion", "bash"), ("init",), ("doctor",), ("check",), ("check", "--json"),
)  # fmt: skip
"""Commands that only read the workspace, except that `init` writes missing files."""
WRITING: tuple[Command, ...] = (
    ("run", "make it right", "--check", "true", "--coder", "fixers", "--max-time", "20"),
    ("run", "--ticket", "01", "--check", "python3 -m pytest -q", "--coder", "fixers", "--max-time", "20"),
    ("resume", "--last"), ("resume", RUN), ("undo", "--last"), ("undo", "--last", "--force"), ("apply", "--last"),
    ("apply", RUN, "--attempt", "1", "--force"),
)  # fmt: skip
COMPLETED = ("runs", "run --ticket ", "run --agent ", "show ")
OWNERS = st.sampled_from((None, NOBODY) if os.geteuid() == 0 else (None,))
_numbers = count()


@pytest.fixture(scope="module")
def template() -> Iterator[World]:
    """The world before the attacks, in a folder that every user can read."""
    load()
    place = Path(tempfile.mkdtemp(prefix="kotef-hostile-"))
    place.chmod(0o755)
    yield innocent(place / "template")
    clear(place)


def faults(
    template: World,
    attacks: tuple[Attack, ...],
    commands: list[Command],
    owner: int | None,
    own: bool,
    *,
    seconds: float = 10,
) -> list[str]:
    """What is wrong after these commands in a world with these attacks."""
    world = build(template, template.place.parent / str(next(_numbers)), attacks, owner=owner, own=own)
    try:
        before = world.looks()
        wrong = []
        for command in commands:
            ended = play(world, command, owner=owner, seconds=seconds)
            wrong += [f"kotef {' '.join(command)}: {fault}: {ended.stderr[-1500:]}" for fault in ended.faults()]
        return wrong + world.disturbed(before)
    finally:
        clear(world.place)


def of_this_many(examples: int) -> settings:
    """The same examples each time, without shrinking, which costs a minute."""
    return settings(max_examples=examples, derandomize=True, database=None, phases=(Phase.explicit, Phase.generate))


READS = st.lists(st.sampled_from(READING), min_size=1, max_size=2)
WRITES = st.lists(st.sampled_from(WRITING), min_size=1, max_size=2)


@of_this_many(8)
@given(attacks=trees(), commands=READS, owner=OWNERS, own=st.booleans())
@example(
    attacks=(Attack("pipe", f".sdd/runs/{RUN}/task.json"),), commands=[("runs",), ("show",)], owner=None, own=False
)
@example(
    attacks=(Attack("link to a device", f".sdd/runs/{RUN}/result.json"),), commands=[("stats",)], owner=None, own=False
)
@example(attacks=(Attack("pipe", f".sdd/runs/{RUN}/standing-in.json"),), commands=[("check",)], owner=None, own=False)
@example(attacks=(Attack("pipe", ".sdd/issues.md"),), commands=[("issues",)], owner=None, own=False)
@example(
    attacks=(Attack("closed", ".sdd/backlog/tickets"),),
    commands=[("init",)],
    owner=NOBODY if os.geteuid() == 0 else None,
    own=True,
)
def test_a_reading_command_ends_in_time_with_a_message_and_touches_nothing_outside(
    template: World, attacks: tuple[Attack, ...], commands: list[Command], owner: int | None, own: bool
) -> None:
    assert not faults(template, attacks, commands, owner, own)


@of_this_many(3)
@given(attacks=trees(), commands=WRITES, owner=OWNERS, own=st.booleans())
@example(attacks=(Attack("huge", ".sdd/backlog/tickets"),), commands=[WRITING[0]], owner=None, own=False)
def test_a_working_command_ends_in_time_with_a_message_and_touches_nothing_outside(
    template: World, attacks: tuple[Attack, ...], commands: list[Command], owner: int | None, own: bool
) -> None:
    assert not faults(template, attacks, commands, owner, own, seconds=60)


@pytest.mark.hostile
@settings(max_examples=5_000, database=None, phases=(Phase.explicit, Phase.generate))
@given(attacks=trees(8), commands=READS, owner=OWNERS, own=st.booleans())
def test_five_thousand_trees_are_looked_at(
    template: World, attacks: tuple[Attack, ...], commands: list[Command], owner: int | None, own: bool
) -> None:
    assert not faults(template, attacks, commands, owner, own)


@pytest.mark.hostile
@settings(max_examples=300, database=None, phases=(Phase.explicit, Phase.generate))
@given(attacks=trees(8), commands=WRITES, owner=OWNERS, own=st.booleans())
def test_three_hundred_trees_are_worked_on(
    template: World, attacks: tuple[Attack, ...], commands: list[Command], owner: int | None, own: bool
) -> None:
    assert not faults(template, attacks, commands, owner, own, seconds=60)


@pytest.mark.parametrize("kind", sorted(kind for kind in PLANTS if kind.startswith("link") or kind == "pipe"))
@pytest.mark.parametrize("place", [".sdd", ".sdd/runs", f".sdd/runs/{RUN}"])
def test_a_link_at_a_path_that_kotef_writes_is_named_with_the_way_out(template: World, place: str, kind: str) -> None:
    world = build(template, template.place.parent / str(next(_numbers)), (Attack(kind, place),))
    try:
        ended = play(world, ("runs",))

        run_that_is_a_pipe = place.endswith(RUN) and kind == "pipe"  # no run then, and kotef writes nothing there
        assert ended.status == (0 if run_that_is_a_pipe else 2)
        assert run_that_is_a_pipe or f"{place}: is " in ended.stderr
        assert run_that_is_a_pipe or "remove it" in ended.stderr
    finally:
        clear(world.place)


@pytest.mark.examples(2)
@pytest.mark.parametrize(
    ("place", "command"),
    [
        (".sdd/project.md", ("prompt",)),
        (".sdd/backlog/tickets/open/01-first.md", ("spec", "lint")),
        ("AGENTS.md", ("prompt",)),
        ("pyproject.toml", ("config", "show")),
        (".sdd/agents.md", ("agents",)),
    ],
)
def test_swapping_a_file_during_a_read_leads_nowhere_outside(template: World, place: str, command: Command) -> None:
    world = build(template, template.place.parent / str(next(_numbers)), ())
    try:
        before = world.looks()
        with swapping(world, place):
            ended = [play(world, command) for _ in range(5)]
        assert [each.faults() for each in ended] == [[]] * len(ended)
        assert not world.disturbed(before)
    finally:
        clear(world.place)


@pytest.mark.examples(1)
@pytest.mark.parametrize("command", [("runs",), ("check",), ("issues",)])
def test_a_real_process_behaves_like_a_forked_one(template: World, command: Command) -> None:
    attacks = (
        Attack("pipe", ".sdd/mcp.json"),
        Attack("link to a device", "pyproject.toml"),
        Attack("many", ".sdd/backlog/tickets/open"),
        Attack("link to nothing", ".sdd/runs/.gitignore"),
    )
    world = build(template, template.place.parent / str(next(_numbers)), attacks)
    try:
        before = world.looks()
        ended = play(world, command, forked=False, seconds=30)
        assert not ended.faults()
        assert not world.disturbed(before)
    finally:
        clear(world.place)


@of_this_many(12)
@given(attacks=trees(), words=st.sampled_from(COMPLETED))
def test_completion_is_silent_and_offers_no_name_with_control_characters(
    template: World, attacks: tuple[Attack, ...], words: str
) -> None:
    world = build(template, template.place.parent / str(next(_numbers)), attacks)
    try:
        before = world.looks()
        line = f"kotef {words}"
        asked = {"_KOTEF_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
        ended = play(world, (), seconds=5, extra=asked)
        assert ended.status == 0
        assert not [fault for fault in ended.faults() if fault != "not a word"]
        assert not ended.stderr
        assert not world.disturbed(before)
    finally:
        clear(world.place)
