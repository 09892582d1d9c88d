"""A coder's claims that something cannot be done honestly, checked by code as far as possible."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from kotef.checks.verification import Verification
from kotef.coders.base import Brief
from kotef.failures.plural import counted
from kotef.integrity import Expectation, conflicts, function_at, plain_expectations
from kotef.state import Task
from kotef.tools.errors import ToolFault
from kotef.workspace import Snapshots

_PLACE: Final = re.compile(r"(?P<path>.+?)(?::(?P<line>\d+))?")
_LOOKS_LIKE_A_PATH: Final = re.compile(r"[\w.-]+(?:/[\w.-]+)*\.\w{1,5}(?::\d+)?|[\w./-]+/[\w./-]+")
_SHOWN: Final = 5
_SHORTEST: Final = 8
"""Least characters of a ticket's words that name a place in it."""


@dataclass(frozen=True, slots=True)
class _Spot:
    """The target of a place: failing tests, or a part of the ticket."""

    path: str = ""
    line: int = 0
    tests: tuple[str, ...] = ()
    """Parts of ids below the path."""


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """The base for checking the claims of a visit: the tree it began with, and what fails there."""

    brief: Brief
    snapshots: Snapshots

    def check(self, place: str, other: str = "") -> str:
        """What code could confirm; empty if it cannot know. Raises `ToolFault` if the claim is wrong."""
        here = self._spot(place.strip())
        there = self._other(other.strip())
        if pair := self._two_lines(here, there):
            return pair
        if there is None or not there.path:
            return ""
        if self.brief.guard.may_edit(there.path) is None:
            raise ToolFault("exec_error", f"{there.path} is not protected: this run may change it")
        return f"{there.path} is there and protected"

    def _two_lines(self, here: _Spot, there: _Spot | None) -> str:
        """Two assertions on the same call at these places that expect different results, in words."""
        if not here.path:
            return ""
        known = [each for path in {here.path, there.path if there else here.path} for each in self._expected_in(path)]
        for pair in conflicts(known, lambda _: True):
            both = (pair.first, pair.second)
            is_here = any(_is_at(here, each.path, each.line, each.test) for each in both)
            is_there = there is None or any(_is_at(there, each.path, each.line, each.test) for each in both)
            if is_here and is_there:
                return pair.words
        return ""

    def _expected_in(self, path: str) -> Iterator[Expectation]:
        content = self._read(path)
        with suppress(RecursionError, ValueError):  # a literal that Python itself cannot print
            yield from plain_expectations(path, content) if content is not None and path.endswith(".py") else ()

    def _spot(self, place: str) -> _Spot:
        """A failing target, a line of one, or words of the ticket. Raises `ToolFault` for anything else."""
        judged = self.brief.judged
        if units := [unit for unit in _units(judged) if _names(place, unit, judged)]:
            return self._failing(place, units)
        found = self._in_file(place)
        if found is not None:
            return found
        if _squeezed(place) in _squeezed(_task_text(self.brief.task)) and len(_squeezed(place)) >= _SHORTEST:
            return _Spot()
        failing = _listed(sorted(_failing_targets(judged)))
        raise ToolFault(
            "exec_error",
            f"{place!r} names no failing test, no line of one and no words of the ticket; failing: {failing}",
        )

    def _failing(self, place: str, units: Sequence[str]) -> _Spot:
        """The spot of a test, or of several, of which one is a target that fails."""
        judged = self.brief.judged
        failing = [unit for unit in units if unit in _failing_targets(judged)]
        if not failing:
            passes = all(judged.tests.get(unit) == "passed" for unit in units)
            why = "passes" if passes else "is not one of the tests that this run must turn green"
            raise ToolFault("exec_error", f"{place} {why}; failing: {_listed(sorted(_failing_targets(judged)))}")
        plain = [_plain(unit, judged) for unit in failing]
        path = plain[0].partition("::")[0]
        tests = tuple(each.partition("::")[2] for each in plain if each.startswith(f"{path}::"))
        return _Spot(path, 0, tests) if self._read(path) is not None else _Spot()

    def _in_file(self, place: str) -> _Spot | None:
        """A line of a test that fails; None if the place is not a file."""
        found = _PLACE.fullmatch(place)
        content = self._read(found["path"]) if found else None
        if found is None or content is None:
            return None
        path, line = found["path"], int(found["line"] or 0)
        if path.startswith(".sdd/") or (self.brief.task.ticket and path == self.brief.task.ticket.path):
            return _Spot()
        if line > content.count(b"\n") + 1:
            raise ToolFault("exec_error", f"{path} has no line {line}")
        judged = self.brief.judged
        failing = [_plain(unit, judged) for unit in _failing_targets(judged)]
        inside = [each for each in failing if each.partition("::")[0] == path]
        test = function_at(content, line) if line and path.endswith(".py") else None
        if test is not None and path not in inside:
            inside = [
                each for each in inside if each.partition("[")[0] in {f"{path}::{test}", f"{path}::{_above(test)}"}
            ]
        if not inside:
            what = f"{path}::{test}" if test else path
            raise ToolFault(
                "exec_error",
                f"none of the tests that this run must turn green is at {what}; failing: {_listed(failing)}",
            )
        return _Spot(path, line, (test,) if test else ())

    def _other(self, other: str) -> _Spot | None:
        """The file, line or test that is named as the obstacle; None if only words are given."""
        if not other:
            return None
        judged = self.brief.judged
        named = [_plain(unit, judged) for unit in _units(judged) if _names(other, unit, judged)]
        if named:
            path, _, test = named[0].partition("::")
            return _Spot(path, 0, (test,)) if self._read(path) is not None else None
        found = _PLACE.fullmatch(other)
        content = self._read(found["path"]) if found else None
        if found is not None and content is not None:
            line = int(found["line"] or 0)
            if line > content.count(b"\n") + 1:
                raise ToolFault("exec_error", f"{found['path']} has no line {line}")
            return _Spot(found["path"], line)
        if "::" in other or _LOOKS_LIKE_A_PATH.fullmatch(other):
            raise ToolFault("exec_error", f"no such file, line or test: {other!r}")
        return None

    def _read(self, path: str) -> bytes | None:
        tree = self.brief.tree
        return self.snapshots.read(tree, path) if path in self.snapshots.paths(tree) else None


def _is_at(spot: _Spot, path: str, line: int, test: str) -> bool:
    if path != spot.path:
        return False
    return (
        line == spot.line if spot.line else not spot.tests or any(each.partition("[")[0] == test for each in spot.tests)
    )


def _failing_targets(judged: Verification) -> frozenset[str]:
    return judged.red_units.intersection(judged.targets)


def _units(judged: Verification) -> list[str]:
    """All tests and checks that a report has, or that have to turn green."""
    return sorted({*judged.tests, *judged.targets, *judged.red_units})


def _names(place: str, unit: str, judged: Verification) -> bool:
    """Whether a place means a unit: its id, with or without parameters and path; a class; the command of a check."""
    commands = {check.name: check.command for check in judged.checks}
    plain = _plain(unit, judged)
    bare = plain.partition("[")[0]
    if place in {unit, plain, bare, commands.get(unit)}:
        return True
    return "::" in plain and (bare.endswith(f"::{place}") or (plain.startswith(f"{place}::") and "::" in place))


def _plain(unit: str, judged: Verification) -> str:
    """The id without the name of the check that is before one that two checks report."""
    name = next((check.name for check in judged.checks if unit.startswith(f"{check.name}: ")), "")
    return unit.removeprefix(f"{name}: ") if name else unit


def _task_text(task: Task) -> str:
    """The text of the goal and the ticket."""
    ticket = task.ticket
    if ticket is None:
        return task.goal
    done = (line.text for line in ticket.done)
    texts = (ticket.title, ticket.context, ticket.objective, *done, *ticket.steps, ticket.sketch, ticket.risks)
    return "\n".join((task.goal, *texts, ticket.non_goals))


def _squeezed(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _above(test: str) -> str:
    return test.rpartition("::")[0]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    some = ", ".join(names[:_SHOWN]) or "nothing"
    return f"{some} and {counted(more, 'more test')}" if more > 0 else some
