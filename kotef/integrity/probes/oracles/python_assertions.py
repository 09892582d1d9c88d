"""Assertions of a Python test, each with the edits that make its expected result wrong."""

import ast
import builtins
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from kotef.integrity.probes.oracles.near_values import (
    alike_python,
    constant,
    random_word,
)
from kotef.integrity.probes.oracles.python_edits import PythonEdits, constants_of, replaced
from kotef.integrity.probes.oracles.python_helpers import asserted_arguments, returned_arguments
from kotef.integrity.probes.oracles.python_tests import FunctionNode, statements
from kotef.integrity.probes.oracles.python_wrappers import failure, other_object
from kotef.integrity.probes.oracles.wrong_answer import OracleEdit
from kotef.integrity.probes.source_text import line_breaks, looks_at_itself
from kotef.source import TextEdit

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
_RAISES: Final = re.compile(r"(?:^|\.)raises$|^(?:self|cls)\.assertRaises(?:Regex)?$")
_CONTROL: Final = re.compile(r"KeyboardInterrupt|Skip|XFail|BaseException|Cancelled|GeneratorExit|\bExit\b|\.exit\b")
"""Exceptions that do more to a runner than fail the test when nothing expects them."""
_UNRELATED: Final = ("BufferError", "FloatingPointError", "ReferenceError")
"""Exceptions that no class of a project inherits from, and that nothing raises on its own."""
_NEAR, _MOST_NEAR = 6, 24
"""How many near values are drawn, and how many values one assertion is compared with."""
_PART: Final = 4
"""Letters of a text that a changed one is hardly found in by chance."""
_LARGEST_RELATIVE: Final = 0.5


class PythonOracles(PythonEdits):
    """The oracles of one test."""

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
        found = list(constants_of(sides[0]))
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

    def _of_equality(self, left: ast.expr, right: ast.expr) -> OracleEdit | None:
        """Two sides that have to be equal."""
        for side in (right, left):
            if isinstance(side, ast.Call) and ast.unparse(side.func).rpartition(".")[2] == "approx":
                return self._of_approx(side)
        if _is_none(left) or _is_none(right):
            return None
        return self._literal_of_either(right, left) or self._wrapped(self._expected(left, right))

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
        has_two_values = len(call.args) >= 2  # noqa: PLR2004
        if name in _EQUAL_METHODS and has_two_values:
            first, second = call.args[:2]
            changed = None
            if not _is_none(first) and not _is_none(second):
                changed = self._literal_of_either(second, first)
            return changed or self._wrapped(self._expected(first, second))
        if name == "assertAlmostEqual" and has_two_values:
            return self._of_almost_equal(call)
        return self._of_truth_method(call, name) or self._of_turned(call, name)

    def _of_almost_equal(self, call: ast.Call) -> OracleEdit | None:
        """None where the places are not known, or are in front of the point."""
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        places = given.get("places", call.args[2] if len(call.args) > 2 else None)  # noqa: PLR2004
        digits = _number(places, 7)
        if digits is None or digits < 0:
            return None
        return self._shifted_of(call.args[0], call.args[1], _number(given.get("delta"), 1))

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
        has_literal = any(True for _ in constants_of(second))
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
            yield replaced("raises", expected, self.chance.choice(unused), self.source)

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


def _number(node: ast.expr | None, default: float) -> float | None:
    """A number that the source states; None if it is computed."""
    if node is None or _is_none(node):
        return default
    value = constant(node)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
