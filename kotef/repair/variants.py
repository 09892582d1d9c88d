"""Variants of existing tests that could distinguish two edits."""

import ast
import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from kotef.repair.arguments import like, varied
from kotef.repair.source import FunctionNode, SwapUnit

SAW: Final = "__kotef_saw__"
"""What a variant calls with a label and a function, in place of an assertion; see `worker.trials`."""
_MOST: Final = 20
"""Variants of one test."""
_CHANGES: Final = (1, 1, 2, 3)
"""How many places one of them differs in: a single change seldom leads far from what the test asks already."""
_TOLD: Final = 50
"""Characters of a changed piece in a question."""
_UNFIT: Final = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
"""Expressions that mean something else inside a lambda."""
_RAISES: Final = frozenset({"assertRaises", "assertRaisesRegex", "assertWarns"})


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """One test with some literals or statements changed, its assertions turned into questions."""

    test: int
    unit: SwapUnit
    source: str
    """The function inside its classes."""
    description: str
    """What was changed before what is asked, which shows its own changes: "`3` in place of `6`"; may be empty."""

    def asked(self) -> dict[str, Any]:
        """The request for the worker."""
        unit = self.unit
        swap = {"path": unit.path, "source": self.source, "trail": list(unit.trail), "line": unit.first_line}
        return {"test": self.test, "unit": {**swap, "defaults": False}}


def variants(unit: SwapUnit, test: int, chance: random.Random) -> Iterator[Variant]:
    """At most twenty variants of one test function; none if it asserts nothing that could be asked instead."""
    base = copy.deepcopy(unit.node)
    base.decorator_list = []
    base.body = base.body[1:] if ast.get_docstring(base) is not None and len(base.body) > 1 else base.body
    numbers = {id(node): number for number, node in enumerate(ast.walk(base))}
    places = [numbers[id(node)] for node in _places(base)]
    seen: set[str] = set()
    for _ in range(3 * _MOST if places else 0):
        changed = copy.deepcopy(base)
        nodes = list(ast.walk(changed))
        chosen = chance.sample(places, min(len(places), chance.choice(_CHANGES)))
        part_ids = {
            id(part) for node in nodes if isinstance(node, ast.stmt) and _sides(node) for part in ast.walk(node)
        }
        made = [(_change(changed, nodes[number], chance), id(nodes[number]) in part_ids) for number in chosen]
        asking = _Asking()
        asking.visit(changed)
        source = _source(unit, changed)
        if all(how for how, _ in made) and asking.asked and source not in seen:
            seen.add(source)
            yield Variant(test, unit, source, " and ".join(how for how, in_question in made if not in_question))
        if len(seen) >= _MOST:
            return


class _Asking(ast.NodeTransformer):
    """Turns assertions into questions: the compared value is named, not the other side."""

    def __init__(self) -> None:
        self.asked = 0

    def visit_Assert(self, node: ast.Assert) -> ast.AST | list[ast.stmt]:
        """`assert f(x) == 3` asks for `f(x)`."""
        return self._question(node, _sides(node))

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        """`self.assertEqual(f(x), 3)` asks for `f(x)`, and `self.assertRaises(E, f, x)` for `f(x)` too."""
        return self._question(node, _sides(node))

    def _question(self, node: ast.stmt, sides: list[ast.expr]) -> ast.AST | list[ast.stmt]:
        telling = [side for side in sides if not _is_literal(side)]
        if not telling or any(isinstance(part, _UNFIT) for side in telling for part in ast.walk(side)):
            return node
        self.asked += 1
        texts = [ast.unparse(side) for side in telling]
        return ast.parse("\n".join(f"{SAW}({text!r}, lambda: ({text}))" for text in texts)).body


def _sides(node: ast.stmt) -> list[ast.expr]:
    """What an assertion compares; nothing for any other statement."""
    match node:
        case ast.Assert(test=ast.Compare(left=left, comparators=[right])):
            return [left, right]
        case ast.Assert(test=whole):
            return [whole]
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[_, function, *given], keywords=named)) if (
            name in _RAISES
        ):
            return [ast.Call(function, given, named)]
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[*given])) if name.startswith("assert"):
            return given[:2]
        case _:
            return []


def _places(function: FunctionNode) -> Iterator[ast.AST]:
    """The widest literals that are not what an assertion expects, and statements that call something."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        sides = _sides(node) if isinstance(node, ast.stmt) else []
        if _is_literal(node):
            yield node
        elif sides:
            waiting += [part for side in sides if not _is_literal(side) for part in ast.iter_child_nodes(side)]
        else:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                yield node
            waiting += [
                part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.withitem | ast.JoinedStr)
            ]


def _is_literal(node: ast.AST) -> bool:
    try:
        value = ast.literal_eval(node) if isinstance(node, ast.expr) else None
    except (ValueError, TypeError, SyntaxError):
        return False
    return value is not None


def _change(function: FunctionNode, node: ast.AST, chance: random.Random) -> str:
    """Change one place of the function; says how, and nothing if nothing came of it."""
    if isinstance(node, ast.expr):
        old = ast.literal_eval(node)
        new = like([old], varied(old, chance))
        if isinstance(old, int | float) and not isinstance(old, bool) and new < 0 <= old:
            new = abs(new)
        if new == old:
            return ""
        _replace(function, node, [ast.parse(repr(new), mode="eval").body])
        return f"`{_short(repr(new))}` in place of `{_short(ast.unparse(node))}`"
    assert isinstance(node, ast.stmt), "places are literals and statements"
    again = chance.random() < 0.5
    _replace(function, node, [node, copy.deepcopy(node)] if again else [ast.Pass()])
    return f"`{_short(ast.unparse(node))}` {'twice' if again else 'left out'}"


def _replace(tree: ast.AST, old: ast.AST, new: list[Any]) -> None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new[0])
                return
            if isinstance(value, list) and any(item is old for item in value):
                at = next(place for place, item in enumerate(value) if item is old)
                value[at : at + 1] = new
                return


def _source(unit: SwapUnit, function: FunctionNode) -> str:
    body: ast.stmt = function
    for outer in reversed(unit.outer):
        body = ast.ClassDef(name=outer.name, bases=[], keywords=[], body=[body], decorator_list=[])
    return ast.unparse(ast.fix_missing_locations(ast.Module([body], [])))


def _short(text: str) -> str:
    return text if len(text) <= _TOLD else f"{text[: _TOLD - 1]}…"
