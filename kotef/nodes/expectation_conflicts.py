"""Two assertions that no code can satisfy together, found before a coder starts."""

import re
from collections.abc import Iterator
from typing import Final

from kotef.checks.verification import Verification
from kotef.deps import RunContext
from kotef.integrity import Conflict, Expectation, Product, conflicts, python_expectations
from kotef.nodes.decide import Ending
from kotef.nodes.edit_guard import guard_of
from kotef.state import AgentState

CONTRADICTING: Final = "contradicting_assertions"
"""The reason of a run that ended because of two assertions."""
_FILES: Final = 400
"""Number of test files that are compared with those of the targets."""
_CALLED: Final = re.compile(r"(\w+)\(")
_ASSIGNS: Final = re.compile(r"(?:^|\s)\w+=")
_LARGEST: Final = 1_000_000
"""Bytes of a test file that is read."""


def contradicting_assertions(state: AgentState, context: RunContext) -> Ending | None:
    """The ending for two conflicting assertions that this run must meet and may not change; else None."""
    baseline = state.get("baseline")
    if baseline is None or state.get("edits") is not None or _differ_in_environment(baseline):
        return None
    try:
        found = _first_conflict(state, baseline, context)
    except (RecursionError, ValueError, MemoryError):  # a literal that Python itself cannot print
        return None
    if found is None:
        return None
    return Ending("blocked", CONTRADICTING, f"{found.words}: no code can meet both. Which one is right?")


def _first_conflict(state: AgentState, baseline: Verification, context: RunContext) -> Conflict | None:
    demands = _Demands(baseline)
    if not demands.red_files:
        return None
    snapshots, tree = context.snapshots, baseline.tree
    paths = snapshots.paths(tree)
    product = Product(
        paths,
        lambda path: snapshots.read(tree, path) if path in paths else None,
        absent=baseline.absent,
        tests=baseline.test_files,
    )
    guard = guard_of(state["task"], tree, snapshots, baseline.test_files)

    def expected_in(files: Iterator[str]) -> list[Expectation]:
        found = []
        for path in files:
            content = product.read(path)
            if content is not None and len(content) <= _LARGEST and guard.may_edit(path) is not None:
                found += [each for each in python_expectations(path, content, product) if demands.has(each)]
        return found

    red = expected_in(path for path in sorted(demands.red_files) if path in paths)
    keys = {each.key for each in red if demands.is_red(each)}
    if not keys:
        return None
    called = re.compile("|".join({rf"\b{name}\b" for each in red for name in _CALLED.findall(each.shown)}))
    others = (
        path
        for path in sorted(demands.green_files - demands.red_files)[:_FILES]
        if path in paths and called.search((product.read(path) or b"").decode("utf-8", "replace"))
    )
    known = [each for each in (*red, *expected_in(others)) if each.key in keys]
    found = sorted(conflicts(known, demands.is_red), key=lambda each: (each.first.place, each.second.place))
    return found[0] if found else None


def _differ_in_environment(baseline: Verification) -> bool:
    """Whether several checks run tests, and one sets variables: then two tests may see different products."""
    commands = [check.command for check in baseline.checks if check.role == "test"]
    return len(commands) > 1 and any(map(_ASSIGNS.search, commands))


class _Demands:
    """The tests that the run must turn green, and those it must keep green."""

    def __init__(self, baseline: Verification) -> None:
        names = sorted((check.name for check in baseline.checks), key=len, reverse=True)

        def plain(unit: str) -> str:
            """The id without the name of the check that is before one that two checks report."""
            name = next((name for name in names if unit.startswith(f"{name}: ")), "")
            return unit.removeprefix(f"{name}: ") if name else unit

        self._red = {plain(unit) for unit in baseline.targets}
        self._green = {plain(unit) for unit, status in baseline.tests.items() if status == "passed"}
        self.red_files = _files(self._red)
        self.green_files = _files(self._green)

    def is_red(self, each: Expectation) -> bool:
        """Whether the test is a target; a file that could not be loaded, and a class, stand for all their tests."""
        above, _, _ = each.test.partition("::")
        return not self._red.isdisjoint({f"{each.path}::{each.test}", each.path, f"{each.path}::{above}"})

    def has(self, each: Expectation) -> bool:
        """Whether the run must leave the test green."""
        return self.is_red(each) or f"{each.path}::{each.test}" in self._green


def _files(units: set[str]) -> set[str]:
    return {place for unit in units if (place := unit.partition("::")[0]).endswith(".py")}
