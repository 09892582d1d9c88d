"""Whatever a stranger put into the tree: each command ends soon, says something, and touches nothing outside."""

import os
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.hostile_trees import RUN, Attack, World, build, clear, innocent, play, trees

CHEAP = (
    ("runs",), ("runs", "--json"), ("show",), ("show", "--json"), ("show", RUN), ("stats",), ("stats", "--json"),
    ("issues",), ("issues", "list", "--json"), ("issues", "show", RUN), ("diff",), ("diff", "--attempt", "1"),
    ("report", "--format", "md"), ("report", "--format", "json"), ("report", "--format", "sarif"), ("spec", "lint"),
    ("spec", "lint", "--json"), ("agents",), ("skills",), ("tools",), ("config", "show"), ("config", "show", "--json"),
    ("watch",), ("completion", "bash"), ("prompt",), ("mcp", "doctor"), ("init",), ("report",), ("runs", "prune"),
)  # fmt: skip
DEAR = (("check",), ("doctor",), ("check", "--json"))
_numbers = count()


@pytest.fixture(scope="module")
def template() -> Iterator[World]:
    place = Path(tempfile.mkdtemp(prefix="kotef-hostile-"))
    place.chmod(0o755)
    yield innocent(place / "template")
    clear(place)


def met(template: World, attacks: tuple[Attack, ...], *commands: tuple[str, ...], **how: object) -> list[str]:
    """What is wrong after these commands in a world with these attacks."""
    world = build(template, template.place.parent / str(next(_numbers)), attacks, owner=how.get("owner"))  # type: ignore[arg-type]
    try:
        before = world.looks()
        wrong = []
        for command in commands:
            ended = play(world, command, **how)  # type: ignore[arg-type]
            wrong += [
                f"kotef {' '.join(command)}: {fault}\n{ended.stdout[-300:]}{ended.stderr[-1500:]}"
                for fault in ended.faults()
            ]
        after = world.looks()
        wrong += [f"changed outside: {path}" for path in sorted(before | after) if before.get(path) != after.get(path)]
        return wrong + [f"the canary is in {path}" for path in world.leaks()]
    finally:
        clear(world.place)
