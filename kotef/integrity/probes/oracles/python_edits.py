"""Edits of what a Python test expects: of a literal, behind a name, in a table, or around an expression."""

import ast
import random
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from kotef.integrity.probes.oracles.near_values import (
    constant,
    near_python,
    other_character,
    shifted_number,
)
from kotef.integrity.probes.oracles.python_helpers import Find
from kotef.integrity.probes.oracles.python_origins import origin_of
from kotef.integrity.probes.oracles.python_tables import Cells, TableLookup
from kotef.integrity.probes.oracles.python_tests import PythonTest, bound_names
from kotef.integrity.probes.oracles.python_wrappers import NEEDED, unequal
from kotef.integrity.probes.oracles.wrong_answer import OracleEdit, OracleKind
from kotef.integrity.tampering.python_names import Names
from kotef.source import SourceText, TextEdit

_ARRAYS: Final = re.compile(r"(?:np|numpy|jnp)\.(?:array|asarray)$|^(?:array|asarray)$")
_HOLDERS: Final = re.compile(
    r"^(?:json\.dumps|(?:decimal\.)?Decimal|(?:fractions\.)?Fraction|list|tuple|sorted|str|repr)$"
)
"""Calls that tell any two values of their first argument apart."""
_EXPECTED_NAME: Final = re.compile(r"(?i)expect|want|\bexp\b|should|golden|reference|answer")
Near = Callable[[ast.expr, str, Collection[object], random.Random], str | None]
"""From a constant, its text and other constants to another text, or None."""
_MAX_TRIALS: Final = 12


@dataclass
class PythonEdits:
    """What of one test can be expected, and what it is exchanged for."""

    source: SourceText
    tree: ast.Module
    test: PythonTest
    chance: random.Random
    find: Find = lambda _: None
    """What a name that the test calls, and does not define, stands for."""
    tables: TableLookup | None = None
    """Where expected values are looked for that are in tables and files; None: nowhere."""
    near: Near = near_python
    """What a literal is exchanged for; something else than a near value makes no answer wrong."""
    _may_wrap: bool = field(init=False)
    _bound: frozenset[str] = field(init=False)
    _names: Names = field(init=False)
    _constants: list[object] = field(init=False)
    _literal_names: set[str] = field(init=False, default_factory=set)
    _called_names: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self._bound = bound_names(self.tree)
        self._may_wrap = not NEEDED & self._bound
        self._names = _names_of(self.tree)
        nodes = [node for function in self._functions for node in ast.walk(function)]
        self._constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
        for node in nodes:
            if isinstance(node, ast.Assign):
                found = {target.id for target in node.targets if isinstance(target, ast.Name)}
                called = any(isinstance(part, ast.Call) for part in ast.walk(node.value))
                (self._called_names if called else self._literal_names).update(found)

    @property
    def _is_wrong(self) -> bool:
        return self.near is near_python

    @property
    def _functions(self) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
        return (self.test.function, *self.test.helpers)

    def _with_other(self, side: ast.expr, node: ast.expr, text: str) -> str:
        return self._applied(side, replaced("literal", node, text, self.source))

    def _applied(self, side: ast.expr, oracle: OracleEdit) -> str:
        """The text of a side with edits inside of it."""
        start, end = self.source.span(side)
        changed = self.source.edited(oracle.edits).text
        return changed[start : end + len(changed) - len(self.source.text)]

    def _expected(self, left: ast.expr, right: ast.expr) -> ast.expr:
        return left if self._rank(left) < self._rank(right) else right

    def _rank(self, node: ast.expr) -> int:
        """How likely a side is the result of the product: a literal is not, a call is."""
        match node:
            case ast.Constant() | ast.List() | ast.Tuple() | ast.Dict() | ast.Set():
                return 0
            case ast.Name(id=name) if _EXPECTED_NAME.search(name):
                return 1
            case ast.Name(id=name) if name in self._called_names:
                return 4
            case ast.Name(id=name) if name in self._literal_names:
                return 1
            case ast.Name() | ast.JoinedStr():
                return 2
            case _:
                return 5 if any(isinstance(part, ast.Call) for part in ast.walk(node)) else 3

    def _literal_of_either(self, *sides: ast.expr) -> OracleEdit | None:
        """A literal that is in one of two sides, if only in one."""
        ranked = sorted(sides, key=self._rank)
        found = next((oracle for side in ranked if (oracle := self._literal(side))), None)
        found = found or next((oracle for side in ranked if (oracle := self._literal_elsewhere(side))), None)
        return found or next((oracle for side in ranked if (oracle := self._held(side))), None)

    def _held(self, side: ast.expr) -> OracleEdit | None:
        """The literal in a call that distinguishes any two, as `json.dumps({"a": 1})`."""
        match side:
            case ast.Call(func=function, args=[inner, *_]) if _HOLDERS.search(ast.unparse(function)):
                return self._literal(inner)
            case _:
                return None

    def _literal_elsewhere(self, side: ast.expr) -> OracleEdit | None:
        """The literal that a name stands for."""
        origin = origin_of(side, self.source, self.tree, self.test)
        if origin is None:
            return self._in_table(side, self._literal)
        changed = self._literal(origin.literal)
        return OracleEdit("literal", (*changed.edits, *origin.kept)) if changed else None

    def _in_table(
        self, side: ast.expr, change: Callable[[ast.expr, SourceText], OracleEdit | None]
    ) -> OracleEdit | None:
        """Every value that a side takes in a loop, or that it has from a file, made wrong."""
        cells = self.tables.cells(side) if self.tables else None
        if cells is None:
            return None
        if not cells.nodes:
            return self._other_text(cells)
        source = cells.beside.source if cells.beside else self.source
        changed = [change(node, source) for node in cells.nodes]
        edits = tuple(edit for each in changed if each for edit in each.edits)
        kind: OracleKind = "golden" if cells.beside else "literal"
        return OracleEdit(kind, edits, beside=cells.beside) if all(changed) else None

    def _other_text(self, cells: Cells) -> OracleEdit | None:
        """A letter or digit of a whole file made another."""
        text = cells.beside.source.text if cells.beside else ""
        places = [at for at, sign in enumerate(text) if sign.isascii() and sign.isalnum()]
        if not places:
            return None
        at = self.chance.choice(places)
        return OracleEdit(
            "golden", (TextEdit(at, at + 1, other_character(text[at], self.chance)),), beside=cells.beside
        )

    def _literal(self, side: ast.expr, source: SourceText | None = None) -> OracleEdit | None:
        """One constant of a literal exchanged for a near one; an empty container gets an element."""
        source = source or self.source
        found = list(constants_of(side))
        self.chance.shuffle(found)
        for node, siblings in found:
            for _ in range(_MAX_TRIALS if siblings else 1):
                text = self.near(node, source.segment(node), self._constants, self.chance)
                if text is not None and not (self._is_wrong and _is_among(text, siblings)):
                    return replaced("literal", node, text, source)
        if not self._is_wrong:
            return None
        number = self.chance.randint(2, 97)
        filled = {"[]": f"[{number}]", "()": f"({number},)", "{}": f'{{"{number}": {number}}}'}
        if source is not self.source:  # JSON
            filled |= {"true": "false", "false": "true", "null": f"{number}"}
        segment = source.segment(side)
        return replaced("literal", side, filled[segment], source) if segment in filled else None

    def _wrapped(self, side: ast.expr, kind: OracleKind = "wrapped", tolerance: float = 0) -> OracleEdit | None:
        if not self._may_wrap or isinstance(side, ast.Starred | ast.NamedExpr):
            return None
        return self._around(kind, side, unequal(self.chance, tolerance))

    def _shifted(self, side: ast.expr, tolerance: float) -> OracleEdit | None:
        """A number moved by far more than the tolerance, or an expression whose value is moved."""
        origin = origin_of(side, self.source, self.tree, self.test)

        def shifted(literal: ast.expr, source: SourceText) -> OracleEdit | None:
            found = [node for node, _ in constants_of(literal) if type(constant(node)) in {int, float}]
            node = self.chance.choice(found) if found else None
            text = shifted_number(source.segment(node), tolerance, self.chance) if node else None
            return replaced("tolerance", node, text, source) if node and text is not None else None

        changed = shifted(origin.literal if origin else side, self.source)
        if changed is not None:
            return OracleEdit("tolerance", (*changed.edits, *(origin.kept if origin else ())))
        return self._in_table(side, shifted) or self._wrapped(side, "tolerance", tolerance)

    def _shifted_of(self, left: ast.expr, right: ast.expr, tolerance: float | None) -> OracleEdit | None:
        return None if tolerance is None else self._shifted(self._expected(left, right), tolerance)

    def _around(self, kind: OracleKind, node: ast.expr, ends: tuple[str, str]) -> OracleEdit:
        start, end = self.source.span(node)
        return OracleEdit(kind, (TextEdit(start, start, ends[0]), TextEdit(end, end, ends[1])))


def replaced(kind: OracleKind, node: ast.expr, text: str, source: SourceText) -> OracleEdit:
    """Another text in the place of a node."""
    start, end = source.span(node)
    return OracleEdit(kind, (TextEdit(start, end, text),))


def constants_of(node: ast.expr) -> Iterator[tuple[ast.expr, Sequence[object]]]:
    """Constants of which each decides what the literal is equal to, with those that it must not become.

    An element of a set must not become another one; a value of a dictionary counts where no later key can replace it.
    """
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            for element in elements:
                yield from constants_of(element)
        case ast.Set(elts=elements):
            members = [constant(element) for element in elements]
            if None not in members and len(set(members)) == len(members):
                for element in elements:
                    yield element, members
        case ast.Dict(keys=keys, values=values):
            known = [constant(key) for key in keys if key is not None and constant(key) is not None]
            if len(known) == len(keys) == len(set(known)):
                for value in values:
                    yield from constants_of(value)
        case ast.Call(func=function, args=[inner, *_]) if _ARRAYS.search(ast.unparse(function)):
            yield from constants_of(inner)
        case _ if constant(node) is not None:
            yield node, ()
        case _:
            pass


def _is_among(text: str, values: Collection[object]) -> bool:
    return bool(values) and any(ast.literal_eval(text) == value for value in values)


@lru_cache(maxsize=4)
def _names_of(tree: ast.Module) -> Names:
    return Names(tree)
