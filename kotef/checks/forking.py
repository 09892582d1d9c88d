"""Which statements of a function run in a child process only?"""

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Final

FORKS: Final = frozenset({"os.fork", "os.forkpty", "pty.fork"})

NameOf = Callable[[ast.AST], str]


def in_the_child(function: ast.FunctionDef | ast.AsyncFunctionDef, name_of: NameOf) -> frozenset[int]:
    """The `id`s of the statements that only the child of a fork in this function comes to.

    Read are `if`s that ask for the answer of the fork, by a name or at once (`pid == 0`, `not pid`, `pid`, `pid > 0`,
    `pid != 0`), and what follows one whose parent's branch leaves the function.
    """
    pids = {name for node in ast.walk(function) for name in _names_of_forks(node, name_of)}
    return frozenset(id(statement) for statement in _children(function.body, pids, name_of))


def _names_of_forks(node: ast.AST, name_of: NameOf) -> Iterator[str]:
    match node:
        case ast.Assign(targets=[target], value=ast.Call(func=function)) if name_of(function) in FORKS:
            names = target.elts[:1] if isinstance(target, ast.Tuple) else [target]
            yield from (name.id for name in names if isinstance(name, ast.Name))
        case ast.NamedExpr(target=target, value=ast.Call(func=function)) if name_of(function) in FORKS:
            yield target.id
        case _:
            pass


def _children(body: Sequence[ast.stmt], pids: set[str], name_of: NameOf) -> Iterator[ast.stmt]:
    for at, statement in enumerate(body):
        if isinstance(statement, ast.If) and (asks := _asks(statement.test, pids, name_of)):
            child, parent = (
                (statement.body, statement.orelse) if asks == "child" else (statement.orelse, statement.body)
            )
            yield from child
            if asks == "parent" and isinstance(parent[-1], ast.Return | ast.Raise):
                yield from body[at + 1 :]
                return
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, [])
            if inner and not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from _children(inner, pids, name_of)
        for handler in getattr(statement, "handlers", []):
            yield from _children(handler.body, pids, name_of)


def _asks(test: ast.expr, pids: set[str], name_of: NameOf) -> str:
    """`child` where the test is true in the child alone, `parent` where it is true in the parent alone, else empty."""

    def is_pid(node: ast.expr) -> bool:
        if isinstance(node, ast.NamedExpr):
            node = node.value
        return (isinstance(node, ast.Name) and node.id in pids) or (
            isinstance(node, ast.Call) and name_of(node.func) in FORKS
        )

    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand) if is_pid(operand):
            return "child"
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]) if _is_zero(left, right, is_pid):
            return "child"
        case ast.Compare(left=left, ops=[ast.NotEq() | ast.Gt()], comparators=[right]) if _is_zero(left, right, is_pid):
            return "parent"
        case _:
            return "parent" if is_pid(test) else ""


def _is_zero(left: ast.expr, right: ast.expr, is_pid: Callable[[ast.expr], bool]) -> bool:
    zero, pid = (left, right) if isinstance(left, ast.Constant) else (right, left)
    return isinstance(zero, ast.Constant) and zero.value == 0 and is_pid(pid)
