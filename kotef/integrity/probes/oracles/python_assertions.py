"""Assertions of a Python test, each with the edits that make its expected result wrong."""

import ast
import builtins
import math
import random
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from kotef.integrity.probes.oracles.near_values import (
    alike_python,
    constant,
    near_python,
    other_character,
    random_word,
    shifted_number,
)
from kotef.integrity.probes.oracles.python_helpers import Find, asserted_arguments, returned_arguments
from kotef.integrity.probes.oracles.python_origins import origin_of
from kotef.integrity.probes.oracles.python_tables import Cells, TableLookup
from kotef.integrity.probes.oracles.python_tests import FunctionNode, PythonTest, bound_names, statements
from kotef.integrity.probes.oracles.python_wrappers import NEEDED, failure, other_object, unequal
from kotef.integrity.probes.oracles.wrong_answer import OracleEdit, OracleKind
from kotef.integrity.probes.source_text import SourceText, TextEdit, line_breaks, looks_at_itself
from kotef.integrity.tampering.python_names import Names

_EQUAL_METHODS: Final = frozenset(
    {"assertEqual", "assertEquals", "assertListEqual", "assertTupleEqual", "assertDictEqual", "assertSetEqual",
     "assertSequenceEqual", "assertMultiLineEqual", "assertCountEqual"}
)  # fmt: skip
_OPPOSITES: Final = (
    ("assertIsNone", "assertIsNotNone"),
    ("assertIs", "assertIsNot"),
    ("assertIn", "assertNotIn"),
    ("assertIsInstance", "assertNotIsInstance"),
    ("assertGreater", "assertLessEqual"),
    ("assertLess", "assertGreaterEqual"),
    ("assertRegex", "assertNotRegex"),
    ("assertTrue", "assertFalse"),
    ("assert_called", "assert_not_called"),
)
_TURNED: Final = {one: other for pair in _OPPOSITES for one, other in (pair, pair[::-1])}
_TURNED_ARGUMENTS: Final = {
    "assertTrue": 1, "assertFalse": 1, "assertIsNone": 1, "assertIsNotNone": 1,
    "assert_called": 0, "assert_not_called": 0,
}  # fmt: skip
"""How many arguments they take besides a message; the others take two."""
_EXACT_ARRAYS: Final = frozenset({"assert_equal", "assert_array_equal", "assert_string_equal"})
_CLOSE_ARRAYS: Final = frozenset({"assert_allclose", "assert_almost_equal", "assert_array_almost_equal"})
_ARRAYS: Final = re.compile(r"(?:np|numpy|jnp)\.(?:array|asarray)$|^(?:array|asarray)$")
_HOLDERS: Final = re.compile(
    r"^(?:json\.dumps|(?:decimal\.)?Decimal|(?:fractions\.)?Fraction|list|tuple|sorted|str|repr)$"
)
"""Calls that tell any two values of their first argument apart."""
_RAISES: Final = re.compile(r"(?:^|\.)raises$|^(?:self|cls)\.assertRaises(?:Regex)?$")
_CONTROL: Final = re.compile(r"KeyboardInterrupt|Skip|XFail|BaseException|Cancelled|GeneratorExit|\bExit\b|\.exit\b")
"""Exceptions that do more to a runner than fail the test when nothing expects them."""
_UNRELATED: Final = ("BufferError", "FloatingPointError", "ReferenceError")
"""Exceptions that no class of a project inherits from, and that nothing raises on its own."""
_EXPECTED_NAME: Final = re.compile(r"(?i)expect|want|\bexp\b|should|golden|reference|answer")
Near = Callable[[ast.expr, str, Collection[object], random.Random], str | None]
"""From a constant, its text and other constants to another text, or None."""
_NEAR, _MOST_NEAR = 6, 24
"""How many near values are drawn, and how many values one assertion is compared with."""
_PART: Final = 4
"""Letters of a text that a changed one is hardly found in by chance."""
_LARGEST_RELATIVE: Final = 0.5
_MAX_TRIALS: Final = 12


@dataclass
class PythonOracles:
    """The oracles of one test."""

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

    def all(self) -> Iterator[OracleEdit]:
        """Each oracle, in the order of the source."""
        for function in self._functions:
            for statement in statements(function.body):
                yield from self._of_statement(statement)

    def _of_statement(self, statement: ast.stmt) -> Iterator[OracleEdit]:
        match statement:
            case ast.Assert(test=test):
                for part in _conjuncts(test):
                    yield from self._halted(self._of_truth(part), test, "({breaks}False)")
                    yield from self._halted(self._of_near(part), test, "({breaks}False)")
            case ast.Expr(value=ast.Call() as call):
                yield from self._halted(self._of_call(call), call, "")
                yield from self._halted(self._of_helper(call), call, "")
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    if isinstance(item.context_expr, ast.Call):
                        found = (
                            *self._of_raises(item.context_expr),
                            *self._of_thrown(item.context_expr, statement.body),
                        )
                        yield from self._halted(iter(found), item.context_expr, "")
            case _:
                pass

    def _of_helper(self, call: ast.Call) -> Iterator[OracleEdit]:
        """A literal that a function of the project compares for the test."""
        helper = self._helper(call.func)
        if helper is not None:
            yield from self._of_arguments(asserted_arguments(call, helper))

    def _helper(self, called: ast.expr) -> FunctionNode | None:
        """The function of the project that is called; None if it is not surely known."""
        name = ast.unparse(called)
        beside = next((helper for helper in self.test.helpers if name in {helper.name, f"self.{helper.name}"}), None)
        return beside or (self.find(name) if isinstance(called, ast.Name | ast.Attribute) else None)

    def _of_arguments(self, compared: Iterator[ast.expr]) -> Iterator[OracleEdit]:
        for argument in compared:
            found = self._literal_of_either(argument)
            if found is not None:
                yield found

    def _halted(self, oracles: Iterator[OracleEdit], whole: ast.expr, form: str) -> Iterator[OracleEdit]:
        """The same with the failure that stands in the place of the whole."""
        start, end = self.source.span(whole)
        breaks = line_breaks(self.source.text[start:end])
        text = form.format(breaks=breaks) if form else failure(breaks)
        can_fail = form or "AssertionError" not in self._bound
        for oracle in oracles:
            yield replace(oracle, halt=(TextEdit(start, end, text),) if can_fail else ())

    # -- assert

    def _of_truth(self, test: ast.expr) -> Iterator[OracleEdit]:
        """An expression that has to be true."""
        found: OracleEdit | None = None
        match test:
            case ast.Compare() if (pair := _equal_pair(test)) is not None:
                found = self._of_equality(*pair)
            case ast.UnaryOp(op=ast.Not(), operand=ast.Compare(ops=[ast.NotEq()]) as pair_of_equals):
                found = self._of_equality(pair_of_equals.left, pair_of_equals.comparators[0])
            case ast.Compare(ops=[ast.Is()], comparators=[ast.Constant(value=bool()) as expected]):
                found = self._literal(expected)
            case ast.Compare(ops=[ast.Is()], comparators=[expected]) if not isinstance(expected, ast.Constant):
                found = self._around("wrapped", expected, other_object(self.chance)) if self._may_wrap else None
            case ast.Compare(left=ast.Constant(value=str(text)) as part, ops=[ast.In()]) if self._is_part(text):
                found = self._literal(part)
            case ast.Compare(left=ast.Call(func=ast.Name(id="abs")) as size, ops=[ast.Lt() | ast.LtE()]):
                found = self._of_distance(size, test.comparators[0])
            case ast.Call(func=function) if self._names.of(function) in {"math.isclose", "cmath.isclose"}:
                found = self._of_isclose(test)
            case ast.Call(func=ast.Attribute(value=ast.Compare(ops=[ast.Eq()]) as pair_of_arrays, attr="all"), args=[]):
                found = self._literal_of_either(pair_of_arrays.comparators[0], pair_of_arrays.left)
            case ast.Call(func=function) if (helper := self._helper(function)) is not None:
                found = next(self._of_arguments(returned_arguments(test, helper)), None)
            case _:
                pass
        yield found or self._around("condition", test, ("(not (", "))"))

    def _is_part(self, text: str) -> bool:
        """Whether a text like this one is surely not found where this one is."""
        return len(text) >= _PART and not looks_at_itself(self.source.text)

    def _of_near(self, test: ast.expr) -> Iterator[OracleEdit]:
        """The value has to be equal to one of many that are like the expected one."""
        match test:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]) if self._may_wrap and self._is_wrong:
                sides = sorted((left, right), key=self._rank)
            case _:
                return
        expected, value = (self.source.segment(side) for side in sides)
        found = list(_constants_of(sides[0]))
        if not found or "\n" in expected + value or "any" in self._bound:
            return
        texts = {self._with_other(sides[0], node, text) for node, _ in found for text in alike_python(node)}
        near = [self._literal(sides[0]) for _ in range(_NEAR)]
        texts |= {self._applied(sides[0], each) for each in near if each}
        start, end = self.source.span(test)
        others = ", ".join(sorted(texts)[:_MOST_NEAR])
        if others:
            text = f"(lambda v: any(v == w for w in [{others}]))({value})"
            yield OracleEdit("near", (TextEdit(start, end, text),))

    def _with_other(self, side: ast.expr, node: ast.expr, text: str) -> str:
        return self._applied(side, _replaced("literal", node, text, self.source))

    def _applied(self, side: ast.expr, oracle: OracleEdit) -> str:
        """The text of a side with edits inside of it."""
        start, end = self.source.span(side)
        changed = self.source.edited(oracle.edits).text
        return changed[start : end + len(changed) - len(self.source.text)]

    def _of_equality(self, left: ast.expr, right: ast.expr) -> OracleEdit | None:
        """Two sides that have to be equal."""
        for side in (right, left):
            if isinstance(side, ast.Call) and ast.unparse(side.func).rpartition(".")[2] == "approx":
                return self._of_approx(side)
        if _is_none(left) or _is_none(right):
            return None
        return self._literal_of_either(right, left) or self._wrapped(self._expected(left, right))

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

    # -- what is changed

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
        found = list(_constants_of(side))
        self.chance.shuffle(found)
        for node, siblings in found:
            for _ in range(_MAX_TRIALS if siblings else 1):
                text = self.near(node, source.segment(node), self._constants, self.chance)
                if text is not None and not (self._is_wrong and _is_among(text, siblings)):
                    return _replaced("literal", node, text, source)
        if not self._is_wrong:
            return None
        number = self.chance.randint(2, 97)
        filled = {"[]": f"[{number}]", "()": f"({number},)", "{}": f'{{"{number}": {number}}}'}
        if source is not self.source:  # JSON
            filled |= {"true": "false", "false": "true", "null": f"{number}"}
        segment = source.segment(side)
        return _replaced("literal", side, filled[segment], source) if segment in filled else None

    def _wrapped(self, side: ast.expr, kind: OracleKind = "wrapped", tolerance: float = 0) -> OracleEdit | None:
        if not self._may_wrap or isinstance(side, ast.Starred | ast.NamedExpr):
            return None
        return self._around(kind, side, unequal(self.chance, tolerance))

    def _shifted(self, side: ast.expr, tolerance: float) -> OracleEdit | None:
        """A number moved by far more than the tolerance, or an expression whose value is moved."""
        origin = origin_of(side, self.source, self.tree, self.test)

        def shifted(literal: ast.expr, source: SourceText) -> OracleEdit | None:
            found = [node for node, _ in _constants_of(literal) if type(constant(node)) in {int, float}]
            node = self.chance.choice(found) if found else None
            text = shifted_number(source.segment(node), tolerance, self.chance) if node else None
            return _replaced("tolerance", node, text, source) if node and text is not None else None

        changed = shifted(origin.literal if origin else side, self.source)
        if changed is not None:
            return OracleEdit("tolerance", (*changed.edits, *(origin.kept if origin else ())))
        return self._in_table(side, shifted) or self._wrapped(side, "tolerance", tolerance)

    def _shifted_of(self, left: ast.expr, right: ast.expr, tolerance: float | None) -> OracleEdit | None:
        return None if tolerance is None else self._shifted(self._expected(left, right), tolerance)

    def _around(self, kind: OracleKind, node: ast.expr, ends: tuple[str, str]) -> OracleEdit:
        start, end = self.source.span(node)
        return OracleEdit(kind, (TextEdit(start, start, ends[0]), TextEdit(end, end, ends[1])))

    # -- tolerances

    def _of_approx(self, call: ast.Call) -> OracleEdit | None:
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        relative, absolute = (
            _number(given.get(name, call.args[at] if len(call.args) > at else None), default)
            for name, at, default in (("rel", 1, 0), ("abs", 2, 0))
        )
        expected = call.args[0] if call.args else given.get("expected")
        if expected is None or relative is None or absolute is None or relative > _LARGEST_RELATIVE:
            return None
        return self._shifted(expected, absolute)

    def _of_isclose(self, call: ast.Call) -> OracleEdit | None:
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        relative, absolute = (_number(given.get(name), 0) for name in ("rel_tol", "abs_tol"))
        if len(call.args) != 2 or relative is None or relative > _LARGEST_RELATIVE:  # noqa: PLR2004 - two values
            return None
        return self._shifted_of(call.args[0], call.args[1], absolute)

    def _of_distance(self, size: ast.Call, limit: ast.expr) -> OracleEdit | None:
        match size.args:
            case [ast.BinOp(left=left, op=ast.Sub(), right=right)]:
                return self._shifted_of(left, right, _number(limit, 0))
            case _:
                return None

    # -- calls

    def _of_call(self, call: ast.Call) -> Iterator[OracleEdit]:
        """A call that is a statement of its own."""
        name = ast.unparse(call.func)
        last = name.rpartition(".")[2]
        is_method = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
        found: OracleEdit | None = None
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            return
        if is_method and name.startswith("self."):
            found = None if self._is_defined_here(last) else self._of_method(call, last)
        elif self._names.of(call.func).startswith("numpy.testing."):
            found = self._of_array(call, last)
        elif last in {"assert_called_with", "assert_called_once_with"}:
            found = self._literal_argument(call)
        elif last in {"assert_called", "assert_not_called"} and isinstance(call.func, ast.Attribute):
            found = self._of_turned(call, last)
        if found is not None:
            yield found
        yield from self._of_raises(call)

    def _is_defined_here(self, name: str) -> bool:
        return name in self._bound or "addTypeEqualityFunc" in self.source.text

    def _of_method(self, call: ast.Call, name: str) -> OracleEdit | None:
        """A method of `unittest.TestCase`."""
        if name in _EQUAL_METHODS and len(call.args) >= 2:  # noqa: PLR2004 - two values
            first, second = call.args[:2]
            if _is_none(first) or _is_none(second):
                return self._wrapped(self._expected(first, second))
            return self._literal_of_either(second, first) or self._wrapped(self._expected(first, second))
        if name == "assertAlmostEqual" and len(call.args) >= 2:  # noqa: PLR2004
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            places = given.get("places", call.args[2] if len(call.args) > 2 else None)  # noqa: PLR2004
            is_fine = (_number(places, 7) or 0) >= 0 and (places is None or _number(places, 7) is not None)
            return self._shifted_of(call.args[0], call.args[1], _number(given.get("delta"), 1)) if is_fine else None
        return self._of_truth_method(call, name) or self._of_turned(call, name)

    def _of_truth_method(self, call: ast.Call, name: str) -> OracleEdit | None:
        """`assertTrue(a == b)` and `assertFalse(a != b)`; None if there is only a condition to turn."""
        match name, call.args:
            case "assertTrue", [test, *_]:
                found = next(self._of_truth(next(_conjuncts(test))))
                return found if found.kind != "condition" else None
            case "assertIn", [ast.Constant(value=str(text)) as part, _, *_] if self._is_part(text):
                return self._literal(part)
            case "assertFalse", [ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]), *_]:
                return self._of_equality(left, right)
            case _:
                return None

    def _of_turned(self, call: ast.Call, name: str) -> OracleEdit | None:
        """The opposite method, which fails where this one passes."""
        if name not in _TURNED or len(call.args) < _TURNED_ARGUMENTS.get(name, 2):
            return None
        _, end = self.source.span(call.func)
        return OracleEdit("condition", (TextEdit(end - len(name), end, _TURNED[name]),))

    def _of_array(self, call: ast.Call, name: str) -> OracleEdit | None:
        """A function of `numpy.testing`; only literals are changed, because arrays may be empty, or broadcast."""
        if len(call.args) < 2:  # noqa: PLR2004
            return None
        first, second = call.args[:2]
        if name in _EXACT_ARRAYS:
            return self._literal_of_either(second, first)
        if name not in _CLOSE_ARRAYS or len(call.args) > 2:  # noqa: PLR2004
            return None
        given = {keyword.arg: _number(keyword.value, 0) for keyword in call.keywords}
        is_known = all(given.get(limit, 0) is not None for limit in ("rtol", "atol", "decimal"))
        has_literal = any(True for _ in _constants_of(second))
        if not is_known or not has_literal or (given.get("rtol") or 0) > _LARGEST_RELATIVE:
            return None
        return self._shifted(second, (given.get("atol") or 0) + 2)

    def _literal_argument(self, call: ast.Call) -> OracleEdit | None:
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        return next((oracle for value in values if (oracle := self._literal(value))), None)

    def _of_raises(self, call: ast.Call) -> Iterator[OracleEdit]:
        """`raises` and its likes with an exception that the test does not raise."""
        if not _RAISES.search(ast.unparse(call.func)) or not call.args:
            return
        expected = call.args[0]
        unused = [name for name in _UNRELATED if name not in self.source.text]
        if unused and not _CONTROL.search(ast.unparse(expected)):
            yield _replaced("raises", expected, self.chance.choice(unused), self.source)

    def _of_thrown(self, call: ast.Call, body: Sequence[ast.stmt]) -> Iterator[OracleEdit]:
        """A new exception, raised where the test expects one of the project's own."""
        name = ast.unparse(call.args[0]) if call.args else ""
        is_own = re.fullmatch(r"[A-Za-z_][\w.]*", name) and not hasattr(builtins, name) and not _CONTROL.search(name)
        is_simple = isinstance(body[0], ast.Expr | ast.Assign | ast.Raise | ast.Assert | ast.Delete)
        if (
            not _RAISES.search(ast.unparse(call.func))
            or not is_own
            or not is_simple
            or {"type", "Exception"} & self._bound
        ):
            return
        start, _ = self.source.span(body[0])
        thrown = f'raise type("{random_word(self.chance).title()}", (Exception,), {{}}); '
        yield OracleEdit("thrown", (TextEdit(start, start, thrown),))


def _replaced(kind: OracleKind, node: ast.expr, text: str, source: SourceText) -> OracleEdit:
    start, end = source.span(node)
    return OracleEdit(kind, (TextEdit(start, end, text),))


def _conjuncts(test: ast.expr) -> Iterator[ast.expr]:
    """Expressions that each have to be true."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for value in test.values:
            yield from _conjuncts(value)
    else:
        yield test


def _equal_pair(test: ast.Compare) -> tuple[ast.expr, ast.expr] | None:
    """The two sides of the last `==` of a comparison."""
    sides = [test.left, *test.comparators]
    pairs = [(sides[at], sides[at + 1]) for at, operator in enumerate(test.ops) if isinstance(operator, ast.Eq)]
    return pairs[-1] if pairs else None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _constants_of(node: ast.expr) -> Iterator[tuple[ast.expr, Sequence[object]]]:
    """Constants of which each decides what the literal is equal to, with those that it must not become.

    An element of a set must not become another one; a value of a dictionary counts where no later key can replace it.
    """
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            for element in elements:
                yield from _constants_of(element)
        case ast.Set(elts=elements):
            members = [constant(element) for element in elements]
            if None not in members and len(set(members)) == len(members):
                for element in elements:
                    yield element, members
        case ast.Dict(keys=keys, values=values):
            known = [constant(key) for key in keys if key is not None and constant(key) is not None]
            if len(known) == len(keys) == len(set(known)):
                for value in values:
                    yield from _constants_of(value)
        case ast.Call(func=function, args=[inner, *_]) if _ARRAYS.search(ast.unparse(function)):
            yield from _constants_of(inner)
        case _ if constant(node) is not None:
            yield node, ()
        case _:
            pass


def _is_among(text: str, values: Collection[object]) -> bool:
    return bool(values) and any(ast.literal_eval(text) == value for value in values)


def _number(node: ast.expr | None, default: float) -> float | None:
    """A number that the source states; None if it is computed."""
    if node is None or _is_none(node):
        return default
    value = constant(node)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


@lru_cache(maxsize=4)
def _names_of(tree: ast.Module) -> Names:
    return Names(tree)
