"""Plausibility of an edit that passes: by its kind, its size, and its place."""

import ast
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from kotef.repair.candidates import Candidate
from kotef.repair.rank import cost
from kotef.repair.source import FunctionNode, PythonSource, SwapUnit

RIVAL: Final = 0.4
"""An edit that costs this much more than the best is not a rival of it: it is little more than half as likely.

One unit is a factor of four (see `Operator.cost`). On the programs for tuning a bound of 0.2 accepts a wrong edit and
0.4 none; from 0.8 on a person is asked about a flipped comparison because an off by one elsewhere passes too.
"""
_AWAY: Final = 0.8
"""Cost of standing in a function that is not evaluated where the tests fail."""
_PAST: Final = 2.0
"""Cost of leaving out a call of the function in which the tests fail."""
_RAISING: Final = 2.0
"""Cost of a statement that always raises an error, which is caught."""
_CONSTANT: Final = 2.0
"""Cost of leaving a function with one result whatever it is given."""
_IDLE: Final = 2.0
"""Cost of a statement or condition that does nothing: a value assigned to itself, or compared with itself."""
_UNLIKELY: Final = 3.0
"""Cost from which on an edit that passes is wrong more often than right; measured on programs of our own."""


class Plausibility:
    """What speaks against edits, from what is known of one search."""

    def __init__(
        self, sources: Mapping[str, PythonSource], evaluated: frozenset[SwapUnit], failing: Iterable[SwapUnit]
    ) -> None:
        self._sources = sources
        self._evaluated = evaluated
        self._failing = tuple(failing)
        self._raising: list[Candidate] = []

    def note_raising(self, candidates: Iterable[Candidate]) -> None:
        """Note candidates whose edited statement always raises an error that the program catches."""
        self._raising += candidates

    def cost(self, candidate: Candidate) -> float:
        """How unlikely an edit is next to others that pass."""
        away = _AWAY if self._is_away(candidate) else 0.0
        past = _PAST if self._left_out(candidate) else 0.0
        raising = _RAISING if self._is_raising(candidate) else 0.0
        constant = _CONSTANT if self._is_constant(candidate) else 0.0
        idle = _IDLE if self._is_idle(candidate) else 0.0
        return cost(candidate, self._sources) + away + past + raising + constant + idle

    def closest(self, ranked: Sequence[Candidate]) -> list[Candidate]:
        """The first, and those that are about as plausible."""
        costs = [self.cost(candidate) for candidate in ranked]
        return [candidate for candidate, each in zip(ranked, costs, strict=True) if each <= min(costs) + RIVAL]

    def doubt(self, candidate: Candidate) -> str:
        """Why an edit that passes is rarely right; empty for most."""
        if candidate.anti or self.cost(candidate) < _UNLIKELY:
            return candidate.anti
        if self._is_constant(candidate):
            return "it makes a function return the same result for every input"
        if self._is_idle(candidate):
            return "what it changes does nothing: a value is assigned to itself or compared with itself"
        if self._is_raising(candidate):
            return "what it changes always raises an error, which is caught"
        if name := self._left_out(candidate):
            return f"it omits the call of {name}, where the tests fail"
        if len(candidate.edits) > 1:
            return "two edits at once"
        return "far from where the tests fail" if self._is_away(candidate) else "a kind of edit that is rarely right"

    def _is_raising(self, candidate: Candidate) -> bool:
        return any(candidate is known for known in self._raising)

    def _is_away(self, candidate: Candidate) -> bool:
        near = self._evaluated
        return bool(near) and any(unit is not None and unit not in near for unit in candidate.units)

    def _is_constant(self, candidate: Candidate) -> bool:
        """Whether an edit takes from a function what its result depends on: then most comparisons with it hold."""
        for edit, unit in zip(candidate.edits, candidate.units, strict=True):
            if unit is None:
                continue
            source = self._sources[edit.path]
            if constant_result(source.standalone(unit, (edit,)), unit) and not constant_result(
                source.standalone(unit, ()), unit
            ):
                return True
        return False

    def _is_idle(self, candidate: Candidate) -> bool:
        """Whether more statements or conditions do nothing than before: a deleted statement in other words."""
        for edit, unit in zip(candidate.edits, candidate.units, strict=True):
            if unit is None:
                continue
            source = self._sources[edit.path]
            if idle_parts(source.standalone(unit, (edit,))) > idle_parts(source.standalone(unit, ())):
                return True
        return False

    def _left_out(self, candidate: Candidate) -> str:
        """A function in which the tests fail and that an edit elsewhere calls less often; empty if there is none."""
        for edit, unit in zip(candidate.edits, candidate.units, strict=True):
            names = {other.node.name for other in self._failing if other != unit}
            if unit is None or not names:
                continue
            source = self._sources[edit.path]
            before, after = _called(source.standalone(unit, ())), _called(source.standalone(unit, (edit,)))
            if lost := [name for name in sorted(names) if after[name] < before[name]]:
                return lost[0]
        return ""


def constant_result(program: str, unit: SwapUnit) -> bool:
    """Whether a function that is alone returns one value, which reads neither what it is given nor its object."""
    try:
        tree = ast.parse(program)
    except (SyntaxError, RecursionError):  # it passed in an interpreter with newer syntax than ours
        return False
    function = next((node for node in ast.walk(tree) if isinstance(node, FunctionNode)), None)
    if function is None:
        return False

    value = _only_result(list(ast.walk(function)))
    if value is None:
        return False
    parameters = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    return not _reads(value, parameters | _stored([function]), unit)


def idle_parts(program: str) -> int:
    """How many assignments and conditions of a program have the same value on both sides."""
    try:
        return sum(_is_idle(node) for node in ast.walk(ast.parse(program)))
    except (SyntaxError, RecursionError):  # newer syntax than ours, or an expression that no person wrote
        return 0


def _is_idle(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
            sides = [target, value]
        case ast.Compare(left=left, comparators=[right]):
            sides = [_without_offset(left), _without_offset(right)]
        case ast.BoolOp(values=values):
            sides = list(values)
        case _:
            return False
    return len({ast.unparse(side) for side in sides}) < len(sides)


def _without_offset(side: ast.expr) -> ast.expr:
    """`n` of `n - 1`: what differs by a constant compares the same each time."""
    match side:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant()):
            return left
    return side


def _only_result(inside: Sequence[ast.AST]) -> ast.expr | None:
    """What every `return` of a function returns, which is always the same; None for a generator."""
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in inside):
        return None
    results = [node.value for node in inside if isinstance(node, ast.Return)]
    texts = {ast.dump(value) if value is not None else "" for value in results}
    return results[0] if len(texts) == 1 else None


def _stored(nodes: Iterable[ast.AST]) -> set[str]:
    parts = [part for node in nodes for part in ast.walk(node)]
    return {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _reads(value: ast.expr, given: set[str], unit: SwapUnit) -> bool:
    """Whether an expression calls something, or reads an argument, a variable, or what the class does not hold."""
    of_class = _stored(part for node in unit.outer[-1:] for part in node.body if not isinstance(part, FunctionNode))
    constant = {
        id(node.value)
        for node in ast.walk(value)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in of_class
    }
    return any(
        isinstance(node, ast.Call) or (isinstance(node, ast.Name) and node.id in given and id(node) not in constant)
        for node in ast.walk(value)
    )


def _called(program: str) -> Counter[str]:
    """How often each name is called."""
    try:
        tree = ast.parse(program)
    except (SyntaxError, RecursionError):  # it passed in an interpreter with newer syntax than ours
        return Counter()
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [node.id if isinstance(node, ast.Name) else getattr(node, "attr", "") for node in called]
    return Counter(names)
