"""The statements of one Python test, read in order for as long as each is understood with certainty."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kotef.integrity.probes.expectations.canonical_form import CanonicalForm, UnknownError, origin_in
from kotef.integrity.probes.expectations.expectation import Expectation, Relation, literal
from kotef.integrity.probes.expectations.python_product import Product
from kotef.integrity.probes.expectations.python_purity import ModuleScope, bound_by

EQUAL: Final = frozenset(
    "assertEqual assertEquals assertIs assertListEqual assertDictEqual assertTupleEqual assertSetEqual "  # noqa: SIM905
    "assertMultiLineEqual assertSequenceEqual".split()
)
"""Methods of unittest that pass if two values are equal."""
NOT_EQUAL: Final = frozenset({"assertNotEqual", "assertNotEquals"})
"""And those that pass if they are not."""


@dataclass(frozen=True, slots=True)
class TestStart:
    """Where the statements of a test begin."""

    __test__ = False  # the name is not a test of ours

    path: str
    test: str
    """Parts of its id below the file."""
    function: ast.FunctionDef
    is_unittest: bool
    given: Mapping[str, ast.expr]
    """Parameters, with the literals of one row."""
    where: str
    """What the tests of one group of modules have in common before their first statement."""
    line: int = 0
    """Line of the row; 0 without one: then the line of the assertion counts."""


class StatementWalk:
    """The expectations of a test, found on the way through its body."""

    def __init__(self, start: TestStart, scope: ModuleScope, product: Product) -> None:
        """Nothing is read yet."""
        self.start = start
        body = start.function.body
        nodes = [node for statement in body for node in ast.walk(statement)]
        read = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        bound = [name for statement in body for name in bound_by(statement)]
        self.form = CanonicalForm(start.path, scope, product, bound, read, values=dict(start.given))
        self._pending: tuple[str, ast.expr] | None = None
        """A name that was bound to a call, which is read once: by the next statement, or later."""
        self._history: list[str] = []
        self._seen: set[str] = set()
        self._is_pure = True
        self._found: list[Expectation] = []

    def expectations(self) -> list[Expectation]:
        """Those up to the first statement that is not understood."""
        try:
            for statement in self.start.function.body:
                self._settle(statement)
                self._take(statement)
        except UnknownError:
            pass
        return self._found

    def _settle(self, statement: ast.stmt) -> None:
        """A call whose result the next statement does not read was evaluated before it."""
        if self._pending is None:
            return
        name, value = self._pending
        self._pending = None
        reads = any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(statement))
        if not reads:
            del self.form.values[name]
            self._store(name, value)

    def _take(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case ast.Import() | ast.ImportFrom():
                for name in bound_by(statement):
                    self.form.imports[name] = origin_in(statement, name, self.start.path)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._assign(name, value)
            case ast.Assert(test=test):
                self._assert(test, statement.lineno)
            case ast.With(items=[ast.withitem(context_expr=ast.Call() as guard)], body=[ast.Expr(value=call)]):
                self._raises(guard, call, call.lineno)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)) as call):
                self._unittest(name, call)
            case ast.Expr(value=ast.Call() as call):
                self._evaluate(call)
            case _:
                raise UnknownError

    def _assign(self, name: str, value: ast.expr) -> None:
        bound, read = list(self.form.bound).count(name), list(self.form.read).count(name)
        if bound != 1 or name in self.start.given:
            raise UnknownError
        self.form.of(value)
        if read <= 1:
            self.form.values[name] = value
        if read > 1:
            self._store(name, value)
        elif literal(value) is None:
            self._pending = (name, value)

    def _store(self, name: str, value: ast.expr) -> None:
        """The value of a name that is read more than once, or later."""
        text = self._evaluate(value)
        if not self._history or self._history[-1] != text:
            self._history.append(text)
        self.form.variables[name] = f"v{len(self.form.variables)}"
        self._history[-1] = f"{self.form.variables[name]} = {text}"

    def _assert(self, test: ast.expr, line: int) -> None:
        match test:
            case ast.BoolOp(op=ast.And(), values=values):
                for value in values:
                    self._assert(value, line)
            case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
                self._equality(left, right, "==", line)
            case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]):
                self._equality(left, right, "!=", line)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._expect(operand, "false", None, line)
            case ast.Call() | ast.Name() | ast.Attribute() | ast.Subscript():
                self._expect(test, "true", None, line)
            case _:
                self._evaluate(test)

    def _unittest(self, name: str, call: ast.Call) -> None:
        if not self.start.is_unittest or any(keyword.arg != "msg" for keyword in call.keywords):
            raise UnknownError
        line = call.lineno
        match call.args:
            case [left, right, *_] if name in EQUAL:
                self._equality(left, right, "==", line)
            case [left, right, *_] if name in NOT_EQUAL:
                self._equality(left, right, "!=", line)
            case [value, *_] if name in {"assertTrue", "assertFalse"}:
                self._expect(value, "true" if name == "assertTrue" else "false", None, line)
            case [value, *_] if name == "assertIsNone":
                self._expect(value, "==", ast.Constant(None), line)
            case _:
                raise UnknownError

    def _raises(self, guard: ast.Call, call: ast.expr, line: int) -> None:
        """`with pytest.raises(KeyError): total("x")`."""
        match guard:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr="assertRaises"), args=[error, *_]):
                known = self.start.is_unittest
            case ast.Call(func=called, args=[error, *_]):
                known = self.form.origin(called) == "pytest.raises"
            case _:
                known = False
                error = guard
        if not known:
            raise UnknownError
        self._expect(call, "raises", error, line)

    def _equality(self, left: ast.expr, right: ast.expr, relation: Relation, line: int) -> None:
        left_literal, right_literal = self.form.literal(left), self.form.literal(right)
        if left_literal is None and right_literal is not None:
            self._expect(left, relation, right_literal, line)
        elif right_literal is None and left_literal is not None:
            self._expect(right, relation, left_literal, line)
        else:
            self._evaluate(left)
            self._evaluate(right)

    def _expect(self, subject: ast.expr, relation: Relation, expected: ast.expr | None, line: int) -> None:
        """One expectation, and the evaluation that goes with it."""
        whole = self.form.inserted(subject)
        text = self.form.of(subject)
        before, was_pure = tuple(self._history), self._is_pure
        self._evaluate(subject)
        value = literal(expected) if expected is not None and relation != "raises" else (None,)
        calls = [node for node in ast.walk(whole) if isinstance(node, ast.Call)]
        if not calls or value is None or self.form.has_state(subject):
            return
        expectation = Expectation(
            path=self.start.path,
            line=self.start.line or line,
            test=self.start.test,
            key=_key((self.start.where, *before, text)),
            shown=ast.unparse(whole),
            relation=relation,
            value=value[0],
            expected=ast.unparse(expected) if expected is not None else "",
        )
        self._found.append(expectation)
        if was_pure and self._is_pure:
            key = _key((self.start.where, "pure", text))
            self._found.append(replace(expectation, key=key, is_repeated=text in self._seen))
        self._seen.add(text)

    def _evaluate(self, node: ast.expr) -> str:
        """The canonical form of an expression that is evaluated now."""
        text = self.form.of(node)
        if any(isinstance(inner, ast.Call) for inner in ast.walk(self.form.inserted(node))):
            self._history.append(text)
            self._is_pure = self._is_pure and self.form.is_pure(node)
        return text


def _key(parts: Sequence[str]) -> str:
    return "\n".join(parts)
